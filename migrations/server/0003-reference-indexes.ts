import { SqlMigration } from './sql-migration.js';

/** Who pins a template, imports a library or names a datasource is asked of JSON: a plan must not read every body for it. */
export class ReferenceIndexes0003 extends SqlMigration {
  readonly name = '0003-reference-indexes';

  readonly sql = `
CREATE INDEX px_pipeline_versions_body ON pipeline_versions USING gin (body_json jsonb_path_ops) WITH (fastupdate = off);
CREATE INDEX px_template_versions_imports ON template_versions USING gin (imports_json jsonb_path_ops) WITH (fastupdate = off);
`;
}
