import { continuing, type EventRecord, type EventType } from './event-record.js';
import { WakeUp } from './wake-up.js';

/** Memory one execution's events may hold here once they are in the table (contract 02 §8). */
const TAIL_BYTES = 4 * 1024 * 1024;

/**
 * The events of one execution on the instance that owns it: numbers them, keeps those the table does not hold yet, and a
 * tail for watchers. Everything else reads from here; nothing here waits for a reader.
 */
export class ExecutionLog {
  readonly changed = new WakeUp();
  readonly #records: EventRecord[] = [];
  #bytes = 0;
  #lastId = 0;
  #tableHas = 0;
  #storeHas = 0;
  #sealed = false;
  #remark: string | undefined;
  #disowned = false;

  constructor(readonly executionId: string) {}

  get lastId(): number {
    return this.#lastId;
  }

  /** No further event will come, and the last ones are committed. */
  get sealed(): boolean {
    return this.#sealed;
  }

  /** Said to watchers when the log ends without a terminal event. */
  get remark(): string | undefined {
    return this.#remark;
  }

  append(type: EventType, timestamp: string, data: string): EventRecord {
    const record: EventRecord = { eventId: ++this.#lastId, type, timestamp, data };
    this.#push(record);
    this.changed.signal();
    return record;
  }

  /**
   * Terminal events, numbered but not shown to anybody: only after the commit of the terminal transaction may a log or
   * stream have them (contract 02 §3).
   */
  prepare(events: readonly { type: EventType; timestamp: string; data: string }[]): EventRecord[] {
    return events.map((event, index) => ({ eventId: this.#lastId + 1 + index, ...event }));
  }

  /** Shows what was prepared, once it is committed, and ends the log. */
  seal(prepared: readonly EventRecord[]): void {
    for (const record of prepared) this.#push(record);
    this.#lastId = prepared.at(-1)?.eventId ?? this.#lastId;
    this.#sealed = true;
    this.confirmTable(this.#lastId);
    this.changed.signal();
  }

  /** Ends the log without an outcome that could be written; `remark` is said to watchers. */
  abandon(remark: string): void {
    this.#sealed = true;
    this.#remark = remark;
    this.changed.signal();
  }

  /** Ends the log of a run that somebody else has ended: from here on only the shared logs tell what happened. */
  disown(): void {
    this.#sealed = true;
    this.#records.length = 0;
    this.#disowned = true;
    this.changed.signal();
  }

  get unsavedCount(): number {
    return this.#lastId - this.#tableHas;
  }

  unsavedInTable(): readonly EventRecord[] {
    return this.after(this.#tableHas);
  }

  unsavedInStore(): readonly EventRecord[] {
    return this.after(this.#storeHas);
  }

  /** All events up to this one are in the table. */
  confirmTable(eventId: number): void {
    this.#tableHas = Math.max(this.#tableHas, eventId);
    while (this.#bytes > TAIL_BYTES && this.#records[0] && this.#records[0].eventId <= this.#tableHas) {
      const gone = this.#records.shift()!;
      this.#bytes -= gone.data.length;
      // What the store has not got by now it never will: what follows must not wait for it.
      this.#storeHas = Math.max(this.#storeHas, gone.eventId);
    }
  }

  /** All events up to this one are in the transient store, or will never be: readers then use the table. */
  confirmStore(eventId: number): void {
    this.#storeHas = Math.max(this.#storeHas, eventId);
  }

  /** What follows without a gap, as far as it is still in memory. */
  after(eventId: number, limit = Infinity): EventRecord[] {
    const first = this.#records[0]?.eventId;
    if (first === undefined || eventId + 1 < first) return [];
    return this.#records.slice(eventId + 1 - first, eventId + 1 - first + limit);
  }

  /** Whether `after` would begin with the very next event. */
  covers(eventId: number): boolean {
    if (this.#disowned) return false;
    return eventId >= this.#lastId || continuing(this.after(eventId, 1), eventId).length > 0;
  }

  #push(record: EventRecord): void {
    this.#records.push(record);
    this.#bytes += record.data.length;
  }
}
