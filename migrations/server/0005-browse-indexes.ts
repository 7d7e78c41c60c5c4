import { SqlMigration } from './sql-migration.js';

/** Counting a subtree reads one index and no rows: the pointer in it tells of almost every entity that it is active. */
export class BrowseIndexes0005 extends SqlMigration {
  readonly name = '0005-browse-indexes';

  readonly sql = `
DROP INDEX px_pipelines_folder;
CREATE INDEX px_pipelines_folder ON pipelines(workspace_id, (left(name, -strpos(reverse(name), '/')) COLLATE "C"), name COLLATE "C") INCLUDE (id, current_version);
DROP INDEX px_templates_folder;
CREATE INDEX px_templates_folder ON templates(workspace_id, (left(name, -strpos(reverse(name), '/')) COLLATE "C"), name COLLATE "C") INCLUDE (id, current_version);
CREATE INDEX px_pipeline_versions_live ON pipeline_versions(pipeline_id) WHERE status <> 'DISCARDED';
CREATE INDEX px_template_versions_live ON template_versions(template_id) WHERE status <> 'DISCARDED';
`;
}
