import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ColumnBatch } from '#libs/typesystem';

import { batchOf, cellOf, collect, NEVER, rowsOf } from '../driver.fixture.js';
import type { TableWriter, WriteTarget } from '../driver.js';
import { DuckdbConnection } from './connection.js';
import { DuckdbInstances, type DuckdbShare } from './instances.js';
import { NativeCallGate } from './native-call-gate.js';

describe('DuckDB', () => {
  let folder: string;
  let instances: DuckdbInstances;
  const calls = new NativeCallGate(4);
  const opened: DuckdbConnection[] = [];
  let kept: DuckdbShare;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-duckdb-'));
    instances = new DuckdbInstances(
      { memoryMb: 256, threads: 2, temporaryDirectory: join(folder, 'spill') },
      new NativeCallGate(4),
    );
    kept = await instances.share('bench', null, false);
  });

  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });

  afterAll(() => {
    kept.release();
    rmSync(folder, { recursive: true });
  });

  async function open(file: string | null = null, readOnly = false): Promise<DuckdbConnection> {
    const share = await instances.share('bench', file, readOnly);
    const connection = new DuckdbConnection(await share.instance.connect(), calls, () => share.release());
    opened.push(connection);
    return connection;
  }

  const run = async (sql: string, values: unknown[] = []): Promise<number> =>
    await (await open()).execute({ sql, values }, { signal: NEVER });

  const exact: [expression: string, type: object, text: string][] = [
    ['true', { type: 'BOOLEAN' }, 'true'],
    ['(-128)::TINYINT', { type: 'INTEGER' }, '-128'],
    ['255::UTINYINT', { type: 'INTEGER' }, '255'],
    ['65535::USMALLINT', { type: 'INTEGER' }, '65535'],
    ['(-2147483648)::INTEGER', { type: 'INTEGER' }, '-2147483648'],
    ['4294967295::UINTEGER', { type: 'BIGINTEGER' }, '"4294967295"'],
    ['9223372036854775807::BIGINT', { type: 'BIGINTEGER' }, '"9223372036854775807"'],
    ['18446744073709551615::UBIGINT', { type: 'BIGDECIMAL', precision: 20, scale: 0 }, '"18446744073709551615"'],
    [
      '(-170141183460469231731687303715884105728)::HUGEINT',
      { type: 'BIGDECIMAL', scale: 0 },
      '"-170141183460469231731687303715884105728"',
    ],
    [
      '340282366920938463463374607431768211455::UHUGEINT',
      { type: 'BIGDECIMAL', scale: 0 },
      '"340282366920938463463374607431768211455"',
    ],
    ['1.1::FLOAT', { type: 'DECIMAL', precision: 7 }, '1.1'],
    ['0.1::DOUBLE', { type: 'DECIMAL', precision: 15 }, '0.1'],
    ['(-9.99)::DECIMAL(3,2)', { type: 'DECIMAL', precision: 3, scale: 2 }, '-9.99'],
    ['1234567.89::DECIMAL(9,2)', { type: 'DECIMAL', precision: 9, scale: 2 }, '1234567.89'],
    ['999999999999999.999::DECIMAL(18,3)', { type: 'BIGDECIMAL', precision: 18, scale: 3 }, '"999999999999999.999"'],
    [
      '1234567890123456789012345678.0123456789::DECIMAL(38,10)',
      { type: 'BIGDECIMAL', precision: 38, scale: 10 },
      '"1234567890123456789012345678.0123456789"',
    ],
    [`''`, { type: 'STRING' }, '""'],
    [`'Zażółć 🐘'`, { type: 'STRING' }, '"Zażółć 🐘"'],
    [`'8c9f1a52-7e0d-4d55-9a52-0123456789ab'::UUID`, { type: 'STRING' }, '"8c9f1a52-7e0d-4d55-9a52-0123456789ab"'],
    [`'b'::ENUM('a','b')`, { type: 'STRING' }, '"b"'],
    [`INTERVAL 1 DAY`, { type: 'STRING' }, '"1 day"'],
    [`[1, NULL, 3]`, { type: 'STRING' }, '"[1,null,3]"'],
    [`{'a': 1, 'b': 'x'}`, { type: 'STRING' }, '"{\\"a\\":1,\\"b\\":\\"x\\"}"'],
    [`'{"a": 9007199254740993}'::JSON`, { type: 'STRING' }, '"{\\"a\\": 9007199254740993}"'],
    [`'101'::BIT`, { type: 'STRING' }, '"101"'],
    [`'\\x00\\xFF'::BLOB`, { type: 'BINARY' }, '"AP8="'],
    [`DATE '0001-01-01'`, { type: 'DATE' }, '"0001-01-01"'],
    [`DATE '9999-12-31'`, { type: 'DATE' }, '"9999-12-31"'],
    [`TIME '23:59:59.999999'`, { type: 'TIME' }, '"23:59:59.999999"'],
    [`TIMETZ '10:00:00.000001+05'`, { type: 'TIME' }, '"10:00:00.000001"'],
    [`TIMESTAMP '1999-12-31 23:59:59.999999'`, { type: 'TIMESTAMP' }, '"1999-12-31T23:59:59.999999Z"'],
    [`TIMESTAMPTZ '2026-03-01 07:05:09.000001+02'`, { type: 'TIMESTAMP' }, '"2026-03-01T05:05:09.000001Z"'],
    [`TIMESTAMP_S '2026-03-01 07:05:09'`, { type: 'TIMESTAMP' }, '"2026-03-01T07:05:09.000000Z"'],
    [`TIMESTAMP_MS '2026-03-01 07:05:09.123'`, { type: 'TIMESTAMP' }, '"2026-03-01T07:05:09.123000Z"'],
    [`TIMESTAMP_NS '1969-12-31 23:59:59.999999999'`, { type: 'TIMESTAMP' }, '"1969-12-31T23:59:59.999999Z"'],
  ];

  it.each(exact)('%s arrives exactly', async (expression, type, text) => {
    const { columns, rows } = await rowsOf(await open(), `SELECT ${expression} AS v`);
    expect({ ...columns[0], sourceType: undefined }).toEqual({ name: 'v', ...type, sourceType: undefined });
    expect(rows).toEqual([`[${text}]`]);
  });

  it.each(exact)('NULL of the type of %s is null', async (expression) => {
    expect(
      (await rowsOf(await open(), `SELECT CASE WHEN i > 1 THEN ${expression} END FROM range(2) t(i)`)).rows,
    ).toEqual(['[null]', '[null]']);
  });

  it.each([
    [`'NaN'::DOUBLE`],
    [`'-Infinity'::FLOAT`],
    [`DATE 'infinity'`],
    [`TIMESTAMPTZ '-infinity'`],
    [`TIMESTAMP '290000-01-01 00:00:00'`],
  ])('%s has no wire form: null, counted, and the read goes on', async (expression) => {
    const { rows, unrepresentable } = await rowsOf(await open(), `SELECT ${expression} AS v, 7 AS after`);
    expect(rows).toEqual(['[null,7]']);
    expect(unrepresentable).toEqual({ v: 1 });
  });

  it('a query that needs casts keeps its own order, labels and binds', async () => {
    const { columns, rows } = await rowsOf(
      await open(),
      `SELECT i AS "a b", [i] AS "a b", CAST($1 AS BIGINT) FROM range(5000) t(i) ORDER BY i DESC LIMIT 3; -- end`,
      ['9007199254740993'],
    );
    expect(columns.map(({ name }) => name)).toEqual(['a b', 'a b', columns[2]?.name]);
    expect(rows).toEqual([4999, 4998, 4997].map((i) => `["${i}","[${i}]","9007199254740993"]`));
  });

  it('200,000 rows stream in chunks of at most 2,048', async () => {
    const cursor = await (
      await open()
    ).openCursor(
      { sql: `SELECT i, i * 1.25 AS d, 'row ' || i AS t FROM range(200000) t(i) ORDER BY i`, values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    const { rows, batches } = await collect(cursor);
    expect(rows).toHaveLength(200_000);
    expect(rows.at(-1)).toBe('["199999","249998.75","row 199999"]');
    expect(Math.max(...batches)).toBeLessThanOrEqual(2048);
  });

  it('a stream that the engine cuts short is told apart from its end, with the real error', async () => {
    const cursor = await (
      await open()
    ).openCursor(
      {
        sql: `SELECT CASE WHEN i > 500000 THEN error('boom ' || i) ELSE i::VARCHAR END AS v FROM range(1000000) t(i)`,
        values: [],
      },
      { fetchSize: 1000, signal: NEVER },
    );
    const failure = await collect(cursor).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'DriverFailure', kind: 'other', reason: 'stream_cut' });
    expect((failure as Error).message).toContain('boom');
  });

  it('aborting interrupts the engine, and the session is given up', async () => {
    const connection = await open();
    const abort = new AbortController();
    const sql = `SELECT count(*) FROM range(100000000) a, range(100000) b WHERE a.range % 7 = b.range % 11`;
    const opening = connection.openCursor({ sql, values: [] }, { fetchSize: 1000, signal: abort.signal });
    setTimeout(() => abort.abort(), 100);
    await expect(opening.then((cursor) => cursor.next(abort.signal))).rejects.toMatchObject({ kind: 'cancelled' });
    expect(connection.usable).toBe(false);
    // The engine is free again: a neighbour on the same instance answers.
    expect(await cellOf(await open(), 'SELECT 42')).toBe('42');
  });

  it('aborting between batches of a stream ends as a cancel, not as the end of the rows', async () => {
    const connection = await open();
    const abort = new AbortController();
    const cursor = await connection.openCursor(
      { sql: 'SELECT i FROM range(100000000) t(i)', values: [] },
      { fetchSize: 1000, signal: abort.signal },
    );
    await cursor.next(abort.signal);
    abort.abort();
    await expect(cursor.next(abort.signal)).rejects.toMatchObject({ kind: 'cancelled' });
    await cursor.close();
  });

  it('reads are read-only, and author SQL reaches neither files nor settings', async () => {
    await run('CREATE OR REPLACE TABLE guarded AS SELECT 1 AS a');
    for (const sql of [
      'INSERT INTO guarded VALUES (2)',
      'CREATE TABLE other (a INT)',
      `COPY guarded TO '${join(folder, 'out.csv')}'`,
      `SELECT * FROM read_csv('/etc/passwd')`,
      `SELECT * FROM read_text('/etc/passwd')`,
      `ATTACH '${join(folder, 'x.db')}'`,
      `SET memory_limit = '100GB'`,
      `SET enable_external_access = true`,
      `INSTALL httpfs`,
      `LOAD httpfs`,
      `EXPORT DATABASE '${folder}'`,
      `CREATE PERSISTENT SECRET s (TYPE s3)`,
    ]) {
      await expect(rowsOf(await open(), sql)).rejects.toMatchObject({ name: 'DriverFailure' });
      await expect(
        run(sql.startsWith('INSERT') || sql.startsWith('CREATE TABLE') ? "SELECT error('x')" : sql),
      ).rejects.toMatchObject({ name: 'DriverFailure' });
    }
    expect(await cellOf(await open(), 'SELECT count(*) FROM guarded')).toBe('"1"');
    expect(statSync(join(folder, 'out.csv'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('one statement at a time', async () => {
    await expect(rowsOf(await open(), 'SELECT 1; SELECT 2')).rejects.toMatchObject({ reason: 'multiple_statements' });
    await expect(run('CREATE TABLE a1 (i INT); DROP TABLE a1')).rejects.toMatchObject({
      reason: 'multiple_statements',
    });
  });

  it('DML is counted, a missing table is told as such', async () => {
    expect(await run('CREATE OR REPLACE TABLE counted (i INT)')).toBe(0);
    expect(await run('INSERT INTO counted SELECT * FROM range(5)')).toBe(5);
    expect(await run('UPDATE counted SET i = i + 1 WHERE i > 2')).toBe(2);
    expect(await run('DELETE FROM counted WHERE i = CAST($1 AS INTEGER)', ['0'])).toBe(1);
    await expect(run('INSERT INTO nowhere VALUES (1)')).rejects.toMatchObject({ kind: 'missing_table' });
  });

  describe('COMMIT', () => {
    const columns = [{ name: 'i', type: 'INTEGER' }] as const;
    const written = async (signal: AbortSignal): Promise<TableWriter> => {
      await run('CREATE OR REPLACE TABLE committed (i INT)');
      const target: WriteTarget = { table: 'committed', mode: 'append', columns, batchRows: 10 };
      const writer = await (await open()).beginWrite(target, { signal });
      await writer.write(batchOf(columns, [[1]]));
      return writer;
    };
    const count = async (): Promise<string> => await cellOf(await open(), 'SELECT count(*) FROM committed');

    it('that is under way when the caller gives up is done all the same', async () => {
      const caller = new AbortController();
      const committing = (await written(caller.signal)).commit();
      caller.abort();
      await committing;
      expect(await count()).toBe('"1"');
    });

    it('that nobody waits for any more is not begun', async () => {
      const caller = new AbortController();
      const writer = await written(caller.signal);
      caller.abort();
      await expect(writer.commit()).rejects.toMatchObject({ kind: 'cancelled', commitUnknown: false });
      await writer.rollback();
      expect(await count()).toBe('"0"');
    });
  });

  it('a write-back casts to the target’s own types, in one transaction', async () => {
    await run(`CREATE OR REPLACE TABLE target (b BOOLEAN, i INTEGER, l BIGINT, d DECIMAL(12,2), bd DECIMAL(38,10), f DOUBLE,
               t VARCHAR, y BLOB, dt DATE, tm TIME, ts TIMESTAMPTZ)`);
    const every = `SELECT true AS b, 1 AS i, 9223372036854775807::BIGINT AS l, 12.34::DECIMAL(12,2) AS d,
        1234567890123456789012345678.0123456789::DECIMAL(38,10) AS bd, 'NaN'::DOUBLE AS f, 'ü ''"\\n' AS t, '\\x00\\xFF'::BLOB AS y,
        DATE '0001-01-01' AS dt, TIME '23:59:59.999999' AS tm, TIMESTAMPTZ '2026-03-01 07:05:09.000001+00' AS ts
      UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, '', '', DATE 'infinity', NULL, TIMESTAMPTZ '-infinity'`;
    const cursor = await (await open()).openCursor({ sql: every, values: [] }, { fetchSize: 10, signal: NEVER });
    const batches: ColumnBatch[] = [];
    for (let batch = await cursor.next(NEVER); batch; batch = await cursor.next(NEVER)) batches.push(batch);
    await cursor.close();
    const target: WriteTarget = { table: 'target', mode: 'append', columns: cursor.columns, batchRows: 1 };
    const writer = await (await open()).beginWrite(target, { signal: NEVER });
    for (const batch of batches) await writer.write(batch);
    expect(await cellOf(await open(), 'SELECT count(*) FROM target')).toBe('"0"');
    await writer.commit();
    expect((await rowsOf(await open(), `SELECT * FROM target EXCEPT ALL (${every})`)).rows).toEqual([]);
    expect(await cellOf(await open(), 'SELECT count(*) FROM target')).toBe('"2"');

    const replacing = await (await open()).beginWrite({ ...target, mode: 'replace' }, { signal: NEVER });
    for (const batch of batches) await replacing.write(batch);
    await replacing.rollback();
    expect(await cellOf(await open(), 'SELECT count(*) FROM target')).toBe('"2"');
    await expect((await open()).beginWrite({ ...target, table: 'nowhere' }, { signal: NEVER })).rejects.toMatchObject({
      kind: 'missing_table',
    });
  });
});
