import { PenstockError } from '#libs/kernel';

/** The time one operation has. What is still open when it is over fails with `graphql.timeout`. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** How each open field is given up. A race with one long promise would cost several promises a field. */
  readonly #open = new Set<(reason: PenstockError) => void>();
  #over: PenstockError | undefined;

  constructor(seconds: number) {
    this.#timer = setTimeout(() => this.#giveUp(seconds), seconds * 1000);
    this.#timer.unref();
  }

  /** For work that can be stopped: what asks a foreign database. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The outcome of the work, or the timeout, whichever comes first. */
  within<T>(work: Promise<T>): Promise<T> {
    if (this.#over) return Promise.race([work, Promise.reject(this.#over)]);
    return new Promise<T>((resolve, reject) => {
      this.#open.add(reject);
      const close = (): boolean => this.#open.delete(reject);
      work.then(
        (value) => {
          close();
          resolve(value);
        },
        (error: unknown) => {
          close();
          reject(error as Error);
        },
      );
    });
  }

  /** The operation has its answer. */
  met(): void {
    clearTimeout(this.#timer);
  }

  #giveUp(seconds: number): void {
    const timeout = new PenstockError('graphql.timeout', {
      message: `The operation took more than ${seconds} s; its open fields were given up.`,
      details: { timeout_seconds: seconds },
    });
    this.#over = timeout;
    for (const reject of this.#open) reject(timeout);
    this.#open.clear();
    this.#abort.abort(timeout);
  }
}
