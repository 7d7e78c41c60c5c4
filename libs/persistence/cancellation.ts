import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** A cancellation may come between two statements, where it ends none; so long it has time to show. */
const CANCEL_AGAIN_MS = 20;

/** Ends, on the server, statements that nobody waits for any more. */
export class Cancellation {
  constructor(
    private readonly cancelBackend: (pid: number) => Promise<unknown>,
    private readonly onProblem: (what: string, error: unknown) => void,
  ) {}

  /**
   * Runs statements of one connection for as long as the signal has not aborted. A cancelled one's connection stays lent
   * until the cancellation has been answered: it must not meet another's statement.
   *
   * @throws the signal's reason where they were cancelled
   */
  async while<T>(client: pg.PoolClient, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    let cancelling: Promise<void> | undefined;
    let open = true;
    const cancel = (): void => {
      cancelling = this.#cancel(client, () => open);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await run();
    } catch (error) {
      throw cancelling === undefined ? error : (signal.reason as Error);
    } finally {
      open = false;
      signal.removeEventListener('abort', cancel);
      await cancelling;
    }
  }

  /** What the connection runs, and what stands behind it. */
  async #cancel(client: pg.PoolClient, open: () => boolean): Promise<void> {
    const { processID } = client as unknown as { processID: number };
    try {
      while (open()) {
        await this.cancelBackend(processID);
        if (open()) await delay(CANCEL_AGAIN_MS);
      }
    } catch (error) {
      this.onProblem('A statement nobody waits for could not be cancelled.', error);
    }
  }
}
