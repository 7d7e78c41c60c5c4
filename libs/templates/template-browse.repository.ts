import { Injectable } from '@nestjs/common';
import { keysetItems, type KeysetListing, type KeysetPage } from '#libs/kernel';
import {
  countStatement,
  foldersStatement,
  keysetStatement,
  levelPredicate,
  orderedItems,
  orderedStatement,
  pageStatement,
  searchPattern,
  searchPredicate,
  statusPredicate,
  TEMPLATE_TABLES,
  type BrowseOrder,
  type EntityStatus,
  type Selection,
  type Statement,
} from '#libs/lifecycle';
import { Database } from '#libs/persistence';
import type { TemplateSummaryRow } from './template-views.js';

export interface TemplateFilter {
  /** Dialect of the working version; a word that is none matches nothing. */
  dialect?: string | undefined;
  /** Libraries only, or only what is none. */
  isLibrary?: boolean | undefined;
  /** Substring of path, display name or description, in any case. */
  q?: string | undefined;
  /** Default ACTIVE. */
  status?: EntityStatus | undefined;
}

const COLUMNS = `e.name, e.display_name AS "displayName", e.description, e.current_version AS "currentVersion",
  e.created_at AS "createdAt", e.created_by AS "createdBy", e.updated_at AS "updatedAt",
  w.version, w.status, w.body_hash AS "bodyHash", w.dialect, w.is_library AS "isLibrary"`;

/** Lists, searches and tree levels, filtered and paged in the database. */
@Injectable()
export class TemplateBrowseRepository {
  constructor(private readonly database: Database) {}

  /** `after` and `before` are names. */
  async keyset(
    workspaceId: string,
    filter: TemplateFilter,
    page: KeysetPage,
  ): Promise<KeysetListing<TemplateSummaryRow>> {
    return keysetItems(await this.#rows(keysetStatement(filtered(workspaceId, filter), page)), page);
  }

  /** As `keyset`, in an order: `after` and `before` are the cursors of items. */
  async ordered(
    workspaceId: string,
    filter: TemplateFilter,
    order: BrowseOrder,
    page: KeysetPage,
  ): Promise<KeysetListing<{ row: TemplateSummaryRow; cursor: string }>> {
    const rows = await this.#rows(orderedStatement(filtered(workspaceId, filter), order, page));
    return orderedItems(rows, order, page);
  }

  /** The entries that stand directly in a folder, by key: `after` and `before` are names. */
  async levelKeyset(
    workspaceId: string,
    prefix: string,
    status: EntityStatus,
    page: KeysetPage,
  ): Promise<KeysetListing<TemplateSummaryRow>> {
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
    const { sql, values } = foldersStatement(TEMPLATE_TABLES, workspaceId, prefix, status);
    return this.database.query(sql, values);
  }

  /** Several by name, whatever their status, in one statement. */
  async among(workspaceId: string, names: readonly string[]): Promise<(TemplateSummaryRow & { live: boolean })[]> {
    const columns = `${COLUMNS}, ${statusPredicate(TEMPLATE_TABLES, 'ACTIVE')} AS live`;
    const where = 'e.workspace_id = $1 AND e.name = ANY($2::text[])';
    const { sql, values } = pageStatement(
      { tables: TEMPLATE_TABLES, columns, where, values: [workspaceId, names] },
      { offset: 0, limit: names.length },
    );
    return this.database.query(sql, values);
  }

  async count(workspaceId: string, filter: TemplateFilter): Promise<number> {
    return this.#count(filtered(workspaceId, filter));
  }

  #rows({ sql, values }: Statement): Promise<TemplateSummaryRow[]> {
    return this.database.query<TemplateSummaryRow>(sql, values);
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
  return { tables: TEMPLATE_TABLES, columns: COLUMNS, where, status, values: [workspaceId, ...level.values] };
}

function filtered(workspaceId: string, filter: TemplateFilter): Selection {
  const values: unknown[] = [workspaceId];
  const parts = ['e.workspace_id = $1'];
  const status = filter.status ?? 'ACTIVE';
  if (filter.dialect) parts.push(`w.dialect = $${values.push(filter.dialect)}`);
  if (filter.isLibrary !== undefined) parts.push(`w.is_library = $${values.push(filter.isLibrary)}`);
  if (filter.q) parts.push(searchPredicate(values.push(searchPattern(filter.q))));
  return { tables: TEMPLATE_TABLES, columns: COLUMNS, where: parts.join(' AND '), status, values };
}
