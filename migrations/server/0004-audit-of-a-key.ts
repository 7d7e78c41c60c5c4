import { SqlMigration } from './sql-migration.js';

/** What one key did, newest first: most rows name a key, and few of them the one that is asked about. */
export class AuditOfAKey0004 extends SqlMigration {
  readonly name = '0004-audit-of-a-key';

  readonly sql = `
CREATE INDEX px_audit_key ON audit_log(key_id, timestamp DESC) WHERE key_id IS NOT NULL;
`;
}
