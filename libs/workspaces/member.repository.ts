import { Injectable } from '@nestjs/common';
import type { MemberFlags } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

export interface MemberRow extends MemberFlags {
  userId: string;
  email: string;
  displayName: string;
  profilePictureUrl: string | null;
  joinedAt: string;
}

export interface InvitationRow extends MemberFlags {
  email: string;
  invitedBy: string;
  invitedAt: string;
}

const MEMBER = `SELECT m.user_id AS "userId", u.email, u.display_name AS "displayName",
    u.profile_picture_url AS "profilePictureUrl", m.author, m.promoter, m.admin, m.joined_at AS "joinedAt"
  FROM workspace_members m JOIN users u ON u.id = m.user_id`;

@Injectable()
export class MemberRepository {
  async members(q: Queryable, workspaceId: string): Promise<MemberRow[]> {
    return q.query<MemberRow>(`${MEMBER} WHERE m.workspace_id = $1 ORDER BY m.joined_at, m.user_id`, [workspaceId]);
  }

  /**
   * Members of several workspaces: of those the viewer belongs to, or of any. Tells for each row whether the viewer
   * administers that workspace.
   */
  async membersAmong(
    q: Queryable,
    viewer: { userId: string; all: boolean },
    workspaceIds: readonly string[],
  ): Promise<(MemberRow & { workspaceId: string; seenByAdmin: boolean })[]> {
    return q.query(
      `SELECT m.workspace_id AS "workspaceId", COALESCE(me.admin, $2) AS "seenByAdmin", x.* FROM workspace_members m
         JOIN workspaces w ON w.id = m.workspace_id AND NOT w.is_deleted AND ($2 OR w.deactivated_at IS NULL)
         LEFT JOIN workspace_members me ON me.workspace_id = m.workspace_id AND me.user_id = $1
         CROSS JOIN LATERAL (SELECT m.user_id AS "userId", u.email, u.display_name AS "displayName",
             u.profile_picture_url AS "profilePictureUrl", m.author, m.promoter, m.admin, m.joined_at AS "joinedAt"
           FROM users u WHERE u.id = m.user_id) x
        WHERE m.workspace_id = ANY($3::uuid[]) AND ($2 OR me.user_id IS NOT NULL)
        ORDER BY m.joined_at, m.user_id`,
      [viewer.userId, viewer.all, workspaceIds],
    );
  }

  /** Invitations to several workspaces: of those the viewer administers, or of any. */
  async invitationsAmong(
    q: Queryable,
    viewer: { userId: string; all: boolean },
    workspaceIds: readonly string[],
  ): Promise<(InvitationRow & { workspaceId: string })[]> {
    return q.query(
      `SELECT i.workspace_id AS "workspaceId", i.email, i.author, i.promoter, i.admin, i.invited_by AS "invitedBy",
              i.invited_at AS "invitedAt"
         FROM workspace_invitations i
         LEFT JOIN workspace_members me ON me.workspace_id = i.workspace_id AND me.user_id = $1
        WHERE i.workspace_id = ANY($3::uuid[]) AND ($2 OR COALESCE(me.admin, FALSE))
        ORDER BY i.invited_at, i.email`,
      [viewer.userId, viewer.all, workspaceIds],
    );
  }

  async member(q: Queryable, workspaceId: string, userId: string): Promise<MemberRow | undefined> {
    const [row] = await q.query<MemberRow>(`${MEMBER} WHERE m.workspace_id = $1 AND m.user_id = $2`, [
      workspaceId,
      userId,
    ]);
    return row;
  }

  async invitations(q: Queryable, workspaceId: string): Promise<InvitationRow[]> {
    return q.query<InvitationRow>(
      `SELECT email, author, promoter, admin, invited_by AS "invitedBy", invited_at AS "invitedAt"
       FROM workspace_invitations WHERE workspace_id = $1 ORDER BY invited_at, email`,
      [workspaceId],
    );
  }

  /**
   * Holds the workspace against other changes of its members, so that what is counted next stays true until the commit.
   * False when it is not active any more.
   */
  async lockActive(tx: Queryable, workspaceId: string): Promise<boolean> {
    const rows = await tx.query(
      'SELECT id FROM workspaces WHERE id = $1 AND NOT is_deleted AND deactivated_at IS NULL FOR NO KEY UPDATE',
      [workspaceId],
    );
    return rows.length === 1;
  }

  /** Administrators whose account is open; one that is closed can look after nothing. */
  async adminIds(tx: Queryable, workspaceId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `SELECT m.user_id AS id FROM workspace_members m JOIN users u ON u.id = m.user_id
        WHERE m.workspace_id = $1 AND m.admin AND u.is_active`,
      [workspaceId],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * What somebody belongs to, inactive workspaces too. Each is held against other changes of its members first, in
   * order; flags are read only then, because whoever held it before may have changed them.
   */
  async holdMemberships(
    tx: Queryable,
    userId: string,
  ): Promise<(MemberFlags & { workspaceId: string; workspaceName: string })[]> {
    await tx.query(
      `SELECT w.id FROM workspaces w JOIN workspace_members m ON m.workspace_id = w.id
        WHERE m.user_id = $1 AND NOT w.is_deleted
        ORDER BY w.id FOR NO KEY UPDATE OF w`,
      [userId],
    );
    return tx.query(
      `SELECT w.id AS "workspaceId", w.name AS "workspaceName", m.author, m.promoter, m.admin
         FROM workspaces w JOIN workspace_members m ON m.workspace_id = w.id
        WHERE m.user_id = $1 AND NOT w.is_deleted
        ORDER BY w.id`,
      [userId],
    );
  }

  /** Id of the account with that address; the system actor has none that could join. */
  async accountOf(tx: Queryable, email: string): Promise<string | undefined> {
    const [row] = await tx.query<{ id: string }>(`SELECT id FROM users WHERE email = $1 AND provider <> 'system'`, [
      email,
    ]);
    return row?.id;
  }

  /** False when the person was a member before; the flags then stay as they are. */
  async insert(tx: Queryable, workspaceId: string, userId: string, flags: MemberFlags): Promise<boolean> {
    const added = await tx.execute(
      `INSERT INTO workspace_members (workspace_id, user_id, author, promoter, admin) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [workspaceId, userId, flags.author, flags.promoter, flags.admin],
    );
    return added === 1;
  }

  async setFlags(tx: Queryable, workspaceId: string, userId: string, flags: MemberFlags): Promise<void> {
    await tx.execute(
      'UPDATE workspace_members SET author = $3, promoter = $4, admin = $5 WHERE workspace_id = $1 AND user_id = $2',
      [workspaceId, userId, flags.author, flags.promoter, flags.admin],
    );
  }

  async remove(tx: Queryable, workspaceId: string, userId: string): Promise<void> {
    await tx.execute('DELETE FROM workspace_members WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId]);
  }

  /** The latest decision wins (seed §4.17). */
  async invite(tx: Queryable, workspaceId: string, email: string, flags: MemberFlags, inviter: string): Promise<void> {
    await tx.execute(
      `INSERT INTO workspace_invitations (workspace_id, email, author, promoter, admin, invited_by)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (workspace_id, email) DO UPDATE
       SET author = EXCLUDED.author, promoter = EXCLUDED.promoter, admin = EXCLUDED.admin,
           invited_by = EXCLUDED.invited_by, invited_at = NOW()`,
      [workspaceId, email, flags.author, flags.promoter, flags.admin, inviter],
    );
  }

  async revokeInvitation(tx: Queryable, workspaceId: string, email: string): Promise<InvitationRow | undefined> {
    const [row] = await tx.query<InvitationRow>(
      `DELETE FROM workspace_invitations WHERE workspace_id = $1 AND email = $2
       RETURNING email, author, promoter, admin, invited_by AS "invitedBy", invited_at AS "invitedAt"`,
      [workspaceId, email],
    );
    return row;
  }
}
