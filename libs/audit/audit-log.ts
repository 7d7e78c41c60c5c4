import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { ActingWorkspace } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';
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
   * `acting_via` when a super admin acts there without a membership.
   *
   * @throws TypeError when the event, a detail key or a secret-like key is not admitted; the transaction then fails
   */
  async append<E extends AuditEventName>(
    tx: Queryable,
    actor: AuditActor,
    event: E,
    details: AuditDetails<E>,
  ): Promise<void> {
    const admitted = { ...admittedDetails(event, details), ...commonDetails(actor) };
    await tx.execute(
      `INSERT INTO audit_log (event, user_id, key_id, source_ip, user_agent, details_json)
       VALUES ($1, $2, $3, $4, $5, $6::jsonb)`,
      [
        event,
        actor.userId ?? null,
        actor.keyId ?? null,
        inetOf(actor.sourceIp),
        actor.userAgent === undefined ? null : auditText(actor.userAgent, MAX_USER_AGENT_BYTES),
        JSON.stringify(admitted),
      ],
    );
  }
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
