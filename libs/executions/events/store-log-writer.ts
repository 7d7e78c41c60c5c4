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

/** About what one command may carry: nobody else's waits long behind it. */
const BATCH_BYTES = 256 * 1024;

interface Pending {
  /** Since when the store has not answered. */
  failingSince?: number;
  writing?: Promise<void>;
}

/** Logs that are written by one command, with what each had to tell when it was begun. */
type Batch = { log: ExecutionLog; pending: Pending; events: readonly EventRecord[]; sealed: boolean }[];

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

  /** What waits of all logs goes out together, but for logs that are being written already. */
  async #flushAll(): Promise<void> {
    for (const batch of this.#batches()) {
      const writing = this.#write(batch).finally(() => {
        for (const { pending } of batch) pending.writing = undefined;
      });
      for (const { pending } of batch) pending.writing = writing;
    }
    await Promise.all([...this.#pending.values()].flatMap(({ writing }) => writing ?? []));
  }

  #batches(): Batch[] {
    const batches: Batch[] = [];
    let room = 0;
    for (const [log, pending] of this.#pending) {
      if (pending.writing) continue;
      const events = log.unsavedInStore();
      if (room <= 0) {
        batches.push([]);
        room = BATCH_BYTES;
      }
      batches.at(-1)!.push({ log, pending, events, sealed: log.sealed });
      room -= bytesOf(events);
    }
    return batches;
  }

  async #write(batch: Batch): Promise<void> {
    const { ttlSeconds } = this;
    const told = batch.filter(({ events, sealed }) => events.length > 0 || sealed);
    let failure: { error: unknown } | undefined;
    try {
      if (told.length > 0) {
        await this.store.appendEvents(
          told.map(({ log: { executionId }, events, sealed }) => ({
            ...{ executionId, ttlSeconds, sealed },
            events: events.map(logged),
          })),
        );
      }
    } catch (error) {
      failure = { error };
    }
    for (const entry of batch) this.#written(entry, failure);
  }

  #written({ log, pending, events, sealed }: Batch[number], failure: { error: unknown } | undefined): void {
    const last = events.at(-1)?.eventId;
    if (!failure) {
      pending.failingSince = undefined;
      if (last !== undefined) log.confirmStore(last);
    } else {
      if (!this.#giveUp(pending, events)) return this.#schedule(RETRY_MS);
      log.confirmStore(last ?? 0);
      this.onProblem(failure.error, events.length);
    }
    if (log.unsavedInStore().length > 0) this.#schedule(FLUSH_MS);
    else if (sealed || !log.sealed) this.#pending.delete(log);
    else this.#schedule(FLUSH_MS);
  }

  #giveUp(pending: Pending, events: readonly EventRecord[]): boolean {
    pending.failingSince ??= performance.now();
    return performance.now() - pending.failingSince > GIVE_UP_MS || bytesOf(events) > GIVE_UP_BYTES;
  }
}

function bytesOf(events: readonly EventRecord[]): number {
  return events.reduce((sum, { data }) => sum + data.length, 0);
}

function logged({ eventId, type, timestamp, data }: EventRecord): LoggedEvent {
  return { eventId, type, timestamp, payload: data };
}
