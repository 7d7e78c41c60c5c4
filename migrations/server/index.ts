import { MetadataTables0001 } from './0001-metadata-tables.js';
import { SessionsAndAppendOnly0002 } from './0002-sessions-and-append-only.js';
import { ReferenceIndexes0003 } from './0003-reference-indexes.js';
import { AuditOfAKey0004 } from './0004-audit-of-a-key.js';
import { BrowseIndexes0005 } from './0005-browse-indexes.js';
import { BootstrapAdmin0006 } from './0006-bootstrap-admin.js';
import type { SqlMigration } from './sql-migration.js';

export type { SqlMigration } from './sql-migration.js';

/** Every migration of the metadata database, in the order in which they apply. */
export const serverMigrations: readonly SqlMigration[] = [
  new MetadataTables0001(),
  new SessionsAndAppendOnly0002(),
  new ReferenceIndexes0003(),
  new AuditOfAKey0004(),
  new BrowseIndexes0005(),
  new BootstrapAdmin0006(),
];
