import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { parquetWriteBuffer } from 'hyparquet-writer';

import { FileRoots } from '#libs/datasources';

import { JudgedBefore } from './judged-before.js';
import { ParquetFiles } from './parquet-files.js';

const { signal } = new AbortController();

describe('the files of one table', () => {
  let instance: DuckDBInstance;
  let engine: DuckDBConnection;
  let folder: string;
  let before: JudgedBefore;

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    engine = await instance.connect();
  });
  afterAll(() => {
    engine.disconnectSync();
    instance.closeSync();
  });
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-footers-')));
    before = new JudgedBefore();
    asked = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  let asked: string[];
  const query = async (sql: string) => {
    asked.push(sql);
    return (await engine.runAndReadAll(sql))
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? null : String(cell))));
  };
  /** Writes a file per query, `0.parquet` and on. */
  async function files(...queries: string[]): Promise<void> {
    for (const [index, sql] of queries.entries())
      await engine.run(`COPY (${sql}) TO '${join(folder, `${index}.parquet`)}'`);
  }
  /** What a query over all of them reads. */
  const read = async (location = '*.parquet') => {
    const finder = new ParquetFiles(new FileRoots([folder]), 1000, before);
    const { sql } = await finder.resolve({ location: `file://${folder}/${location}` }, { signal, query });
    return query(sql);
  };

  it('all have the columns of the first: of one that lacks any, a query would fail later without a reason', async () => {
    await files('SELECT 1 AS a, 2 AS b', 'SELECT 3 AS a, 4 AS b', 'SELECT 5 AS a');
    await expect(read()).rejects.toThrow('The file "2.parquet" has no column "b", which "0.parquet" has');
  });

  it('are opened once while they stay as they are; one that is written over is judged anew, and a defect each time', async () => {
    const opened = () => asked.splice(0).filter((sql) => sql.includes('parquet_schema')).length > 0;
    await files('SELECT 1 AS a', 'SELECT 2 AS a');
    await read();
    expect(opened()).toBe(true);
    await read();
    expect(opened()).toBe(false);
    await engine.run(`COPY (SELECT 3 AS a) TO '${join(folder, '1.parquet')}'`);
    expect([await read(), opened()]).toEqual([[['1'], ['3']], true]);
    await files('SELECT 1 AS a', 'SELECT 2.5::DOUBLE AS a');
    for (const _again of [1, 2]) {
      await expect(read()).rejects.toThrow(/would be read as INTEGER/);
      expect(opened()).toBe(true);
    }
  });

  it.each([
    ['INT', '2.7::DOUBLE', 'DOUBLE', 'INTEGER'],
    ['DECIMAL(9,2)', '1.2345::DECIMAL(9,4)', 'DECIMAL\\(9,4\\)', 'DECIMAL\\(9,2\\)'],
    ['DECIMAL(9,4)', '123456.78::DECIMAL(9,2)', 'DECIMAL\\(9,2\\)', 'DECIMAL\\(9,4\\)'],
    ['INT', '3000000000::BIGINT', 'BIGINT', 'INTEGER'],
    ['INT', '3000000000::UINTEGER', 'UINTEGER', 'INTEGER'],
    ['UINTEGER', '(-1)::TINYINT', 'TINYINT', 'UINTEGER'],
    ['DOUBLE', '9007199254740993::BIGINT', 'BIGINT', 'DOUBLE'],
    ['FLOAT', '16777217::INT', 'INTEGER', 'FLOAT'],
    ['FLOAT', '0.1::DOUBLE', 'DOUBLE', 'FLOAT'],
    ['DOUBLE', '0.1::DECIMAL(38,30)', 'DECIMAL\\(38,30\\)', 'DOUBLE'],
    ['DATE', `TIMESTAMP '2024-02-29 23:59:59'`, 'TIMESTAMP', 'DATE'],
    ['TIMESTAMP', `TIMESTAMP_NS '2024-02-29 23:59:59.123456789'`, 'TIMESTAMP_NS', 'TIMESTAMP'],
    ['VARCHAR', `'\\xC3'::BLOB`, 'BLOB', 'VARCHAR'],
    ['BOOLEAN', '2::INT', 'INTEGER', 'BOOLEAN'],
    ['INT', `'7'`, 'VARCHAR', 'INTEGER'],
    ['INT[]', '1::INT', 'INTEGER', 'a list'],
  ])('are refused when a %s would take %s in', async (first, value, stored, shown) => {
    await files(`SELECT NULL::${first} AS v`, `SELECT ${value} AS v`);
    const reason = `In the file "1.parquet" the column "v" is ${stored} and would be read as ${shown}, as "0.parquet" has it`;
    await expect(read()).rejects.toThrow(new RegExp(reason));
  });

  it.each([
    ['BIGINT', '(-2147483648)::INT', '-2147483648'],
    ['BIGINT', '4294967295::UINTEGER', '4294967295'],
    ['UBIGINT', '255::UTINYINT', '255'],
    ['DOUBLE', '4294967295::UINTEGER', '4294967295'],
    ['DOUBLE', '0.1::FLOAT', '0.10000000149011612'],
    ['DECIMAL(38,4)', '18446744073709551615::UBIGINT', '18446744073709551615.0000'],
    ['DECIMAL(18,4)', '(-1234567.89)::DECIMAL(9,2)', '-1234567.8900'],
    ['VARCHAR', '1.50::DECIMAL(9,2)', '1.50'],
    ['VARCHAR', `DATE '2024-02-29'`, '2024-02-29'],
    ['TIMESTAMP_NS', `TIMESTAMP '2024-02-29 23:59:59.123456'`, '2024-02-29 23:59:59.123456'],
    ['TIMESTAMP', `TIMESTAMP_MS '2024-02-29 23:59:59.123'`, '2024-02-29 23:59:59.123'],
  ])('keep their values where a %s has room for %s', async (first, value, shown) => {
    await files(`SELECT NULL::${first} AS v`, `SELECT ${value} AS v`);
    expect(await read()).toEqual([[null], [shown]]);
  });

  it('may have columns in another order and further ones, which the table has not, and members that are missing', async () => {
    await files(
      `SELECT 1 AS a, 'x' AS b, {'x': 1, 'y': 2} AS s, [1::BIGINT] AS l, MAP {'k': 1.5::DOUBLE} AS m`,
      `SELECT MAP {'l': 2.5::FLOAT} AS m, [2::INT] AS l, {'y': 3} AS s, 'y' AS B, 2 AS a, 'more' AS c`,
    );
    expect((await read()).map((row) => row.slice(0, 2))).toEqual([['1', 'x'], ['2', 'y']]); // prettier-ignore
  });

  it.each([
    [`{'a': 1}`, `{'a': 1.7::DOUBLE}`, 's.a'],
    [`[{'a': 1}]`, `[{'a': 1.7::DOUBLE}]`, 's.element.a'],
    [`MAP {'k': 1}`, `MAP {'k': 1.7::DOUBLE}`, 's.value'],
    [`[[1]]`, `[[1.7::DOUBLE]]`, 's.element.element'],
  ])('are compared down into what is nested: %s and %s', async (first, second, column) => {
    await files(`SELECT ${first} AS s`, `SELECT ${second} AS s`);
    await expect(read()).rejects.toThrow(`the column "${column}" is DOUBLE and would be read as INTEGER`);
  });

  it('may hold variants of other kinds in each file: the kind is part of the value', async () => {
    await files('SELECT 42::VARIANT AS v', `SELECT 'text'::VARIANT AS v`);
    expect(await read()).toEqual([['42'], ['text']]);
  });

  it('need no column that the folders name: there its value comes from', async () => {
    for (const [part, sql] of Object.entries({ a: `SELECT 1 AS v, 0 AS part`, b: 'SELECT 2 AS v' })) {
      mkdirSync(join(folder, `part=${part}`));
      await engine.run(`COPY (${sql}) TO '${join(folder, `part=${part}`, 'x.parquet')}'`);
    }
    expect(await read('')).toEqual([['1', 'a'], ['2', 'b']]); // prettier-ignore
  });

  it('are compared with the one that gives the table its columns, wherever in a tree it lies', async () => {
    for (const name of ['a', 'z']) mkdirSync(join(folder, name));
    await files('SELECT 1::BIGINT AS v');
    for (const place of ['a/1', 'z/1']) await engine.run(`COPY (SELECT 2 AS v) TO '${join(folder, place)}.parquet'`);
    const [type] = await query(`SELECT typeof(v) FROM read_parquet('${folder}/**/*.parquet') LIMIT 1`);
    const rows = read('').then((found) => found.length, (error: Error) => error.message); // prettier-ignore
    expect(await rows).toEqual(
      type?.[0] === 'BIGINT' ? 3 : expect.stringMatching(/"0.parquet" the column "v" is BIGINT/),
    );
  });

  it('may be without any value in a column, whose type then says nothing', async () => {
    await files(`SELECT 'text' AS v`);
    const column = { name: 'v', type: 'INT32', repetition_type: 'OPTIONAL', logical_type: { type: 'NULL' } } as const;
    const bytes = parquetWriteBuffer({ schema: [{ name: 'root', num_children: 1 }, column], columnData: [{ name: 'v', data: [null] }] }); // prettier-ignore
    writeFileSync(join(folder, '1.parquet'), Buffer.from(bytes));
    expect(await read()).toEqual([['text'], [null]]);
  });

  it('of hundreds of kinds are no table, and are not compared one by one', async () => {
    const column = (name: string) => ({ name, type: 'INT32', repetition_type: 'OPTIONAL' }) as const;
    for (let index = 0; index < 201; index += 1) {
      const schema = [{ name: 'root', num_children: 2 }, column('a'), column(`c${index}`)];
      const bytes = parquetWriteBuffer({ schema, columnData: [{ name: 'a', data: [1] }, { name: `c${index}`, data: [1] }] }); // prettier-ignore
      writeFileSync(join(folder, `${index}.parquet`), Buffer.from(bytes));
    }
    await expect(read()).rejects.toThrow(/more than 200 different sets of columns/);
  });
});
