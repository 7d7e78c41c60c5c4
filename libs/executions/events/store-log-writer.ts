import type { LoggedEvent, TransientStore } from '#libs/transient';
import type { EventRecord } from './event-record.js';
import type { ExecutionLog } from './execution-log.js';

/**
 * Watchers on other instances wait for this log (contract 02 §10.2): little, but long enough that the events of a short
 * node travel together.
 */
const FLUSH_MS = 20;
const RETRY_MS = 500;
/** After this the gap is left to the table, which readers use then. */
const GIVE_UP_MS = 60_000;
const GIVE_UP_BYTES = 4 * 1024 * 1024;

interface Pending {
  /** Since when the store has not answered. */
  failingSince?: number;
  writing?: Promise<void>;
}

/**
 * Copies events into the transient log and nudges other instances. A failure never fails a run: it is tried again for
 * a minute, then left to the table.
 */
export class StoreLogWriter {
  readonly #pending = new Map<ExecutionLog, Pending>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: TransientStore,
    /** Lifetime of a running execution's log. */
    private readonly ttlSeconds: number,
    private readonly onProblem: (error: unknown, dropped: number) => void,
  ) {}

  dirty(log: ExecutionLog): void {
    if (!this.#pending.has(log)) this.#pending.set(log, {});
    this.#schedule(FLUSH_MS);
  }

  forget(log: ExecutionLog): void {
    this.#pending.delete(log);
  }

  /** One attempt for everything that waits. */
  async flush(): Promise<void> {
    await this.#flushAll();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(ms: number): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#flushAll();
    }, ms);
    this.#timer.unref();
  }

  async #flushAll(): Promise<void> {
    const flushes = [...this.#pending].map(([log, pending]) => {
      pending.writing ??= this.#flushOne(log, pending).finally(() => (pending.writing = undefined));
      return pending.writing;
    });
    await Promise.all(flushes);
  }

  async #flushOne(log: ExecutionLog, pending: Pending): Promise<void> {
    const events = log.unsavedInStore();
    const last = events.at(-1)?.eventId;
    const ends = log.sealed;
    try {
      if (last !== undefined || ends) {
        const expiry = { ttlSeconds: this.ttlSeconds, sealed: ends };
        await this.store.appendEvents(log.executionId, events.map(logged), expiry);
      }
      pending.failingSince = undefined;
      if (last !== undefined) log.confirmStore(last);
    } catch (error) {
      if (!this.#giveUp(pending, events)) return this.#schedule(RETRY_MS);
      log.confirmStore(last ?? 0);
      this.onProblem(error, events.length);
    }
    if (log.unsavedInStore().length > 0) this.#schedule(FLUSH_MS);
    else if (ends || !log.sealed) this.#pending.delete(log);
    else this.#schedule(FLUSH_MS);
  }

  #giveUp(pending: Pending, events: readonly EventRecord[]): boolean {
    pending.failingSince ??= performance.now();
    const bytes = events.reduce((sum, event) => sum + event.data.length, 0);
    return performance.now() - pending.failingSince > GIVE_UP_MS || bytes > GIVE_UP_BYTES;
  }
}

function logged({ eventId, type, timestamp, data }: EventRecord): LoggedEvent {
  return { eventId, type, timestamp, payload: data };
}
