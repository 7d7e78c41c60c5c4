import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { ActingWorkspace } from '#libs/kernel';
import { boundArrays, type Queryable } from '#libs/persistence';
import { admittedDetails, auditText } from './audit-details.js';
import type { AuditDetails, AuditEventName } from './audit-events.js';

const MAX_USER_AGENT_BYTES = 512;

/** Who is written down. Every `Principal` is one; refused logins have no user. */
export interface AuditActor {
  userId?: string;
  /** The key that was presented, or the key the event is about. */
  keyId?: string;
  correlationId: string;
  workspace?: Pick<ActingWorkspace, 'id' | 'name' | 'implicit'>;
  sourceIp?: string;
  userAgent?: string;
}

/** The append-only trail. A state-changing act appends in its own transaction: no row, no act (contract 04 §10). */
@Injectable()
export class AuditLog {
  /**
   * Adds the common details: `correlation_id`, `workspace_id` and `workspace` when the actor is in one, and
   * `acting_via` when a super admin acts there without a membership. A detail of the event's own stands before a common
   * one of its name: what the act was about is never overwritten by where its actor was.
   *
   * @throws TypeError when the event, a detail key or a secret-like key is not admitted; the transaction then fails
   */
  async append<E extends AuditEventName>(
    tx: Queryable,
    actor: AuditActor,
    event: E,
    details: AuditDetails<E>,
  ): Promise<void> {
    await insertAuditEntries(tx, [auditEntry(actor, event, details)]);
  }
}

/** A row as it will stand in the table. */
export interface AuditEntry {
  event: AuditEventName;
  userId: string | null;
  keyId: string | null;
  sourceIp: string | null;
  userAgent: string | null;
  detailsJson: string;
}

/** @throws TypeError when the event, a detail key or a secret-like key is not admitted */
export function auditEntry<E extends AuditEventName>(
  actor: AuditActor,
  event: E,
  details: AuditDetails<E>,
): AuditEntry {
  return {
    event,
    userId: actor.userId ?? null,
    keyId: actor.keyId ?? null,
    sourceIp: inetOf(actor.sourceIp),
    userAgent: actor.userAgent === undefined ? null : auditText(actor.userAgent, MAX_USER_AGENT_BYTES),
    detailsJson: JSON.stringify({ ...commonDetails(actor), ...admittedDetails(event, details) }),
  };
}

const COLUMNS = 'event, user_id, key_id, source_ip, user_agent, details_json';
const SELECTED = 'e.event, e.user_id, e.key_id, e.source_ip, e.user_agent, e.details::jsonb';
const ENTRY_TYPES = ['text', 'uuid', 'text', 'inet', 'text', 'text'];

/** One statement for all; their ids follow the order given. */
export async function insertAuditEntries(q: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  await q.execute(
    `INSERT INTO audit_log (${COLUMNS})
     SELECT ${SELECTED}
       FROM unnest(${boundArrays(1, ENTRY_TYPES)}) WITH ORDINALITY
         AS e(event, user_id, key_id, source_ip, user_agent, details, n)
      ORDER BY n`,
    arraysOf(entries),
  );
}

/** A row about an act that the same statement carries out. */
export interface ActEntry {
  act: string;
  entry: AuditEntry;
}

/**
 * An INSERT to stand as a CTE in the statement of the acts themselves, so that row and act are committed together or not
 * at all. `carriedOut` is a relation with the column `key`, the id of each act that came about; a row whose act did not
 * is not written. Takes seven placeholders from `$first` on, whose values are {@link actArrays}.
 */
export function auditedActsSql(first: number, carriedOut: string, key: string): string {
  return `INSERT INTO audit_log (${COLUMNS})
    SELECT ${SELECTED}
      FROM unnest(${boundArrays(first, [...ENTRY_TYPES, 'uuid'])})
        AS e(event, user_id, key_id, source_ip, user_agent, details, act)
      JOIN ${carriedOut} c ON c.${key} = e.act`;
}

export function actArrays(acts: readonly ActEntry[]): unknown[] {
  return [...arraysOf(acts.map(({ entry }) => entry)), acts.map(({ act }) => act)];
}

function arraysOf(entries: readonly AuditEntry[]): unknown[] {
  return [
    entries.map((entry) => entry.event),
    entries.map((entry) => entry.userId),
    entries.map((entry) => entry.keyId),
    entries.map((entry) => entry.sourceIp),
    entries.map((entry) => entry.userAgent),
    entries.map((entry) => entry.detailsJson),
  ];
}

function commonDetails({ correlationId, workspace }: AuditActor): Record<string, unknown> {
  return {
    correlation_id: correlationId,
    ...(workspace ? { workspace_id: workspace.id, workspace: workspace.name } : {}),
    ...(workspace?.implicit ? { acting_via: 'super_admin' } : {}),
  };
}

/** An address as an INET column takes it; a malformed one must not cost the act its row. */
export function inetOf(address: string | undefined): string | null {
  const bare = address?.split('%')[0];
  return bare !== undefined && isIP(bare) !== 0 ? bare : null;
}
