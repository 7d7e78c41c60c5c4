import { DEMO_WORKSPACE_ID } from '#libs/identity';
import type { Queryable } from '#libs/persistence';

/**
 * The one workspace the product ships, under its well-known id (contract 04 §7.1). Its row in any state, deactivated or
 * deleted, means somebody has decided: it is never made again. `active` tells whether content may be put into it.
 */
export async function ensureDemoWorkspace(tx: Queryable): Promise<{ created: boolean; active: boolean }> {
  const created = await tx.execute(
    `INSERT INTO workspaces (id, name, display_name) VALUES ($1, 'demo', 'Demo') ON CONFLICT DO NOTHING`,
    [DEMO_WORKSPACE_ID],
  );
  const [row] = await tx.query<{ active: boolean }>(
    'SELECT NOT is_deleted AND deactivated_at IS NULL AS active FROM workspaces WHERE id = $1',
    [DEMO_WORKSPACE_ID],
  );
  return { created: created === 1, active: row?.active ?? false };
}
