import { PenstockError } from '#libs/kernel';

/** The time one operation has. What is still open when it is over fails with `graphql.timeout`. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly #over: Promise<never>;
  readonly #timer: NodeJS.Timeout;

  constructor(seconds: number) {
    let fail: (reason: PenstockError) => void = () => undefined;
    this.#over = new Promise<never>((_resolve, reject) => (fail = reject));
    // Nobody may be waiting when it comes.
    this.#over.catch(() => undefined);
    this.#timer = setTimeout(() => {
      const timeout = new PenstockError('graphql.timeout', {
        message: `The operation took more than ${seconds} s; its open fields were given up.`,
        details: { timeout_seconds: seconds },
      });
      fail(timeout);
      this.#abort.abort(timeout);
    }, seconds * 1000);
    this.#timer.unref();
  }

  /** For work that can be stopped: what asks a foreign database. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The outcome of the work, or the timeout, whichever comes first. */
  within<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#over]);
  }

  /** The operation has its answer. */
  met(): void {
    clearTimeout(this.#timer);
  }
}
