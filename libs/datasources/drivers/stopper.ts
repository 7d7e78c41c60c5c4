import { cancelled, DriverFailure } from './driver-failure.js';

/** The line to a server as a stopper sees it. */
export interface Line {
  readonly isLost: boolean;
  destroy(): void;
}

/** Ends a statement in its server; resolves when the statement has settled, or when nothing more can be done. */
export interface StatementCanceller {
  stop(statement: Promise<unknown>): Promise<void>;
}

export interface StopperOptions {
  /** What a killed statement answers may look like a good end: an aborted wait then never gives its result. */
  distrustsResults?: boolean;
  /** An error leaves the session in an unknown state: it is not used again. */
  brokenByErrors?: boolean;
}

/**
 * Waits for statements of one connection. On abort the statement is cancelled in the server first, then the wait ends
 * and the connection is destroyed, because a late cancel must not hit the next statement (02 §5.2).
 */
export class Stopper {
  readonly #line: Line;
  readonly #canceller: StatementCanceller;
  readonly #options: StopperOptions;
  #spent = false;

  constructor(line: Line, canceller: StatementCanceller, options: StopperOptions = {}) {
    this.#line = line;
    this.#canceller = canceller;
    this.#options = options;
  }

  get usable(): boolean {
    return !this.#spent && !this.#line.isLost;
  }

  /** @param onStop called before the cancel is sent */
  async stoppable<T>(work: Promise<T>, signal: AbortSignal, onStop?: () => void): Promise<T> {
    const result = await this.completion(work, signal, onStop);
    if (signal.aborted && this.#options.distrustsResults) throw cancelled(signal);
    return result;
  }

  /** As {@link stoppable} for a COMMIT: what the server answered stands, however late the abort came, and so does a lost answer. */
  async completion<T>(work: Promise<T>, signal: AbortSignal, onStop?: () => void): Promise<T> {
    const stopping: Promise<void>[] = [];
    const onAbort = (): void => {
      onStop?.();
      stopping.push(this.abandon(work));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await work;
    } catch (error) {
      if (this.#options.brokenByErrors) this.#spent = true;
      const isUnknown = error instanceof DriverFailure && error.commitUnknown;
      if (signal.aborted && !isUnknown) throw cancelled(signal);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      await Promise.all(stopping);
    }
  }

  /** Stops what the connection is doing and cuts it: also for a cursor that is closed before its end. */
  async abandon(work: Promise<unknown>): Promise<void> {
    if (this.#line.isLost) return;
    this.#spent = true;
    await this.#canceller.stop(work);
    this.#line.destroy();
  }
}
