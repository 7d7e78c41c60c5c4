import { keysetItems, type KeysetListing, type KeysetPage } from '#libs/kernel/pure';
import {
  countStatement,
  folder,
  foldersStatement,
  keysetStatement,
  levelPredicate,
  searchPattern,
  searchPredicate,
  type Folder,
  type Selection,
} from './browse.js';
import { orderedItems, orderedStatement, type BrowseOrder, type Placed } from './browse-order.js';
import { isBrowsePrefix } from './folder-path.js';
import type { Statement, VersionedTables } from './statements.js';
import type { EntityStatus } from './version-state.js';

/** Runs a statement of ours. */
export interface StatementRunner {
  query<R>(sql: string, params?: readonly unknown[]): Promise<R[]>;
}

/** What lists of every family of versioned entities may be narrowed by. */
export interface EntityFilter {
  /** Substring of path, display name or description, in any case. */
  q?: string | undefined;
  /** Default ACTIVE. */
  status?: EntityStatus | undefined;
}

/** What is a family's own in its lists. */
export interface BrowsedFamily<Filter> {
  tables: VersionedTables;
  /** Over `e` (the entity) and `w` (its working version). */
  columns: string;
  /** Predicates of the filters that only this family has; each pushes its values and names them by their places. */
  predicates(filter: Filter, values: unknown[]): string[];
}

/** One level of the tree. Its folders, which count their whole subtrees, and its total are read when they are asked for. */
export interface BrowsedLevel<Row> extends KeysetListing<Row> {
  folders(): Promise<Folder[]>;
  count(): Promise<number>;
}

/** Lists, searches and tree levels of versioned entities, filtered and paged in the database (contract 05 §2). */
export class EntityBrowse<Row extends Placed, Filter extends EntityFilter> {
  constructor(
    private readonly database: StatementRunner,
    private readonly family: BrowsedFamily<Filter>,
  ) {}

  /** `after` and `before` are names. */
  async keyset(workspaceId: string, filter: Filter, page: KeysetPage): Promise<KeysetListing<Row>> {
    return keysetItems(await this.rows(keysetStatement(this.#filtered(workspaceId, filter), page)), page);
  }

  /** As `keyset`, in an order: `after` and `before` are the cursors of items. */
  async ordered(
    workspaceId: string,
    filter: Filter,
    order: BrowseOrder,
    page: KeysetPage,
  ): Promise<KeysetListing<{ row: Row; cursor: string }>> {
    const rows = await this.rows(orderedStatement(this.#filtered(workspaceId, filter), order, page));
    return orderedItems(rows, order, page);
  }

  async count(workspaceId: string, filter: Filter): Promise<number> {
    return this.#count(this.#filtered(workspaceId, filter));
  }

  /** What stands directly in a folder, by key: `after` and `before` are names. An unknown or illegal prefix is empty. */
  async level(workspaceId: string, prefix: string, status: EntityStatus, page: KeysetPage): Promise<BrowsedLevel<Row>> {
    if (!isBrowsePrefix(prefix)) {
      const nothing = { folders: () => Promise.resolve([]), count: () => Promise.resolve(0) };
      return { items: [], hasNext: false, hasPrevious: false, ...nothing };
    }
    const selection = this.#inFolder(workspaceId, prefix, status);
    return {
      ...keysetItems(await this.rows(keysetStatement(selection, page)), page),
      folders: async () => (await this.#folders(workspaceId, prefix, status)).map((row) => folder(prefix, row)),
      count: () => this.#count(selection),
    };
  }

  /** Top-level folders that hold anything, discarded entries too. */
  async roots(workspaceId: string): Promise<string[]> {
    const [active, discarded] = await Promise.all([
      this.#folders(workspaceId, '', 'ACTIVE'),
      this.#folders(workspaceId, '', 'DISCARDED'),
    ]);
    return [...new Set([...active, ...discarded].map(({ segment }) => segment))].sort();
  }

  protected rows<R = Row>({ sql, values }: Statement): Promise<R[]> {
    return this.database.query<R>(sql, values);
  }

  #folders(workspaceId: string, prefix: string, status: EntityStatus): Promise<{ segment: string; count: number }[]> {
    return this.rows(foldersStatement(this.family.tables, workspaceId, prefix, status));
  }

  async #count(selection: Selection): Promise<number> {
    const [row] = await this.rows<{ total: number }>(countStatement(selection));
    return row?.total ?? 0;
  }

  #inFolder(workspaceId: string, prefix: string, status: EntityStatus): Selection {
    const { tables, columns } = this.family;
    const level = levelPredicate(prefix, 2);
    const where = `e.workspace_id = $1 AND ${level.sql}`;
    return { tables, columns, where, status, values: [workspaceId, ...level.values] };
  }

  #filtered(workspaceId: string, filter: Filter): Selection {
    const { tables, columns } = this.family;
    const values: unknown[] = [workspaceId];
    const parts = ['e.workspace_id = $1', ...this.family.predicates(filter, values)];
    if (filter.q) parts.push(searchPredicate(values.push(searchPattern(filter.q))));
    return { tables, columns, where: parts.join(' AND '), status: filter.status ?? 'ACTIVE', values };
  }
}
