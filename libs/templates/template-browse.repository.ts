import { Injectable } from '@nestjs/common';
import {
  EntityBrowse,
  pageStatement,
  statusPredicate,
  TEMPLATE_TABLES,
  type BrowsedFamily,
  type EntityFilter,
} from '#libs/lifecycle';
import { Database } from '#libs/persistence';
import type { TemplateSummaryRow } from './template-views.js';

export interface TemplateFilter extends EntityFilter {
  /** Dialect of the working version; a word that is none matches nothing. */
  dialect?: string | undefined;
  /** Libraries only, or only what is none. */
  isLibrary?: boolean | undefined;
}

const COLUMNS = `e.name, e.display_name AS "displayName", e.description, e.current_version AS "currentVersion",
  e.created_at AS "createdAt", e.created_by AS "createdBy", e.updated_at AS "updatedAt",
  w.version, w.status, w.body_hash AS "bodyHash", w.dialect, w.is_library AS "isLibrary"`;

const FAMILY: BrowsedFamily<TemplateFilter> = {
  tables: TEMPLATE_TABLES,
  columns: COLUMNS,
  predicates({ dialect, isLibrary }, values) {
    const parts: string[] = [];
    if (dialect) parts.push(`w.dialect = $${values.push(dialect)}`);
    if (isLibrary !== undefined) parts.push(`w.is_library = $${values.push(isLibrary)}`);
    return parts;
  },
};

@Injectable()
export class TemplateBrowseRepository extends EntityBrowse<TemplateSummaryRow, TemplateFilter> {
  constructor(database: Database) {
    super(database, FAMILY);
  }

  /** Several by name, whatever their status, in one statement. */
  async among(workspaceId: string, names: readonly string[]): Promise<(TemplateSummaryRow & { live: boolean })[]> {
    const columns = `${COLUMNS}, ${statusPredicate(TEMPLATE_TABLES, 'ACTIVE')} AS live`;
    const where = 'e.workspace_id = $1 AND e.name = ANY($2::text[])';
    const selection = { tables: TEMPLATE_TABLES, columns, where, values: [workspaceId, names] };
    return this.rows(pageStatement(selection, { offset: 0, limit: names.length }));
  }
}
