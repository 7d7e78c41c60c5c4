import { PenstockError } from '#libs/kernel';
import type { Column, ColumnBatch } from '#libs/typesystem';
import { batchOf } from './chunk-reader.js';
import { quoteName } from './labels.js';
import { readableColumn } from './readable-column.js';
import { INTERNAL_SCHEMA } from './staging-engine.js';
import type { StagingConnection } from './staging-connection.js';
import { describeQuery, runCounted, type StagingStatement } from './staging-statement.js';

const NEVER = new AbortController().signal;
/** Rows of one native call: ten chunks, so that a call costs little and holds little. */
const RANGE_ROWS = 20_480;

/**
 * The rows of a query over staged tables, materialised first (contract 02 §6.3): the engine's real error text, an exact
 * count, spill, and no open cursor while rows are written elsewhere.
 */
export interface StagedResult {
  /** Labels as the author wrote them. */
  readonly columns: readonly Column[];
  readonly rowCount: number;
  /** Batches in the query's own order. */
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
      let read = 0;
      for (let from = 0; from < rowCount; from += RANGE_ROWS) {
        const range = `rowid >= ${from} AND rowid < ${from + RANGE_ROWS}`;
        const result = await connection.run(`SELECT ${projection} FROM ${table} WHERE ${range}`, reading);
        for (let index = 0; index < result.chunkCount; index++) {
          const batch = batchOf(columns, result.getChunk(index));
          read += batch.rowCount;
          yield batch;
        }
      }
      if (read !== rowCount) throw shortRead(read, rowCount);
    },
  };
}

function shortRead(read: number, expected: number): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: `The staging engine returned ${read} of ${expected} rows.`,
    details: { reason: 'short_read', rows_read: read, rows_expected: expected },
  });
}
