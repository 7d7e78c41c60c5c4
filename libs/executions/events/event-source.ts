import type { EventRecord } from './event-record.js';
import type { ExecutionLog } from './execution-log.js';
import type { LogReader } from './log-reader.js';
import { WakeUp } from './wake-up.js';

/** Where one watcher reads: memory of the owner, the shared reader of another instance, or the logs of an ended run. */
export interface EventSource {
  /** Signalled when there may be more to read, or `ended` changed. */
  readonly changed: WakeUp;
  /** Nothing will come behind what `read` gives now. */
  readonly ended: boolean;
  /** Said to the watcher when the stream ends without a terminal event. */
  readonly remark: string | undefined;
  /**
   * The events right after `after`, without a gap; empty when there are none yet. At once when memory has them, so that
   * thousands of watchers of one event cost no promise each.
   */
  read(after: number, limit: number): EventRecord[] | Promise<EventRecord[]>;
  /** The event that ended the run, whatever its number. */
  terminal(): Promise<EventRecord | undefined>;
  close(): void;
}

/** An execution this instance owns. */
export class LocalSource implements EventSource {
  constructor(
    private readonly log: ExecutionLog,
    private readonly reader: LogReader,
    private readonly onClose: () => void,
  ) {}

  get changed(): WakeUp {
    return this.log.changed;
  }

  get ended(): boolean {
    return this.log.sealed;
  }

  get remark(): string | undefined {
    return this.log.remark;
  }

  read(after: number, limit: number): EventRecord[] | Promise<EventRecord[]> {
    if (this.log.covers(after)) return this.log.after(after, limit);
    return this.reader.range(this.log.executionId, after, limit);
  }

  terminal(): Promise<EventRecord | undefined> {
    return this.reader.terminal(this.log.executionId);
  }

  close(): void {
    this.onClose();
  }
}

/** An execution that has ended: its logs do not change any more. */
export class StoredSource implements EventSource {
  readonly changed = new WakeUp();
  readonly ended = true;
  readonly remark = undefined;

  constructor(
    private readonly executionId: string,
    private readonly reader: LogReader,
  ) {}

  read(after: number, limit: number): Promise<EventRecord[]> {
    return this.reader.range(this.executionId, after, limit);
  }

  terminal(): Promise<EventRecord | undefined> {
    return this.reader.terminal(this.executionId);
  }

  close(): void {
    this.changed.signal();
  }
}

/** One event and no more: what is left to tell of a run when both logs are gone. */
export class SingleSource implements EventSource {
  readonly changed = new WakeUp();
  readonly ended = true;
  readonly remark = undefined;

  constructor(private readonly event: EventRecord) {}

  read(after: number): EventRecord[] {
    return after < this.event.eventId ? [this.event] : [];
  }

  terminal(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): void {
    this.changed.signal();
  }
}
