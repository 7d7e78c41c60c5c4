import { Injectable } from '@nestjs/common';
import type { MemberFlags } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

export const DEFAULT_WORKSPACE_ID = 'defa0000-0000-0000-0000-000000000001';
export const DEMO_WORKSPACE_ID = 'de000000-0000-0000-0000-000000000001';

export interface WorkspaceRecord {
  id: string;
  name: string;
  active: boolean;
}

/** A membership of an active workspace. */
export interface Membership extends MemberFlags {
  workspaceId: string;
  workspaceName: string;
  joinedAt: string;
}

export interface MaterialisedInvitation extends Membership {
  invitedBy: string;
}

const ACTIVE = 'NOT w.is_deleted AND w.deactivated_at IS NULL';
const RECORD = `w.id, w.name, ${ACTIVE} AS active`;

@Injectable()
export class MembershipRepository {
  /** Memberships of active workspaces, the oldest first. */
  async membershipsOf(q: Queryable, userId: string): Promise<Membership[]> {
    return q.query<Membership>(
      `SELECT m.workspace_id AS "workspaceId", w.name AS "workspaceName", m.author, m.promoter, m.admin,
              m.joined_at AS "joinedAt"
       FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
       WHERE m.user_id = $1 AND ${ACTIVE}
       ORDER BY m.joined_at, w.name`,
      [userId],
    );
  }

  /** As {@link membershipsOf}, of several people. */
  async membershipsOfAll(q: Queryable, userIds: readonly string[]): Promise<(Membership & { userId: string })[]> {
    return q.query(
      `SELECT m.user_id AS "userId", m.workspace_id AS "workspaceId", w.name AS "workspaceName", m.author, m.promoter,
              m.admin, m.joined_at AS "joinedAt"
       FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
       WHERE m.user_id = ANY($1::uuid[]) AND ${ACTIVE}
       ORDER BY m.joined_at, w.name`,
      [userIds],
    );
  }

  async workspaceById(q: Queryable, id: string): Promise<WorkspaceRecord | undefined> {
    const [row] = await q.query<WorkspaceRecord>(
      `SELECT ${RECORD} FROM workspaces w WHERE w.id = $1 AND NOT w.is_deleted`,
      [id],
    );
    return row;
  }

  async workspaceByName(q: Queryable, name: string): Promise<WorkspaceRecord | undefined> {
    const [row] = await q.query<WorkspaceRecord>(
      `SELECT ${RECORD} FROM workspaces w WHERE w.name = $1 AND NOT w.is_deleted`,
      [name],
    );
    return row;
  }

  /** Turns the invitations of active workspaces into memberships; those of inactive ones wait (contract 04 §7.4). */
  async materialiseInvitations(q: Queryable, userId: string, email: string): Promise<MaterialisedInvitation[]> {
    return q.query<MaterialisedInvitation>(
      `WITH due AS (
         DELETE FROM workspace_invitations i USING workspaces w
         WHERE i.email = $2 AND w.id = i.workspace_id AND ${ACTIVE}
         RETURNING i.workspace_id, w.name, i.author, i.promoter, i.admin, i.invited_by, i.invited_at
       ), added AS (
         INSERT INTO workspace_members (workspace_id, user_id, author, promoter, admin, joined_at)
         SELECT workspace_id, $1, author, promoter, admin, invited_at FROM due
         ON CONFLICT DO NOTHING
       )
       SELECT workspace_id AS "workspaceId", name AS "workspaceName", author, promoter, admin,
              invited_by AS "invitedBy", invited_at AS "joinedAt"
       FROM due ORDER BY invited_at, name`,
      [userId, email],
    );
  }

  /** Makes a viewer of the demo workspace, if it is active; false otherwise. */
  async joinDemo(q: Queryable, userId: string): Promise<WorkspaceRecord | undefined> {
    const [row] = await q.query<WorkspaceRecord>(
      `WITH joined AS (
         INSERT INTO workspace_members (workspace_id, user_id)
         SELECT w.id, $1 FROM workspaces w WHERE w.id = $2 AND ${ACTIVE}
         ON CONFLICT DO NOTHING
         RETURNING workspace_id)
       SELECT w.id, w.name, TRUE AS active FROM joined JOIN workspaces w ON w.id = joined.workspace_id`,
      [userId, DEMO_WORKSPACE_ID],
    );
    return row;
  }
}
