import { DuckDBInstance } from '@duckdb/node-api';
import { NativeCallGate } from '#libs/datasources';
import { createVector, MAX_BATCH_ROWS, Utf8Texts, type Column, type ColumnBatch } from '#libs/typesystem';
import { stageRows } from '../../libs/executions/staging/staged-table.js';
import { StagingEngine } from '../../libs/executions/staging/staging-engine.js';
import { repeat } from '../load/repeat.js';
import { amount } from '../options.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const COLUMNS: Column[] = [
  { name: 'id', type: 'INTEGER' },
  { name: 'big', type: 'BIGINTEGER' },
  { name: 'ratio', type: 'DECIMAL', precision: 15 },
  { name: 'amount', type: 'BIGDECIMAL', precision: 12, scale: 2 },
  { name: 'label', type: 'STRING' },
  { name: 'moment', type: 'TIMESTAMP' },
  { name: 'day', type: 'DATE' },
  { name: 'flag', type: 'BOOLEAN' },
];

export const stagingAppend: BenchPath = {
  name: 'staging-append',
  about: 'rows × 8 mixed columns appended to a staged table in batches of 2,048, against INSERT … SELECT in the engine',
  async measure(_deployment, options) {
    const batches = Math.ceil(amount(options, { full: 2_000_000, quick: 500_000, smoke: 4096 }) / MAX_BATCH_ROWS);
    const rows = batches * MAX_BATCH_ROWS;
    const batch = mixedRows();
    const turns = await repeat(options.runs, () => turn(batch, batches));
    return [
      {
        path: `staged append, ${rows.toLocaleString('en')} rows × 8`,
        unit: 'rows/s',
        better: 'higher',
        value: rows / median(turns.map(({ appended }) => appended)),
        limit: { what: 'INSERT … SELECT', value: rows / median(turns.map(({ inserted }) => inserted)) },
        asked: { of: 'value', good: 2_000_000 },
      },
    ];
  },
};

/** Seconds of the append and of the engine's own copy, on an engine of their own. */
async function turn(batch: ColumnBatch, batches: number): Promise<{ appended: number; inserted: number }> {
  const { signal } = new AbortController();
  const engine = new StagingEngine({
    instance: await DuckDBInstance.create(':memory:'),
    gate: new NativeCallGate(4),
    limitMb: 1024,
    spillLimitMb: 0,
    maxConnections: 4,
    closeGraceMs: 5000,
    afterClose: () => Promise.resolve(),
    onCleanupFailure: (error) => console.error(error),
  });
  try {
    return await engine.withConnection(signal, async (connection) => {
      let left = batches;
      const source = { columns: COLUMNS, next: () => Promise.resolve(left-- > 0 ? batch : null) };
      const begun = performance.now();
      await stageRows(connection, 'appended', source, { signal });
      const appended = (performance.now() - begun) / 1000;
      await connection.run('CREATE TABLE inserted AS SELECT * FROM appended LIMIT 0', signal);
      const copying = performance.now();
      await connection.run('INSERT INTO inserted SELECT * FROM appended', signal);
      return { appended, inserted: (performance.now() - copying) / 1000 };
    });
  } finally {
    await engine.close();
  }
}

function mixedRows(): ColumnBatch {
  const texts = new Utf8Texts(MAX_BATCH_ROWS);
  const vectors = COLUMNS.map((column) =>
    column.type === 'STRING'
      ? { layout: 'utf8' as const, type: column, data: texts, nulls: new Uint8Array(MAX_BATCH_ROWS) }
      : createVector(column),
  );
  for (let row = 0; row < MAX_BATCH_ROWS; row += 1) {
    const label = Buffer.from(`label of row ${row}`);
    texts.put(row, label, 0, label.length);
    for (const vector of vectors) {
      if (vector.data instanceof BigInt64Array) vector.data[row] = BigInt(row) * 1_234_567n;
      else if (vector.layout === 'boolean') vector.data[row] = row % 2;
      else if (vector.layout !== 'utf8' && vector.data !== null) (vector.data as Int32Array | Float64Array)[row] = row;
    }
  }
  return { rowCount: MAX_BATCH_ROWS, vectors };
}
