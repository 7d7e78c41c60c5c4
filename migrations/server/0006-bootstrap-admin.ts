import { SqlMigration } from './sql-migration.js';

/**
 * Whom the configuration made super administrator, once for the life of the deployment (04 §3). An installation from
 * before this table has it in its audit trail, or in a row that still waits for its person.
 */
export class BootstrapAdmin0006 extends SqlMigration {
  readonly name = '0006-bootstrap-admin';

  readonly sql = `
CREATE TABLE bootstrap_admin (
    only_row   BOOLEAN     PRIMARY KEY DEFAULT TRUE,
    user_id    UUID        NOT NULL REFERENCES users(id),
    granted_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    CONSTRAINT chk_bootstrap_admin_only_row CHECK (only_row)
);

INSERT INTO bootstrap_admin (user_id, granted_at)
SELECT id, at FROM (
    SELECT u.id, a.timestamp AS at, 0 AS rank
      FROM audit_log a JOIN users u ON u.id::text = a.details_json->>'target_user_id'
     WHERE a.event = 'auth.user.admin_granted' AND a.details_json->>'actor' = 'bootstrap'
    UNION ALL
    SELECT id, created_at, 1 FROM users WHERE provider = 'bootstrap' AND is_admin
) known
ORDER BY rank, at LIMIT 1;
`;
}
