import type { EventTable } from '../records/event-table.js';
import type { EventRecord } from './event-record.js';
import type { ExecutionLog } from './execution-log.js';

/** One statement at the latest after this time, or when so much has gathered (contract 02 §10.2). */
const INTERVAL_MS = 250;
const BATCH_ROWS = 200;
const BATCH_BYTES = 256 * 1024;
const RETRY_MS = 1000;

/**
 * Writes the events of all runs of this instance into the table, one batch at a time. What it has not written when a
 * run ends goes into that run's terminal transaction, so nothing but a crash can lose an event.
 */
export class TableLogWriter {
  readonly #dirty = new Set<ExecutionLog>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** Events seen since the last write: an estimate that only decides when to write. */
  #fresh = 0;

  constructor(
    private readonly table: EventTable,
    private readonly onProblem: (error: unknown) => void,
    private readonly onLag: (seconds: number) => void = () => undefined,
  ) {}

  /** Events of all runs that are not in the table yet. */
  get waiting(): number {
    let waiting = 0;
    for (const log of this.#dirty) waiting += log.unsavedCount;
    return waiting;
  }

  dirty(log: ExecutionLog): void {
    this.#dirty.add(log);
    if (++this.#fresh >= BATCH_ROWS) void this.#write();
    else this.#schedule(INTERVAL_MS);
  }

  forget(log: ExecutionLog): void {
    this.#dirty.delete(log);
  }

  async flush(): Promise<void> {
    await this.#writing;
    if (this.#dirty.size > 0) await this.#write();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#writing) return;
    this.#timer = setTimeout(() => void this.#write(), ms);
    this.#timer.unref();
  }

  /** One batch at a time. Never rejects. */
  #write(): Promise<void> {
    if (this.#writing) return this.#writing;
    this.stop();
    let retry = false;
    this.#writing = this.#writeBatch()
      .catch((error: unknown) => {
        retry = true;
        this.onProblem(error);
      })
      .finally(() => {
        this.#writing = undefined;
        if (this.#dirty.size > 0) this.#schedule(retry ? RETRY_MS : INTERVAL_MS);
      });
    return this.#writing;
  }

  async #writeBatch(): Promise<void> {
    const batch: [string, EventRecord][] = [];
    const upTo = new Map<ExecutionLog, number>();
    let bytes = 0;
    for (const log of this.#dirty) {
      for (const event of log.unsavedInTable()) {
        if (batch.length >= BATCH_ROWS || bytes >= BATCH_BYTES) break;
        batch.push([log.executionId, event]);
        bytes += event.data.length;
        upTo.set(log, event.eventId);
      }
    }
    this.#fresh = 0;
    if (batch.length > 0) {
      await this.table.insert(batch);
      this.onLag((Date.now() - Date.parse(batch[0]![1].timestamp)) / 1000);
    }
    for (const [log, eventId] of upTo) log.confirmTable(eventId);
    for (const log of this.#dirty) if (log.unsavedInTable().length === 0) this.#dirty.delete(log);
  }
}
