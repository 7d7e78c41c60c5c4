import { Injectable } from '@nestjs/common';
import { DatasourceReferences } from '#libs/datasources';
import { writeJson } from '#libs/kernel';
import { PIPELINE_TABLES, workingJoin } from '#libs/lifecycle';
import { Database, type Queryable } from '#libs/persistence';
import { TemplatePins, type TemplatePinReference, type TemplatePinReport, type WorkingPin } from '#libs/templates';

interface DatasourceReferenceRow {
  pipeline: string;
  pipeline_id: string;
  workspace_id: string;
  node_id: string | null;
  check_id: string | null;
  pipeline_version: number;
  version_status: string;
}

/** Which stored pipeline versions, of any status, name a datasource: as source, write-back target or in a check. */
@Injectable()
export class PipelineDatasourceReferences extends DatasourceReferences {
  async references(tx: Queryable, name: string, visibleWorkspaceIds: readonly string[]) {
    const rows = await tx.query<DatasourceReferenceRow>(
      `SELECT p.name AS pipeline, p.id AS pipeline_id, p.workspace_id, u.node_id, u.check_id,
              v.version AS pipeline_version, v.status AS version_status
         FROM pipeline_versions v
         JOIN pipelines p ON p.id = v.pipeline_id
        CROSS JOIN LATERAL (
          SELECT n->>'id' AS node_id, NULL AS check_id FROM jsonb_array_elements(v.body_json->'nodes') AS n
           WHERE n->>'source' = $1 OR n->'output'->>'datasource' = $1
          UNION ALL
          SELECT NULL, c->>'id' FROM jsonb_array_elements(v.body_json->'checks') AS c
           WHERE c->>'datasource' = $1) AS u
        WHERE v.body_json @> $2::jsonb OR v.body_json @> $3::jsonb OR v.body_json @> $4::jsonb
        ORDER BY p.name COLLATE "C", v.version, u.node_id, u.check_id`,
      [
        name,
        writeJson({ nodes: [{ source: name }] }),
        writeJson({ nodes: [{ output: { datasource: name } }] }),
        writeJson({ checks: [{ datasource: name }] }),
      ],
    );
    const visible = new Set(visibleWorkspaceIds);
    const shown = rows.filter((row) => visible.has(row.workspace_id));
    return {
      references: shown.map(({ pipeline, pipeline_id, node_id, check_id, pipeline_version, version_status }) => ({
        pipeline,
        pipeline_id,
        pipeline_version,
        version_status,
        ...(node_id === null ? {} : { node_id }),
        ...(check_id === null ? {} : { check_id }),
      })),
      hidden: rows.length - shown.length,
    };
  }
}

/** Which stored pipeline versions, of any status, pin a template. */
@Injectable()
export class PipelineTemplatePins extends TemplatePins {
  constructor(private readonly database: Database) {
    super();
  }

  async pinsOf(tx: Queryable, workspaceId: string, templateName: string, version?: number): Promise<TemplatePinReport> {
    const references = await tx.query<TemplatePinReference>(
      `SELECT p.name AS pipeline, p.id AS pipeline_id, n->>'id' AS node_id, v.version AS pipeline_version,
              v.status AS pipeline_version_status, (n->'template'->>'version')::int AS template_version
         FROM pipelines p
         JOIN pipeline_versions v ON v.pipeline_id = p.id
        CROSS JOIN LATERAL jsonb_array_elements(v.body_json->'nodes') AS n
        WHERE v.body_json @> $4::jsonb AND p.workspace_id = $1 AND n->'template'->>'id' = $2
          AND ($3::int IS NULL OR n->'template'->'version' = to_jsonb($3::int))
        ORDER BY p.name COLLATE "C", v.version, n->>'id'`,
      [workspaceId, templateName, version ?? null, writeJson({ nodes: [{ template: { id: templateName } }] })],
    );
    return { referencing_pipelines: [...new Set(references.map(({ pipeline }) => pipeline))], references };
  }

  async usedBy(workspaceId: string, templateName: string, version: number): Promise<WorkingPin[]> {
    return this.database.query<WorkingPin>(
      `SELECT e.name AS pipeline, e.id AS pipeline_id, n->>'id' AS node_id, w.version AS pipeline_version,
              w.status AS pipeline_version_status
         FROM pipelines e ${workingJoin(PIPELINE_TABLES)}
        CROSS JOIN LATERAL jsonb_array_elements(w.body_json->'nodes') AS n
        WHERE e.workspace_id = $1
          AND e.id IN (SELECT v.pipeline_id FROM pipeline_versions v WHERE v.body_json @> $3::jsonb)
          AND n->'template' @> $2::jsonb
        ORDER BY e.name COLLATE "C", n->>'id'`,
      [
        workspaceId,
        writeJson({ id: templateName, version }),
        writeJson({ nodes: [{ template: { id: templateName, version } }] }),
      ],
    );
  }
}
