import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { createVector, NOT_A_DECIMAL, type Column, type ColumnBatch } from '#libs/typesystem';
import { TableChunk } from './chunk-writer.js';
import { stagedColumn } from './staged-column.js';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
});

afterAll(() => {
  connection.disconnectSync();
  instance.closeSync();
});

function batchOf(column: Column, values: readonly unknown[]): ColumnBatch {
  const vector = createVector(column, values.length);
  values.forEach((value, row) => {
    if (value === null) vector.nulls[row] = 1;
    else if (vector.data) (vector.data as unknown[])[row] = value;
  });
  return { rowCount: values.length, vectors: [vector] };
}

/** Appends batches through one chunk and tells what the engine then has, as text. */
async function stored(column: Column, batches: readonly (readonly unknown[])[]): Promise<(string | null)[]> {
  const staged = stagedColumn(column);
  await connection.run(`CREATE OR REPLACE TABLE t (c ${staged.sqlType})`);
  const appender = await connection.createAppender('t');
  const chunk = new TableChunk([staged]);
  for (const values of batches) appender.appendDataChunk(chunk.of(batchOf(column, values)));
  appender.closeSync();
  const rows = await (await connection.run('SELECT CAST(c AS VARCHAR) FROM t ORDER BY rowid')).getRows();
  return rows.map(([text]) => text as string | null);
}

describe('one chunk for all batches of a table', () => {
  const cases: Record<string, { column: Column; values: readonly [unknown, string][] }> = {
    boolean: {
      column: { name: 'c', type: 'BOOLEAN' },
      values: [
        [1, 'true'],
        [0, 'false'],
      ],
    },
    integer: {
      column: { name: 'c', type: 'INTEGER' },
      values: [
        [-2_147_483_648, '-2147483648'],
        [7, '7'],
      ],
    },
    bigint: {
      column: { name: 'c', type: 'BIGINTEGER' },
      values: [
        [2n ** 63n - 1n, '9223372036854775807'],
        [-(2n ** 63n), '-9223372036854775808'],
      ],
    },
    float: { column: { name: 'c', type: 'DECIMAL', precision: 7 }, values: [[1.5, '1.5']] },
    double: { column: { name: 'c', type: 'DECIMAL', precision: 15 }, values: [[1e300, '1e+300']] },
    'decimal of 4 digits': {
      column: { name: 'c', type: 'BIGDECIMAL', precision: 4, scale: 2 },
      values: [
        [9999n, '99.99'],
        [-9999n, '-99.99'],
      ],
    },
    'decimal of 9 digits': {
      column: { name: 'c', type: 'BIGDECIMAL', precision: 9, scale: 0 },
      values: [
        [999_999_999n, '999999999'],
        [-999_999_999n, '-999999999'],
      ],
    },
    'decimal of 18 digits': {
      column: { name: 'c', type: 'BIGDECIMAL', precision: 18, scale: 3 },
      values: [
        [10n ** 18n - 1n, '999999999999999.999'],
        [1n - 10n ** 18n, '-999999999999999.999'],
      ],
    },
    'decimal of 38 digits': {
      column: { name: 'c', type: 'BIGDECIMAL', precision: 38, scale: 10 },
      values: [
        [`-${'9'.repeat(28)}.${'9'.repeat(10)}`, `-${'9'.repeat(28)}.${'9'.repeat(10)}`],
        ['0.1', '0.1000000000'],
      ],
    },
    'decimal without a precision of its own': {
      column: { name: 'c', type: 'DECIMAL', scale: 2 },
      values: [
        ['9999999999999.99', '9999999999999.99'],
        ['-0.01', '-0.01'],
      ],
    },
    'integer of any size': {
      column: { name: 'c', type: 'BIGDECIMAL', scale: 0 },
      values: [[String(-(2n ** 100n)), String(-(2n ** 100n))]],
    },
    'numbers sized at the end': {
      column: { name: 'c', type: 'BIGDECIMAL' },
      values: [['123456789.987654321', '123456789.987654321']],
    },
    bytes: {
      column: { name: 'c', type: 'BINARY' },
      values: [
        [Uint8Array.of(0xff, 0xc3, 0x28, 0), '\\xFF\\xC3(\\x00'],
        [new Uint8Array(40).fill(0xfe), '\\xFE'.repeat(40)],
        [new Uint8Array(0), ''],
      ],
    },
    text: {
      column: { name: 'c', type: 'STRING' },
      values: [
        ['a text that is longer than an entry', 'a text that is longer than an entry'],
        ['short', 'short'],
      ],
    },
    date: { column: { name: 'c', type: 'DATE' }, values: [[11_016, '2000-02-29']] },
    time: { column: { name: 'c', type: 'TIME' }, values: [[86_399_999_999n, '23:59:59.999999']] },
    timestamp: {
      column: { name: 'c', type: 'TIMESTAMP' },
      values: [[951_826_154_987_654n, '2000-02-29 12:09:14.987654+00']],
    },
  };

  for (const [name, { column, values }] of Object.entries(cases)) {
    it(`nothing of a batch is left in the next, neither its values nor its NULLs: ${name}`, async () => {
      const shown = new Map(values);
      const batches = [
        values.map(([value]) => value),
        [null, ...values.map(([value]) => value), null, null],
        Array.from({ length: 2048 }, (_, row) => (row % 3 === 0 ? null : values[row % values.length]![0])),
        Array.from({ length: 2048 }, (_, row) => values[(row + 1) % values.length]![0]),
        [],
        [null],
      ];
      const expected = batches.flat().map((value) => (value === null ? null : shown.get(value)));
      expect(await stored(column, batches)).toEqual(expected);
    });
  }

  it('a column whose source has no type takes NULL in every row', async () => {
    expect(await stored({ name: 'c', type: 'NULL' }, [[null, null], [null]])).toEqual([null, null, null]);
  });

  for (const precision of [4, 9, 18]) {
    it(`what is no number is NULL among decimals of ${precision} digits, and stays out of the next batch`, async () => {
      const column: Column = { name: 'c', type: 'BIGDECIMAL', precision, scale: 0 };
      expect(
        await stored(column, [
          [1n, NOT_A_DECIMAL, null, 2n],
          [3n, 4n, 5n, 6n],
        ]),
      ).toEqual(['1', null, null, '2', '3', '4', '5', '6']);
    });
  }

  it('a batch of more rows than a chunk holds is refused before the engine sees it', () => {
    const column: Column = { name: 'c', type: 'INTEGER' };
    const chunk = new TableChunk([stagedColumn(column)]);
    expect(() => chunk.of(batchOf(column, new Array<number>(2049).fill(1)))).toThrow('at most 2048 rows');
  });

  it('a vector shorter than its batch is refused: the engine would read past its end', () => {
    const column: Column = { name: 'c', type: 'INTEGER' };
    const chunk = new TableChunk([stagedColumn(column)]);
    expect(() => chunk.of({ ...batchOf(column, [1, 2]), rowCount: 3 })).toThrow('fewer rows');
  });
});
