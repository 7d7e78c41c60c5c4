import { Injectable } from '@nestjs/common';
import { boundArray, boundArrays, Database, type Queryable } from '#libs/persistence';
import type { EventRecord, EventType } from '../events/event-record.js';
import { storedPayloadText } from '../events/payload-text.js';

interface EventRow {
  event_id: number;
  event_type: EventType;
  timestamp: string;
  payload: string;
}

/** The durable event log, `execution_events` (seed §4.7): the truth; the transient log only makes it fast. */
@Injectable()
export class EventTable {
  constructor(private readonly database: Database) {}

  /**
   * Adds events of runs that are still RUNNING. Their rows are locked FOR SHARE in id order: without the lock a batch
   * that overlaps a sweep would land behind the terminal event the sweep wrote (contract 02 §10.2).
   */
  async insert(batch: readonly (readonly [executionId: string, event: EventRecord])[]): Promise<void> {
    await this.database.execute(
      `WITH live AS (
         SELECT execution_id FROM pipeline_executions
          WHERE execution_id = ANY(${boundArray(1, 'uuid')}) AND status = 'RUNNING' ORDER BY execution_id FOR SHARE
       )
       INSERT INTO execution_events (execution_id, event_id, event_type, timestamp, payload_json)
       SELECT v.execution_id, v.event_id, v.event_type, v.emitted_at, v.payload::jsonb
         FROM unnest(${boundArrays(1, ['uuid', 'int', 'text', 'timestamptz', 'text'])})
           AS v(execution_id, event_id, event_type, emitted_at, payload)
         JOIN live USING (execution_id)
       ON CONFLICT DO NOTHING`,
      [
        batch.map(([executionId]) => executionId),
        batch.map(([, event]) => event.eventId),
        batch.map(([, event]) => event.type),
        batch.map(([, event]) => event.timestamp),
        batch.map(([, event]) => event.data),
      ],
    );
  }

  /** Adds events inside the transaction that has ended their run. */
  async append(tx: Queryable, executionId: string, events: readonly EventRecord[]): Promise<void> {
    await tx.execute(
      `INSERT INTO execution_events (execution_id, event_id, event_type, timestamp, payload_json)
       SELECT $1::uuid, v.event_id, v.event_type, v.emitted_at, v.payload::jsonb
         FROM unnest($2::int[], $3::text[], $4::timestamptz[], $5::text[]) AS v(event_id, event_type, emitted_at, payload)
       ON CONFLICT DO NOTHING`,
      [
        executionId,
        events.map((event) => event.eventId),
        events.map((event) => event.type),
        events.map((event) => event.timestamp),
        events.map((event) => event.data),
      ],
    );
  }

  /** Events after `after`, in order. */
  async read(executionId: string, after: number, limit: number, q: Queryable = this.database): Promise<EventRecord[]> {
    const rows = await q.query<EventRow>(
      `SELECT event_id, event_type, timestamp, payload_json AS payload FROM execution_events
        WHERE execution_id = $1 AND event_id > $2 ORDER BY event_id LIMIT $3`,
      [executionId, after, limit],
    );
    return rows.map(recordOf);
  }

  /** As `read`, of many at once. */
  async readMany(ids: readonly string[], after: number, limit: number): Promise<Map<string, EventRecord[]>> {
    const rows = await this.database.query<EventRow & { id: string }>(
      `SELECT x.id, e.* FROM unnest($1::uuid[]) AS x(id)
        CROSS JOIN LATERAL (
          SELECT event_id, event_type, timestamp, payload_json AS payload FROM execution_events
           WHERE execution_id = x.id AND event_id > $2 ORDER BY event_id LIMIT $3
        ) e ORDER BY x.id, e.event_id`,
      [ids, after, limit],
    );
    const found = Map.groupBy(rows, ({ id }) => id);
    return new Map([...found].map(([id, events]) => [id, events.map(recordOf)]));
  }

  async last(executionId: string): Promise<EventRecord | undefined> {
    const [row] = await this.database.query<EventRow>(
      `SELECT event_id, event_type, timestamp, payload_json AS payload FROM execution_events
        WHERE execution_id = $1 ORDER BY event_id DESC LIMIT 1`,
      [executionId],
    );
    return row && recordOf(row);
  }
}

function recordOf({ event_id, event_type, timestamp, payload }: EventRow): EventRecord {
  return {
    eventId: event_id,
    type: event_type,
    timestamp: millisecondsOf(timestamp),
    data: storedPayloadText(payload),
  };
}

/** `…SS.mmm000Z` to `…SS.mmmZ`: events are stamped in milliseconds. */
function millisecondsOf(stamp: string): string {
  return `${stamp.slice(0, 23)}Z`;
}
