import { Injectable } from '@nestjs/common';
import { isUuid, keysetItems, writeJson, type KeysetListing, type KeysetPage } from '#libs/kernel';
import {
  countStatement,
  foldersStatement,
  keysetStatement,
  levelPredicate,
  orderedItems,
  orderedStatement,
  pageStatement,
  PIPELINE_TABLES,
  searchPattern,
  searchPredicate,
  statusPredicate,
  type BrowseOrder,
  type EntityStatus,
  type Selection,
  type Statement,
} from '#libs/lifecycle';
import { Database } from '#libs/persistence';
import type { PipelineSummaryRow } from './pipeline-views.js';

export interface PipelineFilter {
  /** A user's id; any other text matches nothing. */
  owner?: string | undefined;
  /** Name of a datasource the working version reads from or writes to. */
  datasource?: string | undefined;
  /** Substring of path, display name or description, in any case. */
  q?: string | undefined;
  /** Default ACTIVE. */
  status?: EntityStatus | undefined;
}

const COLUMNS = `e.id, e.name, e.display_name AS "displayName", e.description, e.owner_id AS owner,
  e.current_version AS "currentVersion", e.created_at AS "createdAt", e.updated_at AS "updatedAt",
  w.version, w.status, w.body_hash AS "bodyHash"`;

/** Lists, searches and tree levels, filtered and paged in the database. */
@Injectable()
export class PipelineBrowseRepository {
  constructor(private readonly database: Database) {}

  /** `after` and `before` are names. */
  async keyset(
    workspaceId: string,
    filter: PipelineFilter,
    page: KeysetPage,
  ): Promise<KeysetListing<PipelineSummaryRow>> {
    return keysetItems(await this.#rows(keysetStatement(filtered(workspaceId, filter), page)), page);
  }

  /** As `keyset`, in an order: `after` and `before` are the cursors of items. */
  async ordered(
    workspaceId: string,
    filter: PipelineFilter,
    order: BrowseOrder,
    page: KeysetPage,
  ): Promise<KeysetListing<{ row: PipelineSummaryRow; cursor: string }>> {
    const rows = await this.#rows(orderedStatement(filtered(workspaceId, filter), order, page));
    return orderedItems(rows, order, page);
  }

  /** The entries that stand directly in a folder, by key: `after` and `before` are names. */
  async levelKeyset(
    workspaceId: string,
    prefix: string,
    status: EntityStatus,
    page: KeysetPage,
  ): Promise<KeysetListing<PipelineSummaryRow>> {
    return keysetItems(await this.#rows(keysetStatement(levelSelection(workspaceId, prefix, status), page)), page);
  }

  async levelCount(workspaceId: string, prefix: string, status: EntityStatus): Promise<number> {
    return this.#count(levelSelection(workspaceId, prefix, status));
  }

  /** Top-level folders that hold anything, discarded entries too. */
  async roots(workspaceId: string): Promise<string[]> {
    const [active, discarded] = await Promise.all([
      this.folders(workspaceId, '', 'ACTIVE'),
      this.folders(workspaceId, '', 'DISCARDED'),
    ]);
    return [...new Set([...active, ...discarded].map(({ segment }) => segment))].sort();
  }

  /** The folders that stand directly in a folder, each with what its whole subtree holds. */
  async folders(
    workspaceId: string,
    prefix: string,
    status: EntityStatus,
  ): Promise<{ segment: string; count: number }[]> {
    const { sql, values } = foldersStatement(PIPELINE_TABLES, workspaceId, prefix, status);
    return this.database.query(sql, values);
  }

  /** Several by id, whatever their status, in one statement. */
  async among(workspaceId: string, ids: readonly string[]): Promise<(PipelineSummaryRow & { live: boolean })[]> {
    const columns = `${COLUMNS}, ${statusPredicate(PIPELINE_TABLES, 'ACTIVE')} AS live`;
    const where = 'e.workspace_id = $1 AND e.id = ANY($2::uuid[])';
    const { sql, values } = pageStatement(
      { tables: PIPELINE_TABLES, columns, where, values: [workspaceId, ids.filter(isUuid)] },
      { offset: 0, limit: ids.length },
    );
    return this.database.query(sql, values);
  }

  async count(workspaceId: string, filter: PipelineFilter): Promise<number> {
    return this.#count(filtered(workspaceId, filter));
  }

  #rows({ sql, values }: Statement): Promise<PipelineSummaryRow[]> {
    return this.database.query<PipelineSummaryRow>(sql, values);
  }

  async #count(selection: Selection): Promise<number> {
    const { sql, values } = countStatement(selection);
    const [row] = await this.database.query<{ total: number }>(sql, values);
    return row?.total ?? 0;
  }
}

function levelSelection(workspaceId: string, prefix: string, status: EntityStatus): Selection {
  const level = levelPredicate(prefix, 2);
  const where = `e.workspace_id = $1 AND ${level.sql}`;
  return { tables: PIPELINE_TABLES, columns: COLUMNS, where, status, values: [workspaceId, ...level.values] };
}

function filtered(workspaceId: string, filter: PipelineFilter): Selection {
  const values: unknown[] = [workspaceId];
  const parts = ['e.workspace_id = $1'];
  const status = filter.status ?? 'ACTIVE';
  if (filter.owner) parts.push(isUuid(filter.owner) ? `e.owner_id = $${values.push(filter.owner)}` : 'FALSE');
  if (filter.datasource) {
    const reads = values.push(writeJson({ nodes: [{ source: filter.datasource }] }));
    const writes = values.push(writeJson({ nodes: [{ output: { datasource: filter.datasource } }] }));
    parts.push(`(w.body_json @> $${reads}::jsonb OR w.body_json @> $${writes}::jsonb)`);
  }
  if (filter.q) parts.push(searchPredicate(values.push(searchPattern(filter.q))));
  return { tables: PIPELINE_TABLES, columns: COLUMNS, where: parts.join(' AND '), status, values };
}
