import { Injectable } from '@nestjs/common';
import { isUuid, writeJson } from '#libs/kernel';
import {
  EntityBrowse,
  pageStatement,
  PIPELINE_TABLES,
  statusPredicate,
  type BrowsedFamily,
  type EntityFilter,
} from '#libs/lifecycle';
import { Database } from '#libs/persistence';
import type { PipelineSummaryRow } from './pipeline-views.js';

export interface PipelineFilter extends EntityFilter {
  /** A user's id; any other text matches nothing. */
  owner?: string | undefined;
  /** Name of a datasource the working version reads from or writes to. */
  datasource?: string | undefined;
}

const COLUMNS = `e.id, e.name, e.display_name AS "displayName", e.description, e.owner_id AS owner,
  e.current_version AS "currentVersion", e.created_at AS "createdAt", e.updated_at AS "updatedAt",
  w.version, w.status, w.body_hash AS "bodyHash"`;

const FAMILY: BrowsedFamily<PipelineFilter> = {
  tables: PIPELINE_TABLES,
  columns: COLUMNS,
  predicates({ owner, datasource }, values) {
    const parts: string[] = [];
    if (owner) parts.push(isUuid(owner) ? `e.owner_id = $${values.push(owner)}` : 'FALSE');
    if (datasource) {
      const reads = values.push(writeJson({ nodes: [{ source: datasource }] }));
      const writes = values.push(writeJson({ nodes: [{ output: { datasource } }] }));
      parts.push(`(w.body_json @> $${reads}::jsonb OR w.body_json @> $${writes}::jsonb)`);
    }
    return parts;
  },
};

@Injectable()
export class PipelineBrowseRepository extends EntityBrowse<PipelineSummaryRow, PipelineFilter> {
  constructor(database: Database) {
    super(database, FAMILY);
  }

  /** Several by id, whatever their status, in one statement. */
  async among(workspaceId: string, ids: readonly string[]): Promise<(PipelineSummaryRow & { live: boolean })[]> {
    const columns = `${COLUMNS}, ${statusPredicate(PIPELINE_TABLES, 'ACTIVE')} AS live`;
    const where = 'e.workspace_id = $1 AND e.id = ANY($2::uuid[])';
    const selection = { tables: PIPELINE_TABLES, columns, where, values: [workspaceId, ids.filter(isUuid)] };
    return this.rows(pageStatement(selection, { offset: 0, limit: ids.length }));
  }
}
