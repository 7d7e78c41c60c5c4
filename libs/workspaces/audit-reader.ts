import { Injectable } from '@nestjs/common';
import { auditPlace, AuditRepository, type AuditFilter, type AuditRow } from '#libs/audit';
import { authorise, authoriseInstance } from '#libs/identity';
import {
  isUuid,
  momentOf,
  toWireStamp,
  type JsonValue,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { Database } from '#libs/persistence';
import { refuseField } from './workspace-input.js';

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

  /** Newest first. @throws the generic 400 with `field` for a bad filter, `graphql.cursor_invalid` for a bad cursor */
  async list(principal: Principal, query: AuditQuery, page: KeysetPage = {}): Promise<KeysetListing<AuditEventView>> {
    const found = await this.rows.page(this.db, this.#filter(principal, query), page);
    return { ...found, items: found.items.map(toView) };
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

function moment(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = momentOf(text);
  return at === undefined ? refuseField(field) : new Date(at);
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
    cursor: auditPlace(row),
  };
}
