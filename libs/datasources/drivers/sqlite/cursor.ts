import { mapSqliteDeclaredType, mapSqliteStorageClass, type Column, type ColumnBatch } from '#libs/typesystem';

import { cancelled } from '../driver-failure.js';
import type { BoundStatement, Cursor, MappingWarning } from '../driver.js';
import type { SqliteConnection } from './connection.js';
import type { SqliteColumn, SqliteReply, SqliteValue } from './protocol.js';
import { columnVector, storageClassOf } from './values.js';

/** Rows per message of the child: it works on the next one while this one is consumed (06 §2). */
const MESSAGE_ROWS = 500;
/** A message aims at so many bytes: wide rows make shorter ones, so that memory is bounded by bytes too. */
const MESSAGE_BYTES = 4 * 1024 * 1024;
/** Rows that are kept back to find an expression's type weigh no more than this together. */
const SAMPLE_BYTES = 32 * 1024 * 1024;
/** An expression column takes the storage class of its first value within so many rows (01 §6.3). */
const SAMPLE_ROWS = 1000;

type Slice = Extract<SqliteReply, { op: 'fetch' }>;

export async function openSqliteCursor(
  connection: SqliteConnection,
  statement: BoundStatement,
  signal: AbortSignal,
): Promise<Cursor> {
  const { columns } = await connection.ask(
    {
      op: 'cursor',
      sql: statement.sql,
      values: statement.values.map(sqliteValue),
      rows: MESSAGE_ROWS,
      bytes: MESSAGE_BYTES,
    },
    signal,
  );
  const sample: Slice[] = [];
  const untyped = columns.flatMap(({ origin }, index) => (origin === null ? [index] : []));
  let rows = 0;
  let bytes = 0;
  while (rows < SAMPLE_ROWS && bytes < SAMPLE_BYTES && !settled(untyped, sample)) {
    const slice = await connection.ask({ op: 'fetch' }, signal);
    sample.push(slice);
    rows += slice.rowCount;
    bytes += slice.bytes;
    if (slice.done) break;
  }
  return new SqliteCursor(
    connection,
    columns.map((column, index) => describe(column, index, sample)),
    sample,
  );
}

class SqliteCursor implements Cursor {
  readonly columns: readonly Column[];
  readonly warnings: readonly MappingWarning[] = [];
  readonly #connection: SqliteConnection;
  readonly #sampled: Slice[];
  #ahead: Promise<Slice> | null = null;
  #rows = 0;
  #over = false;

  constructor(connection: SqliteConnection, columns: readonly Column[], sampled: Slice[]) {
    this.#connection = connection;
    this.columns = columns;
    this.#sampled = sampled;
  }

  async next(signal: AbortSignal): Promise<ColumnBatch | null> {
    if (signal.aborted) throw cancelled(signal);
    if (this.#over) return null;
    const slice = this.#sampled.shift() ?? (await this.#fetched(signal));
    if (slice.done) this.#over = true;
    else if (this.#sampled.length === 0) this.#fetchAhead();
    if (slice.rowCount === 0) return null;
    const vectors = this.columns.map((column, index) => columnVector(column, slice.columns[index] ?? [], this.#rows));
    this.#rows += slice.rowCount;
    return { rowCount: slice.rowCount, vectors };
  }

  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    // The child may be deep in the query: only killing it stops that.
    if (this.#ahead) this.#connection.destroy();
    else
      await this.#connection
        .ask({ op: 'closeCursor' }, new AbortController().signal)
        .catch(() => this.#connection.destroy());
  }

  async #fetched(signal: AbortSignal): Promise<Slice> {
    const ahead = this.#ahead ?? this.#connection.ask({ op: 'fetch' }, signal);
    this.#ahead = null;
    return await this.#connection.stoppable(ahead, signal);
  }

  #fetchAhead(): void {
    this.#ahead = this.#connection.ask({ op: 'fetch' }, new AbortController().signal);
    this.#ahead.catch(() => undefined);
  }
}

function firstValue(index: number, sample: readonly Slice[]): SqliteValue {
  for (const slice of sample) {
    const found = slice.columns[index]?.find((value) => value !== null);
    if (found !== undefined) return found;
  }
  return null;
}

function settled(untyped: readonly number[], sample: readonly Slice[]): boolean {
  return untyped.every((index) => firstValue(index, sample) !== null);
}

function describe({ name, origin, declaredType }: SqliteColumn, index: number, sample: readonly Slice[]): Column {
  if (origin === null) return { name, ...mapSqliteStorageClass(storageClassOf(firstValue(index, sample))).type };
  return {
    name,
    ...mapSqliteDeclaredType(declaredType).type,
    ...(declaredType === null ? {} : { sourceType: declaredType }),
  };
}

/** Bound values as SQLite takes them; booleans are 0 and 1 (01 §4.4). */
export function sqliteValue(value: unknown): SqliteValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number') return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError('a bound value must be text, bytes, a number or a boolean');
}
