import { Injectable } from '@nestjs/common';

import type { Queryable } from '#libs/persistence';

export interface GrantRecord {
  workspace_id: string;
  workspace: string;
  granted_by: string;
  granted_at: string;
}

/** Who may see a datasource: one row per workspace (seed §4.16). */
@Injectable()
export class GrantRepository {
  async list(q: Queryable, datasource: string): Promise<GrantRecord[]> {
    return await q.query<GrantRecord>(
      `SELECT w.id AS workspace_id, w.name AS workspace, g.granted_by, g.granted_at
         FROM datasource_workspaces g JOIN workspaces w ON w.id = g.workspace_id
        WHERE g.datasource_name = $1 ORDER BY w.name`,
      [datasource],
    );
  }

  /** True when it was not granted before; the first actor stays. */
  async grant(q: Queryable, datasource: string, workspaceId: string, grantedBy: string): Promise<boolean> {
    const added = await q.execute(
      `INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ($1, $2, $3)
       ON CONFLICT DO NOTHING`,
      [datasource, workspaceId, grantedBy],
    );
    return added === 1;
  }

  async revoke(q: Queryable, datasource: string, workspaceId: string): Promise<boolean> {
    const removed = await q.execute(
      'DELETE FROM datasource_workspaces WHERE datasource_name = $1 AND workspace_id = $2',
      [datasource, workspaceId],
    );
    return removed === 1;
  }

  /** A grant outlives the workspace's deactivation, so an inactive one is found too when asked for. */
  async workspaceId(q: Queryable, name: string, { onlyActive }: { onlyActive: boolean }): Promise<string | undefined> {
    const [row] = await q.query<{ id: string }>(
      `SELECT id FROM workspaces WHERE name = $1 AND NOT is_deleted AND (deactivated_at IS NULL OR NOT $2)`,
      [name, onlyActive],
    );
    return row?.id;
  }

  async activeWorkspaces(q: Queryable): Promise<string[]> {
    const rows = await q.query<{ name: string }>(
      'SELECT name FROM workspaces WHERE NOT is_deleted AND deactivated_at IS NULL ORDER BY name',
    );
    return rows.map(({ name }) => name);
  }
}
