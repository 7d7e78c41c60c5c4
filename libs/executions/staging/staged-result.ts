import { PenstockError } from '#libs/kernel';
import type { Column, ColumnBatch } from '#libs/typesystem';
import { batchBytes } from './batch-bytes.js';
import { ChunkReader } from './chunk-reader.js';
import { quoteName } from './labels.js';
import { readableColumn } from './readable-column.js';
import { RowWidths } from './row-widths.js';
import { INTERNAL_SCHEMA } from './staging-engine.js';
import type { StagingConnection } from './staging-connection.js';
import { describeQuery, runCounted, type StagingStatement } from './staging-statement.js';

const NEVER = new AbortController().signal;
/** Rows of one native call: few until their width is known, then as many as make a call worth its cost. */
const FIRST_ROWS = 128;
const MOST_ROWS = 20_480;
const RANGE_BYTES = 8 * 1024 * 1024;
const GROWTH = 8;

/**
 * The rows of a query over staged tables, materialised first (contract 02 §6.3): the engine's real error text, an exact
 * count, spill, and no open cursor while rows are written elsewhere.
 */
export interface StagedResult {
  /** Labels as the author wrote them. */
  readonly columns: readonly Column[];
  readonly rowCount: number;
  /** Batches in the query's own order, each the caller's until it asks for the next. */
  batches(signal: AbortSignal): AsyncGenerator<ColumnBatch, void, void>;
  /** Frees the rows. Never rejects because of an aborted run. */
  drop(): Promise<void>;
}

export async function materialise(
  connection: StagingConnection,
  nodeId: string,
  query: StagingStatement,
  signal: AbortSignal,
): Promise<StagedResult> {
  const prepared = await describeQuery(connection, query, signal);
  const table = `${quoteName(INTERNAL_SCHEMA)}.${quoteName(nodeId)}`;
  // Positional names: labels may repeat or be empty here, the table's columns may not.
  const names = prepared.map((_, ordinal) => quoteName(`c${ordinal}`)).join(', ');
  const create = `CREATE TABLE ${table} AS SELECT * FROM (${query.sql}\n) AS r(${names})`;
  const rowCount = await runCounted(connection, { sql: create, values: query.values }, signal);
  const readable = prepared.map(({ label, type }, ordinal) => readableColumn(label, type, quoteName(`c${ordinal}`)));
  const columns = readable.map(({ column }) => column);
  const projection = readable.map((column) => column.projection).join(', ');
  return {
    columns,
    rowCount,
    drop: async () => void (await connection.run(`DROP TABLE IF EXISTS ${table}`, NEVER)),
    batches: async function* (reading) {
      const reader = new ChunkReader(columns);
      const widths = await RowWidths.measure(connection, table, readable, reading);
      let read = 0;
      for (let from = 0, wanted = FIRST_ROWS; from < rowCount;) {
        const size = await widths.fitting(from, wanted, reading);
        const range = `rowid >= ${from} AND rowid < ${from + size}`;
        const result = await connection.run(`SELECT ${projection} FROM ${table} WHERE ${range}`, reading);
        let bytes = 0;
        for (let index = 0; index < result.chunkCount; index++) {
          const batch = reader.batchOf(result.getChunk(index));
          read += batch.rowCount;
          bytes += batchBytes(batch);
          yield batch;
        }
        from += size;
        wanted = nextSize(size, bytes);
      }
      if (read !== rowCount) throw shortRead(read, rowCount);
    },
  };
}

/** A range of rows as wide as those just read holds some megabytes. That the next ones are wider is seen before they are read. */
function nextSize(size: number, bytes: number): number {
  const fitting = Math.floor(RANGE_BYTES / Math.max(1, bytes / size));
  return Math.max(1, Math.min(fitting, size * GROWTH, MOST_ROWS));
}

function shortRead(read: number, expected: number): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: `The staging engine returned ${read} of ${expected} rows.`,
    details: { reason: 'short_read', rows_read: read, rows_expected: expected },
  });
}
