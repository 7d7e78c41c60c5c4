import { Injectable } from '@nestjs/common';
import { keysetItems, KeysetOrder, type KeysetListing, type KeysetPage } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

export interface WorkspaceRow {
  id: string;
  name: string;
  displayName: string;
  isPersonal: boolean;
  createdBy: string | null;
  deactivatedAt: string | null;
  deactivatedBy: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A workspace with the flags somebody holds in it; null where he is no member. */
export interface HeldWorkspaceRow extends WorkspaceRow {
  author: boolean | null;
  promoter: boolean | null;
  admin: boolean | null;
}

/** What a workspace holds that keeps it from being deleted. */
export interface WorkspaceContents {
  pipelines: number;
  templates: number;
  endpoints: number;
  datasources: number;
  api_keys: number;
}

/** What is left behind in a workspace that nobody reaches or looks after, for the trail; undefined when it holds nothing. */
export function strandedCounts({ api_keys: keys, ...content }: WorkspaceContents): Record<string, number> | undefined {
  const counts = { ...content, keys };
  return Object.values(counts).some((count) => count > 0) ? counts : undefined;
}

const COLUMNS = `w.id, w.name, w.display_name AS "displayName", w.is_personal AS "isPersonal", w.created_by AS "createdBy",
  w.deactivated_at AS "deactivatedAt", w.deactivated_by AS "deactivatedBy", w.created_at AS "createdAt",
  w.updated_at AS "updatedAt"`;

/** Memberships of active workspaces; for a super admin every workspace that is not deleted, inactive ones too. */
const VISIBLE = `FROM workspaces w
  LEFT JOIN workspace_members m ON m.workspace_id = w.id AND m.user_id = $1
  WHERE NOT w.is_deleted AND ($2 OR (m.user_id IS NOT NULL AND w.deactivated_at IS NULL))`;

const BY_NAME = new KeysetOrder({ sql: 'w.name', kind: 'text' });

@Injectable()
export class WorkspaceRepository {
  /** By name, which `after` and `before` are. */
  async page(q: Queryable, userId: string, all: boolean, page: KeysetPage): Promise<KeysetListing<HeldWorkspaceRow>> {
    const values: unknown[] = [userId, all];
    const beyond = BY_NAME.beyond(page, values);
    const rows = await q.query<HeldWorkspaceRow>(
      `SELECT ${COLUMNS}, m.author, m.promoter, m.admin ${VISIBLE} AND ${beyond} ${BY_NAME.tail(page, values)}`,
      values,
    );
    return keysetItems(rows, page);
  }

  /** Several by id: those the person belongs to or holds a key of; for a super admin any. */
  async among(q: Queryable, userId: string, all: boolean, ids: readonly string[]): Promise<HeldWorkspaceRow[]> {
    return q.query<HeldWorkspaceRow>(
      `SELECT ${COLUMNS}, m.author, m.promoter, m.admin FROM workspaces w
         LEFT JOIN workspace_members m ON m.workspace_id = w.id AND m.user_id = $1
        WHERE w.id = ANY($3::uuid[])
          AND ($2 OR m.user_id IS NOT NULL
               OR EXISTS (SELECT FROM api_keys k WHERE k.workspace_id = w.id AND k.user_id = $1))`,
      [userId, all, ids],
    );
  }

  /** Several by name, of those that a list shows. */
  async named(q: Queryable, userId: string, all: boolean, names: readonly string[]): Promise<HeldWorkspaceRow[]> {
    return q.query<HeldWorkspaceRow>(
      `SELECT ${COLUMNS}, m.author, m.promoter, m.admin ${VISIBLE} AND w.name = ANY($3::text[])`,
      [userId, all, names],
    );
  }

  async count(q: Queryable, userId: string, all: boolean): Promise<number> {
    const [row] = await q.query<{ total: number }>(`SELECT count(*)::int AS total ${VISIBLE}`, [userId, all]);
    return row?.total ?? 0;
  }

  async find(q: Queryable, id: string): Promise<WorkspaceRow | undefined> {
    const [row] = await q.query<WorkspaceRow>(
      `SELECT ${COLUMNS} FROM workspaces w WHERE w.id = $1 AND NOT w.is_deleted`,
      [id],
    );
    return row;
  }

  /**
   * Locks the row against other changes of the workspace and of its members. `content`: against new content too, whose
   * foreign keys hold the row; what was being written is committed then, and counted by what is asked next.
   */
  async lockByName(tx: Queryable, name: string, against: 'changes' | 'content'): Promise<WorkspaceRow | undefined> {
    const [row] = await tx.query<WorkspaceRow>(
      `SELECT ${COLUMNS} FROM workspaces w WHERE w.name = $1 AND NOT w.is_deleted
          FOR ${against === 'content' ? '' : 'NO KEY '}UPDATE`,
      [name],
    );
    return row;
  }

  /** Rejects with a violation of `workspaces_name_key` when the name is or was taken. */
  async insert(
    q: Queryable,
    workspace: { id: string; name: string; displayName: string; createdBy: string },
  ): Promise<void> {
    await q.execute('INSERT INTO workspaces (id, name, display_name, created_by) VALUES ($1, $2, $3, $4)', [
      workspace.id,
      workspace.name,
      workspace.displayName,
      workspace.createdBy,
    ]);
  }

  /** The name before the change; undefined when the workspace is not active any more. */
  async rename(tx: Queryable, id: string, displayName: string): Promise<string | undefined> {
    const [row] = await tx.query<{ before: string }>(
      `UPDATE workspaces w SET display_name = $2, updated_at = NOW()
       FROM (SELECT id, display_name FROM workspaces WHERE id = $1 FOR NO KEY UPDATE) old
       WHERE w.id = old.id AND NOT w.is_deleted AND w.deactivated_at IS NULL
       RETURNING old.display_name AS before`,
      [id, displayName],
    );
    return row?.before;
  }

  /** False when it was inactive before. */
  async deactivate(tx: Queryable, id: string, by: string): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE workspaces SET deactivated_at = NOW(), deactivated_by = $2, updated_at = NOW()
       WHERE id = $1 AND NOT is_deleted AND deactivated_at IS NULL`,
      [id, by],
    );
    return changed === 1;
  }

  /** False when it was active before. */
  async reactivate(tx: Queryable, id: string): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE workspaces SET deactivated_at = NULL, deactivated_by = NULL, updated_at = NOW()
       WHERE id = $1 AND NOT is_deleted AND deactivated_at IS NOT NULL`,
      [id],
    );
    return changed === 1;
  }

  async contents(tx: Queryable, id: string): Promise<WorkspaceContents> {
    const [counts] = await tx.query<WorkspaceContents>(
      `SELECT (SELECT count(*)::int FROM pipelines WHERE workspace_id = $1) AS pipelines,
              (SELECT count(*)::int FROM templates WHERE workspace_id = $1) AS templates,
              (SELECT count(*)::int FROM published_endpoints WHERE workspace_id = $1) AS endpoints,
              (SELECT count(*)::int FROM datasources WHERE owner_workspace_id = $1 AND NOT is_deleted) AS datasources,
              (SELECT count(*)::int FROM api_keys WHERE workspace_id = $1 AND NOT is_revoked
                 AND (expires_at IS NULL OR expires_at > NOW())) AS api_keys`,
      [id],
    );
    if (!counts) throw new TypeError('an aggregate without GROUP BY has one row');
    return counts;
  }

  /** Keeps the row, so that the name stays taken and revoked keys keep their workspace; people and invitations go. */
  async markDeleted(tx: Queryable, id: string): Promise<string[]> {
    await tx.execute('DELETE FROM workspace_invitations WHERE workspace_id = $1', [id]);
    const members = await tx.query<{ userId: string }>(
      'DELETE FROM workspace_members WHERE workspace_id = $1 RETURNING user_id AS "userId"',
      [id],
    );
    await tx.execute('UPDATE workspaces SET is_deleted = TRUE, updated_at = NOW() WHERE id = $1 AND NOT is_deleted', [
      id,
    ]);
    return members.map(({ userId }) => userId);
  }
}
