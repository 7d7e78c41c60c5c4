import { setTimeout as delay } from 'node:timers/promises';
import type { Duplex } from 'node:stream';
import type pg from 'pg';

/** A cancellation may come between two statements, where it ends none; so long the first has time to show, each next twice. */
const CANCEL_AGAIN_MS = 20;
/** What has not answered by then is not waited for: behind a proxy, or where the server's farewell was lost, nothing comes. */
const CANCEL_FOR_MS = 2000;

/** What pg's types leave out of its client. */
interface Backend {
  processID: number;
  connection: { stream: Duplex };
}

/** Ends, on the server, statements that nobody waits for any more. */
export class Cancellation {
  /** @param cancelBackend whether the server knows this process, and has passed the cancellation on to it */
  constructor(
    private readonly cancelBackend: (pid: number) => Promise<boolean>,
    private readonly onProblem: (what: string, error: unknown) => void,
  ) {}

  /**
   * Runs statements of one connection for as long as the signal has not aborted. A cancelled one's connection stays lent
   * until the cancellation has been answered: it must not meet another's statement. Where no answer comes, the connection
   * is destroyed, and its statements fail as those of a lost one.
   *
   * @throws the signal's reason where they were cancelled
   */
  async while<T>(client: pg.PoolClient, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    let cancelling: Promise<void> | undefined;
    const settled = new AbortController();
    const cancel = (): void => {
      cancelling = this.#cancel(client, settled.signal);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await run();
    } catch (error) {
      throw cancelling === undefined ? error : (signal.reason as Error);
    } finally {
      settled.abort();
      signal.removeEventListener('abort', cancel);
      await cancelling;
    }
  }

  /** What the connection runs, and what stands behind it. */
  async #cancel(client: pg.PoolClient, settled: AbortSignal): Promise<void> {
    const { processID, connection } = client as unknown as Backend;
    try {
      await this.#untilSettled(processID, settled);
    } catch (error) {
      this.onProblem('A statement nobody waits for could not be cancelled.', error);
    }
    if (!settled.aborted) connection.stream.destroy();
  }

  async #untilSettled(processID: number, settled: AbortSignal): Promise<void> {
    const until = performance.now() + CANCEL_FOR_MS;
    for (let pause = CANCEL_AGAIN_MS; !settled.aborted && performance.now() < until; pause *= 2) {
      if (!(await this.cancelBackend(processID))) return;
      await delay(pause, undefined, { signal: settled }).catch(() => undefined);
    }
  }
}
