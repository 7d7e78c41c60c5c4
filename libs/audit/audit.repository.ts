import { Injectable } from '@nestjs/common';
import { keysetItems, KeysetOrder, readJson, type JsonValue, type KeysetListing, type KeysetPage } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';
import { AUDIT_EVENTS } from './audit-events.js';

export interface AuditRow {
  /** Text, because the sequence may pass 2^53. */
  id: string;
  /** Database form, microseconds. */
  timestamp: string;
  event: string;
  userId: string | null;
  keyId: string | null;
  sourceIp: string | null;
  userAgent: string | null;
  details: JsonValue;
}

export interface AuditFilter {
  /** Absent: the whole instance. */
  workspaceId?: string;
  /** Start of the event's name, such as `auth.login.`; one that begins no name of the vocabulary finds nothing. */
  eventPrefix?: string;
  userId?: string;
  keyId?: string;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
}

/** The id orders what one transaction wrote at one moment. */
const NEWEST_FIRST = new KeysetOrder(
  { sql: 'timestamp', kind: 'timestamptz', descending: true },
  { sql: 'id', kind: 'bigint', descending: true },
);

/** A row's place in the list, for `after` and `before`. */
export function auditPlace({ timestamp, id }: Pick<AuditRow, 'timestamp' | 'id'>): string {
  return KeysetOrder.place(timestamp, id);
}

/** Reading, newest first, and retention. Appending is {@link AuditLog}'s; there is no way to change a row. */
@Injectable()
export class AuditRepository {
  /** One page. @throws `graphql.cursor_invalid` for an edge that is no place in the trail */
  async page(q: Queryable, filter: AuditFilter, page: KeysetPage): Promise<KeysetListing<AuditRow>> {
    const { where, values } = conditions(filter);
    where.push(NEWEST_FIRST.beyond(page, values));
    const rows = await q.query<Omit<AuditRow, 'details'> & { details: string }>(
      `SELECT id, timestamp, event, user_id AS "userId", key_id AS "keyId", host(source_ip) AS "sourceIp",
              user_agent AS "userAgent", details_json AS details
       FROM audit_log WHERE ${where.join(' AND ')} ${NEWEST_FIRST.tail(page, values)}`,
      values,
    );
    const { items, ...more } = keysetItems(rows, page);
    return { items: items.map((row) => ({ ...row, details: readJson(row.details) })), ...more };
  }

  async count(q: Queryable, filter: AuditFilter): Promise<number> {
    const { where, values } = conditions(filter);
    const [row] = await q.query<{ total: number }>(
      `SELECT count(*)::int AS total FROM audit_log ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}`,
      values,
    );
    return row?.total ?? 0;
  }

  /** One batch of rows past their retention; returns how many went (seed §8.2). */
  async deleteOlderThan(q: Queryable, retentionDays: number, batch: number): Promise<number> {
    return q.execute(
      `DELETE FROM audit_log WHERE id IN (
         SELECT id FROM audit_log WHERE timestamp < NOW() - make_interval(days => $1) ORDER BY timestamp LIMIT $2)`,
      [retentionDays, batch],
    );
  }
}

function conditions(filter: AuditFilter): { where: string[]; values: unknown[] } {
  const where: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown, condition: (placeholder: string) => string) => {
    if (value === undefined) return;
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  add(filter.workspaceId, (value) => `details_json->>'workspace_id' = ${value}`);
  add(namesFrom(filter.eventPrefix), (value) => `event = ANY(${value})`);
  add(filter.userId, (value) => `user_id = ${value}`);
  add(filter.keyId, (value) => `key_id = ${value}`);
  add(filter.from, (value) => `timestamp >= ${value}`);
  add(filter.to, (value) => `timestamp < ${value}`);
  return { where, values };
}

/**
 * The names that a prefix stands for. Equality lets the planner judge how frequent they are: rare ones are fetched by
 * the index on events, frequent ones met soon on the way through time. A prefix alone tells it nothing.
 */
function namesFrom(prefix: string | undefined): string[] | undefined {
  return prefix ? Object.keys(AUDIT_EVENTS).filter((name) => name.startsWith(prefix)) : undefined;
}
