import { SqlMigration } from './sql-migration.js';

/**
 * Who pins a template, imports a library or names a datasource is asked of JSON, and a folder is only the front of a
 * name: plans of neither may read every row.
 */
export class ReferenceIndexes0003 extends SqlMigration {
  readonly name = '0003-reference-indexes';

  readonly sql = `
CREATE INDEX px_pipeline_versions_body ON pipeline_versions USING gin (body_json jsonb_path_ops) WITH (fastupdate = off);
CREATE INDEX px_template_versions_imports ON template_versions USING gin (imports_json jsonb_path_ops) WITH (fastupdate = off);
CREATE INDEX px_pipelines_name ON pipelines(workspace_id, name COLLATE "C");
CREATE INDEX px_pipelines_folder ON pipelines(workspace_id, (left(name, -strpos(reverse(name), '/')) COLLATE "C"), name COLLATE "C");
CREATE INDEX px_templates_name ON templates(workspace_id, name COLLATE "C");
CREATE INDEX px_templates_folder ON templates(workspace_id, (left(name, -strpos(reverse(name), '/')) COLLATE "C"), name COLLATE "C");
`;
}
