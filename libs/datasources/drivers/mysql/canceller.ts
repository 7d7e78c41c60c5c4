import { setTimeout as delay } from 'node:timers/promises';

import type { MysqlSession } from './session.js';

const RESEND_EVERY_MS = 250;
const RESEND_FOR_MS = 2000;

/**
 * Stops the statement a connection is running: KILL QUERY from a connection of its own, sent again every 250 ms for 2 s
 * until the statement has answered (02 §5.2).
 */
export class Canceller {
  readonly #logIn: (signal: AbortSignal) => Promise<MysqlSession>;
  readonly #threadId: number;

  constructor(logIn: (signal: AbortSignal) => Promise<MysqlSession>, threadId: number) {
    this.#logIn = logIn;
    this.#threadId = threadId;
  }

  /** Resolves when `statement` has settled, or after 2 s without an answer. Never rejects. */
  async stop(statement: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    const settled = statement.then(
      () => over.abort(),
      () => over.abort(),
    );
    const patience = AbortSignal.any([over.signal, AbortSignal.timeout(RESEND_FOR_MS)]);
    const killing = this.#kill(patience);
    await Promise.race([settled, ended(patience)]);
    over.abort();
    await killing;
  }

  async #kill(signal: AbortSignal): Promise<void> {
    let spare: MysqlSession | undefined;
    try {
      spare = await this.#logIn(signal);
      while (!signal.aborted) {
        await spare.query(`KILL QUERY ${this.#threadId}`);
        await delay(RESEND_EVERY_MS, undefined, { signal });
      }
    } catch {
      // Settled meanwhile, or not to be reached: the connection itself is destroyed in either case.
    } finally {
      spare?.destroy();
    }
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
