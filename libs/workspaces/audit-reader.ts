import { Injectable } from '@nestjs/common';
import { AuditRepository, type AuditFilter, type AuditPosition, type AuditRow } from '#libs/audit';
import { authorise, authoriseInstance } from '#libs/identity';
import {
  isStamp,
  isUuid,
  toWireStamp,
  type JsonValue,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { Database } from '#libs/persistence';
import { refuseField } from './workspace-input.js';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;
/** Ids count from one and are never near the end of a bigint. */
const ROW_ID = /^\d{1,18}$/;
/** What the trail keeps of a key: its public half. */
const KEY_ID = /^dpk_[A-Z2-7]{12}$/;

/** An audit row in wire form. `cursor` names its place for `after` and `before`. */
export interface AuditEventView {
  id: string;
  timestamp: string;
  event: string;
  user_id: string | null;
  key_id: string | null;
  source_ip: string | null;
  user_agent: string | null;
  details: JsonValue;
  cursor: string;
}

export interface AuditQuery {
  /** Start of the event's name. */
  event?: string;
  user_id?: string;
  key_id?: string;
  from?: string;
  to?: string;
  /** The whole instance instead of the acting workspace; for super admins. */
  instance?: boolean;
}

/** Reading the trail: one's workspace for its administrators, the instance for super admins (contract 04 §10). */
@Injectable()
export class AuditReader {
  constructor(
    private readonly db: Database,
    private readonly rows: AuditRepository,
  ) {}

  /** Newest first, at most 200 a page. @throws the generic 400 with `field` for a bad filter or cursor */
  async list(principal: Principal, query: AuditQuery, page: KeysetPage = {}): Promise<KeysetListing<AuditEventView>> {
    const filter = this.#filter(principal, query);
    const backwards = page.last !== undefined || page.before !== undefined;
    const limit = Math.min(Math.max((backwards ? page.last : page.first) ?? DEFAULT_PAGE, 0), MAX_PAGE);
    const after = page.after === undefined ? undefined : position('after', page.after);
    const before = page.before === undefined ? undefined : position('before', page.before);
    // One row more tells whether the page has a neighbour.
    const request = backwards ? { before: before ?? OLDEST, limit: limit + 1 } : { after, limit: limit + 1 };
    const found = await this.rows.page(this.db, filter, request);
    const more = found.length > limit;
    const items = backwards ? found.slice(more ? 1 : 0) : found.slice(0, limit);
    return {
      items: items.map(toView),
      hasNext: backwards ? before !== undefined : more,
      hasPrevious: backwards ? more : after !== undefined,
    };
  }

  async count(principal: Principal, query: AuditQuery): Promise<number> {
    return this.rows.count(this.db, this.#filter(principal, query));
  }

  #filter(principal: Principal, query: AuditQuery): AuditFilter {
    if (query.instance) authoriseInstance(principal, 'audit.read_instance');
    const workspaceId = query.instance ? undefined : authorise(principal, 'audit.read').id;
    if (query.user_id !== undefined && !isUuid(query.user_id)) refuseField('user_id');
    if (query.key_id !== undefined && !KEY_ID.test(query.key_id)) refuseField('key_id');
    return {
      workspaceId,
      eventPrefix: query.event,
      userId: query.user_id,
      keyId: query.key_id,
      from: moment('from', query.from),
      to: moment('to', query.to),
    };
  }
}

/** Before every row: `last` without `before` counts from the end of the list. */
const OLDEST: AuditPosition = { timestamp: '-infinity', id: '0' };

function position(field: string, cursor: string): AuditPosition {
  const [timestamp = '', id = '', ...more] = cursor.split(',');
  if (more.length > 0 || !isStamp(timestamp) || !ROW_ID.test(id)) refuseField(field);
  return { timestamp, id };
}

function moment(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? refuseField(field) : new Date(time);
}

function toView(row: AuditRow): AuditEventView {
  return {
    id: row.id,
    timestamp: toWireStamp(row.timestamp),
    event: row.event,
    user_id: row.userId,
    key_id: row.keyId,
    source_ip: row.sourceIp,
    user_agent: row.userAgent,
    details: row.details,
    cursor: `${row.timestamp},${row.id}`,
  };
}
