import { Injectable } from '@nestjs/common';

import { isPenstockError, PenstockError, type Principal } from '#libs/kernel';
import { quoteIdentifier, type Dialect } from '#libs/typesystem';

import { DriverFailure } from '../drivers/driver-failure.js';
import { CatalogReader, resolveTable, type TableAddress } from '../introspection/catalog-reader.js';
import type { CatalogColumn } from '../introspection/introspection.js';
import { nearest } from '../properties/nearest.js';
import { AuthorRead } from './author-read.js';
import { refusedArgument } from './probe-arguments.js';
import { previewView, type PreviewView } from './probe-view.js';

export interface PreviewRequest extends TableAddress {
  order_by?: readonly { column: string; direction?: 'ASC' | 'DESC' | undefined }[] | undefined;
  /** 1–500, 50 unless told. */
  limit?: number | undefined;
}

const LIMIT = { preset: 50, most: 500 };
const TIMEOUT_MS = 10_000;
const MAX_ORDER = 32;

/** The first rows of a listed table. Every name comes from the listing and is quoted; none is written as it was sent. */
@Injectable()
export class RowPreview {
  constructor(
    private readonly catalogs: CatalogReader,
    private readonly reads: AuthorRead,
  ) {}

  /** @throws as a probe; 404 `datasource.table_not_found` with a suggestion */
  async read(principal: Principal, name: string, request: PreviewRequest, gaveUp?: AbortSignal): Promise<PreviewView> {
    const source = await this.catalogs.visible(principal, 'datasource.probe', name);
    const { limit = LIMIT.preset, order_by: order = [] } = request;
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > LIMIT.most)
      throw refusedArgument('limit', 'field', `“limit” must be a whole number of 1 to ${LIMIT.most}.`);
    if (order.length > MAX_ORDER)
      throw refusedArgument('order_by', 'too_many', `“order_by” takes at most ${MAX_ORDER} columns.`);
    const { table, path, columns } = await this.catalogs.read(source, gaveUp, async (catalog) => {
      const found = await resolveTable(catalog, request);
      const { introspection } = catalog.driver;
      return {
        table: found,
        path: introspection.pathOf?.(found) ?? [...found.namespace, found.name],
        columns: await introspection.columns(catalog.query, found),
      };
    });
    const sorted = order.map((by, index) => sortedBy(source.dialect, columns, by, index));
    const sql = previewSql(source.dialect, path, columns, sorted, limit + 1);
    const statement = { sql, binds: new Map(), maxRows: limit, timeoutMs: TIMEOUT_MS, explain: false };
    try {
      return previewView(await this.reads.run(principal, source, 'preview_rows', statement, gaveUp));
    } catch (error) {
      throw isPenstockError(error) && isForbidden(error.cause)
        ? new PenstockError('datasource.table_forbidden', { details: { datasource: name, table: table.name } })
        : error;
    }
  }
}

function isForbidden(cause: unknown): boolean {
  return cause instanceof DriverFailure && cause.kind === 'permission';
}

function sortedBy(
  dialect: Dialect,
  columns: readonly CatalogColumn[],
  { column, direction = 'ASC' }: { column: string; direction?: 'ASC' | 'DESC' | undefined },
  index: number,
): string {
  const field = `order_by.${index}`;
  if (direction !== 'ASC' && direction !== 'DESC')
    throw refusedArgument(`${field}.direction`, 'field', `“${field}.direction” must be ASC or DESC.`);
  const names = columns.map(({ name }) => name);
  if (names.includes(column)) return `${quoteIdentifier(dialect, column)} ${direction}`;
  const suggestion = nearest(String(column), names);
  const meant = suggestion === undefined ? ` It has: ${someOf(names)}.` : ` Did you mean “${suggestion}”?`;
  throw refusedArgument(`${field}.column`, 'unknown_column', `“${field}.column” names no column of the table.${meant}`);
}

const NAMES_SHOWN = 20;

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return names.length > NAMES_SHOWN ? `${shown} and ${names.length - NAMES_SHOWN} more` : shown;
}

function previewSql(
  dialect: Dialect,
  path: readonly string[],
  columns: readonly CatalogColumn[],
  sorted: readonly string[],
  rows: number,
): string {
  // Where no column may be read, the database says so itself: an empty answer would be a lie.
  const list = columns.map((column) => quoteIdentifier(dialect, column.name)).join(', ') || '*';
  const from = path.map((part) => quoteIdentifier(dialect, part)).join('.');
  const order = sorted.length === 0 ? '' : ` ORDER BY ${sorted.join(', ')}`;
  switch (dialect) {
    case 'MSSQL':
      return `SELECT TOP (${rows}) ${list} FROM ${from}${order}`;
    case 'ORACLE':
      return `SELECT ${list} FROM ${from}${order} FETCH FIRST ${rows} ROWS ONLY`;
    default:
      return `SELECT ${list} FROM ${from}${order} LIMIT ${rows}`;
  }
}
