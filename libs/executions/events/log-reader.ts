import { TransientUnavailable, type LoggedEvent, type TransientStore } from '#libs/transient';
import type { EventTable } from '../records/event-table.js';
import { continuing, isLastEvent, type EventRecord, type EventType } from './event-record.js';

/** Reads events from whichever shared log has them: the transient one is fast, the table is the truth. */
export class LogReader {
  constructor(
    private readonly store: TransientStore,
    private readonly table: EventTable,
  ) {}

  /** The events right after `after`, without a gap. Looks into the table when the transient log has none, or a hole. */
  async range(executionId: string, after: number, limit: number): Promise<EventRecord[]> {
    const recent = await this.recent(executionId, after, limit);
    if (recent && recent.length > 0) return recent;
    return continuing(await this.table.read(executionId, after, limit), after);
  }

  /** The event that ended the run, from the table: the transaction that ended the row wrote it. */
  async terminal(executionId: string): Promise<EventRecord | undefined> {
    const last = await this.table.last(executionId);
    return last && (isLastEvent(last) || last.type === 'pipeline_completed') ? last : undefined;
  }

  /**
   * What is new in the transient log. Empty: nothing is. Undefined: it cannot tell, because it does not answer or has
   * lost what comes next.
   */
  async recent(executionId: string, after: number, limit: number): Promise<EventRecord[] | undefined> {
    let logged: LoggedEvent[];
    try {
      logged = await this.store.readEvents(executionId, after, limit);
    } catch (error) {
      if (error instanceof TransientUnavailable) return undefined;
      throw error;
    }
    const events = continuing(logged.map(recordOf), after);
    return events.length === 0 && logged.length > 0 ? undefined : events;
  }
}

function recordOf({ eventId, type, timestamp, payload }: LoggedEvent): EventRecord {
  return { eventId, type: type as EventType, timestamp, data: payload };
}
