import type { Queryable } from './queryable.js';

/** What the role of a connection may do that nobody should be able to do (contract 04 §10). */
export interface LogRights {
  role: string;
  /** PostgreSQL holds a superuser to no privilege at all. */
  superuser: boolean;
  /** `UPDATE ON audit_log` and the like: rights in force over the append-only logs, however the role came by them. */
  excess: string[];
}

/** The logs whose rows may be added, and removed by retention, and neither changed nor emptied. */
const LOGS = ['audit_log', 'execution_events'];

/**
 * Asks PostgreSQL itself, so that a privilege of the role's own, of a group it is in (`pg_write_all_data`), of PUBLIC or
 * of a single column all count. A restore without privileges, or another role than the one that migrated, loses the
 * REVOKE of migration 0002 without a word.
 */
export async function logRights(q: Queryable): Promise<LogRights> {
  const [role] = await q.query<{ role: string; superuser: boolean }>(
    'SELECT rolname AS role, rolsuper AS superuser FROM pg_roles WHERE rolname = current_user',
  );
  const excess = await q.query<{ held: string }>(
    `SELECT privilege || ' ON ' || log AS held
       FROM unnest($1::text[]) WITH ORDINALITY AS l(log, n),
            LATERAL (VALUES ('UPDATE', has_any_column_privilege(log, 'UPDATE')),
                            ('TRUNCATE', has_table_privilege(log, 'TRUNCATE'))) AS p(privilege, granted)
      WHERE granted
      ORDER BY n, privilege DESC`,
    [LOGS],
  );
  return { role: role?.role ?? '', superuser: role?.superuser === true, excess: excess.map(({ held }) => held) };
}
