import {
  createVector,
  encodeBatchRows,
  WireIssues,
  type Column,
  type ColumnBatch,
  type ColumnVector,
} from '#libs/typesystem';

import type { Cursor, DriverConnection } from './driver.js';

export const NEVER = new AbortController().signal;

export interface Collected {
  columns: readonly Column[];
  /** Rows as the wire shows them: exact texts, so a rounded digit cannot hide. */
  rows: string[];
  /** Names of columns with values that have no wire form, and how many. */
  unrepresentable: Record<string, number>;
  batches: number[];
}

/** Reads a cursor to its end. */
export async function collect(cursor: Cursor, signal: AbortSignal = NEVER): Promise<Collected> {
  const issues = new WireIssues();
  const rows: string[] = [];
  const batches: number[] = [];
  for (let batch = await cursor.next(signal); batch; batch = await cursor.next(signal)) {
    rows.push(...encodeBatchRows(cursor.columns, batch, issues));
    batches.push(batch.rowCount);
  }
  await cursor.close();
  const warnings = issues.warnings(cursor.columns);
  return {
    columns: cursor.columns,
    rows,
    unrepresentable: Object.fromEntries(warnings.map(({ column, count }) => [column, count])),
    batches,
  };
}

export async function rowsOf(connection: DriverConnection, sql: string, values: unknown[] = []): Promise<Collected> {
  return await collect(await connection.openCursor({ sql, values }, { fetchSize: 1000, signal: NEVER }));
}

/** The sizes of a cursor's batches, of rows that nobody looks at. */
export async function sizesOf(cursor: Cursor): Promise<number[]> {
  const sizes: number[] = [];
  for (let batch = await cursor.next(NEVER); batch; batch = await cursor.next(NEVER)) sizes.push(batch.rowCount);
  await cursor.close();
  return sizes;
}

/** One cell's text of a one-row, one-column query. */
export async function cellOf(connection: DriverConnection, sql: string, values: unknown[] = []): Promise<string> {
  const { rows } = await rowsOf(connection, sql, values);
  return (rows[0] ?? '').slice(1, -1);
}

/** Waits until `check` holds; gives up after ten seconds. */
export async function eventually(check: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** Rows as a batch; each value in the form its vector holds. */
export function batchOf(columns: readonly Column[], rows: readonly (readonly unknown[])[]): ColumnBatch {
  const vectors = columns.map((column, index) => {
    const vector: ColumnVector = createVector(column, rows.length);
    rows.forEach((row, at) => {
      if (row[index] === null) vector.nulls[at] = 1;
      else if (vector.data) (vector.data as unknown[])[at] = row[index];
    });
    return vector;
  });
  return { rowCount: rows.length, vectors };
}
