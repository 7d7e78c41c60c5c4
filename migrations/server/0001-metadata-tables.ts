import { DATASOURCES_AND_ENDPOINTS } from './0001/datasources-and-endpoints.js';
import { EXECUTIONS } from './0001/executions.js';
import { PEOPLE_AND_WORKSPACES } from './0001/people-and-workspaces.js';
import { PIPELINES_AND_TEMPLATES } from './0001/pipelines-and-templates.js';
import { SqlMigration } from './sql-migration.js';

/**
 * The twenty tables of the metadata database, in the order their foreign keys allow, and the `default`
 * workspace, which no user created (seed §4, §4.11). Described table by table in docs/schema.md.
 */
export class MetadataTables0001 extends SqlMigration {
  readonly name = '0001-metadata-tables';

  readonly sql = `
${PEOPLE_AND_WORKSPACES}${PIPELINES_AND_TEMPLATES}${EXECUTIONS}${DATASOURCES_AND_ENDPOINTS}INSERT INTO workspaces (id, name, display_name, created_by)
VALUES ('defa0000-0000-0000-0000-000000000001', 'default', 'Default', NULL);
`;
}
