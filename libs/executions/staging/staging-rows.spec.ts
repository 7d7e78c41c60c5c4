import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  bindStatement,
  createVector,
  encodeBatchRows,
  WireIssues,
  type Column,
  type ColumnBatch,
  type TypedValue,
} from '#libs/typesystem';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryBudget } from './memory-budget.js';
import { NativeCallGate } from '#libs/datasources';
import { SpillFolders } from './spill-folders.js';
import { materialise } from './staged-result.js';
import { stageQuery, stageRows } from './staged-table.js';
import type { StagingEngine } from './staging-engine.js';
import { batchBytes } from './batch-bytes.js';
import { StagingFactory } from './staging-factory.js';
import { disciplined, withoutSemicolon, runCounted } from './staging-statement.js';

const signal = new AbortController().signal;
let root: string;
let engine: StagingEngine;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'staging-rows-'));
  const settings = { maxMemoryMb: 256, maxSpillMb: 512, threads: 2, maxConnections: 4, closeGraceMs: 2000 };
  const spill = new SpillFolders(root, '0b6e6f0e-5f0f-4a2d-9f51-000000000002');
  const factory = new StagingFactory(settings, new MemoryBudget(4096), new NativeCallGate(4), spill, {
    cleanupFailed: (_id, error) => expect(error).toBeUndefined(),
  });
  engine = await factory.create('rows', { signal });
});

afterAll(async () => {
  await engine.close();
  rmSync(root, { recursive: true, force: true });
});

/** Batches of one column list from plain values; null is NULL. */
function source(columns: readonly Column[], ...batches: readonly (readonly (readonly unknown[])[])[]) {
  const pending = batches.map((rows): ColumnBatch => {
    const vectors = columns.map((column, ordinal) => {
      const vector = createVector(column, rows.length);
      rows.forEach((row, index) => {
        const value = row[ordinal];
        if (value === null) vector.nulls[index] = 1;
        else if (vector.data) (vector.data as unknown[])[index] = value;
      });
      return vector;
    });
    return { rowCount: rows.length, vectors };
  });
  return { columns, next: () => Promise.resolve(pending.shift() ?? null) };
}

async function readAll(
  sql: string,
  name = 'read',
): Promise<{ columns: readonly Column[]; rows: string[]; issues: WireIssues }> {
  return engine.withConnection(signal, async (connection) => {
    const result = await materialise(connection, name, { sql, values: [] }, signal);
    const rows: string[] = [];
    const issues = new WireIssues();
    for await (const batch of result.batches(signal)) rows.push(...encodeBatchRows(result.columns, batch, issues));
    await result.drop();
    return { columns: result.columns, rows, issues };
  });
}

const stage = (table: string, from: ReturnType<typeof source>) =>
  engine.withConnection(signal, (connection) => stageRows(connection, table, from, { signal }));

describe('staging in and reading out', () => {
  it('keeps every canonical type exact at its extremes, and NULL in each', async () => {
    const columns: Column[] = [
      { name: 'b', type: 'BOOLEAN' },
      { name: 'i', type: 'INTEGER' },
      { name: 'l', type: 'BIGINTEGER' },
      { name: 'd4', type: 'DECIMAL', precision: 4, scale: 2 },
      { name: 'd9', type: 'DECIMAL', precision: 9, scale: 0 },
      { name: 'd15', type: 'DECIMAL', precision: 15, scale: 15 },
      { name: 'f', type: 'DECIMAL', precision: 7 },
      { name: 'g', type: 'DECIMAL', precision: 15 },
      { name: 'n18', type: 'BIGDECIMAL', precision: 18, scale: 3 },
      { name: 'n38', type: 'BIGDECIMAL', precision: 38, scale: 10 },
      { name: 'h', type: 'BIGDECIMAL', scale: 0, sourceType: 'HUGEINT' },
      { name: 'u', type: 'BIGDECIMAL' },
      { name: 's', type: 'STRING' },
      { name: 'x', type: 'BINARY' },
      { name: 'day', type: 'DATE' },
      { name: 't', type: 'TIME' },
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 'nothing', type: 'NULL' },
    ];
    const high = [
      true,
      2147483647,
      9223372036854775807n,
      9999n,
      999999999n,
      999999999999999n,
      1.1,
      1.7976931348623157e308,
      999999999999999999n,
      '9999999999999999999999999999.9999999999',
      '170141183460469231731687303715884105727',
      '123456789012345678901234567890.12345678',
      'ünï\u2028"\\ 💥',
      new Uint8Array([0, 255, 10]),
      2932896,
      86399999999n,
      253402300799999999n,
      null,
    ];
    const low = [
      false,
      -2147483648,
      -9223372036854775808n,
      -9999n,
      -999999999n,
      -999999999999999n,
      -1.1,
      5e-324,
      -999999999999999999n,
      '-9999999999999999999999999999.9999999999',
      '-170141183460469231731687303715884105728',
      '-0.5',
      '',
      new Uint8Array(0),
      -719162,
      0n,
      -62135596800000000n,
      null,
    ];
    const nulls = columns.map(() => null);
    expect(await stage('extremes', source(columns, [high, low], [nulls]))).toBe(3);
    const { columns: read, rows, issues } = await readAll('SELECT * FROM extremes');
    expect(read.map(({ name, type, precision, scale }) => [name, type, precision, scale])).toEqual(
      columns.map(({ name, type, precision, scale }) => [
        name,
        type === 'NULL' ? 'STRING' : type,
        name === 'n38' ? undefined : precision,
        name === 'u' ? 8 : scale,
      ]),
    );
    expect(rows[0]).toBe(
      '[true,2147483647,"9223372036854775807",99.99,999999999,0.999999999999999,1.1,1.7976931348623157e+308,' +
        '"999999999999999.999","9999999999999999999999999999.9999999999","170141183460469231731687303715884105727",' +
        `"123456789012345678901234567890.12345678",${JSON.stringify('ünï\u2028"\\ 💥')},"AP8K","9999-12-31",` +
        '"23:59:59.999999","9999-12-31T23:59:59.999999Z",null]',
    );
    expect(rows[1]).toBe(
      '[false,-2147483648,"-9223372036854775808",-99.99,-999999999,-0.999999999999999,-1.1,5e-324,' +
        '"-999999999999999.999","-9999999999999999999999999999.9999999999","-170141183460469231731687303715884105728",' +
        '"-0.50000000","","","0001-01-01","00:00:00.000000","0001-01-01T00:00:00.000000Z",null]',
    );
    expect(rows[2]).toBe(`[${nulls.map(() => 'null').join(',')}]`);
    expect(issues.warnings(read)).toEqual([]);
  });

  it('refuses numbers too wide for the engine instead of rounding them, and leaves no table', async () => {
    const columns: Column[] = [{ name: 'v', type: 'BIGDECIMAL' }];
    const wide = source(columns, [['1234567890123456789012345678901234567'], ['0.123']]);
    await expect(stage('wide', wide)).rejects.toMatchObject({
      code: 'pipeline.staging.precision_overflow',
      details: { column: 'v', integer_digits: 37, fraction_digits: 3 },
    });
    await expect(readAll('SELECT * FROM wide')).rejects.toMatchObject({ kind: 'missing_table' });
  });

  it('drops the partial table when the source fails midway, and reports the first error', async () => {
    const from = source([{ name: 'a', type: 'INTEGER' }], [[1], [2]]);
    const failing = { ...from, next: async () => (await from.next()) ?? Promise.reject(new Error('source broke')) };
    await expect(stage('partial', failing)).rejects.toThrow('source broke');
    await expect(readAll('SELECT * FROM partial')).rejects.toMatchObject({ kind: 'missing_table' });
    expect(await stage('partial', source([{ name: 'a', type: 'INTEGER' }], [[3]]))).toBe(1);
  });

  it('never overwrites a staged table, and never drops the one that was there', async () => {
    const columns: Column[] = [{ name: 'a', type: 'INTEGER' }];
    await stage('taken', source(columns, [[7]]));
    const again = { code: 'pipeline.staging.table_already_exists', details: { table: 'taken' } };
    await expect(stage('taken', source(columns, [[8]]))).rejects.toMatchObject(again);
    const query = engine.withConnection(signal, (c) =>
      stageQuery(c, 'taken', { sql: 'SELECT 1 AS a', values: [] }, signal),
    );
    await expect(query).rejects.toMatchObject(again);
    expect((await readAll('SELECT a FROM taken')).rows).toEqual(['[7]']);
  });

  it.each([
    ['a b', 0, 'SELECT 1 AS "a b"'],
    ['x'.repeat(64), 0, `SELECT 1 AS "${'x'.repeat(64)}"`],
    ['A', 1, 'SELECT 1 AS a, 2 AS "A"'],
  ])('refuses the label %j of a staged query: it would be renamed silently', async (label, ordinal, sql) => {
    const query = engine.withConnection(signal, (c) => stageQuery(c, 'labels', { sql, values: [] }, signal));
    const refusal = { code: 'pipeline.staging.invalid_column_name', details: { label, ordinal } };
    await expect(query).rejects.toMatchObject(refusal);
    const columns = label === 'A' ? ['a', 'A'] : [label];
    const rows = source(columns.map((name) => ({ name, type: 'INTEGER' as const })));
    await expect(stage('labels', rows)).rejects.toMatchObject(refusal);
  });

  it('gives the event loop a turn after each chunk, however fast the source is', async () => {
    const from = source([{ name: 'a', type: 'INTEGER' }], ...Array.from({ length: 30 }, () => [[1]]));
    let turns = 0;
    let counting = false;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    const next = () => {
      if (!counting) setImmediate(count);
      counting = true;
      return from.next();
    };
    expect(await stage('turns', { ...from, next })).toBe(30);
    counting = false;
    expect(turns).toBeGreaterThanOrEqual(29);
  });

  it('does not take for whole what comes out with fewer rows than went in', async () => {
    await engine.withConnection(signal, async (connection) => {
      const query = { sql: 'SELECT range AS n FROM range(10)', values: [] };
      const result = await materialise(connection, 'short', query, signal);
      await connection.run('DELETE FROM "__dp"."short" WHERE c0 = 4', signal);
      let read = 0;
      const reading = (async () => {
        for await (const { rowCount } of result.batches(signal)) read += rowCount;
      })();
      await expect(reading).rejects.toMatchObject({
        code: 'pipeline.node.query_execution_failed',
        details: { reason: 'short_read', rows_read: 9, rows_expected: 10 },
      });
      expect(read).toBe(9);
      await result.drop();
    });
  });

  it('gives a caller its labels as written, duplicates included', async () => {
    const { columns, rows } = await readAll('SELECT 1 AS a, 2 AS a, 3 AS "é €"');
    expect(columns.map(({ name }) => name)).toEqual(['a', 'a', 'é €']);
    expect(rows).toEqual(['[1,2,3]']);
  });

  it('reckons in UTC, wherever the server stands', async () => {
    const { rows } = await readAll(`SELECT current_setting('TimeZone') AS zone, '2026-03-29 02:30'::TIMESTAMPTZ AS at`);
    expect(rows).toEqual(['["UTC","2026-03-29T02:30:00.000000Z"]']);
  });

  it('reads in the order of the query across many chunks and ranges', async () => {
    const { rows } = await readAll('SELECT range AS n FROM range(50000) ORDER BY n DESC');
    expect(rows).toHaveLength(50000);
    expect(rows.every((row, index) => row === `["${49999 - index}"]`)).toBe(true);
  });

  it('reads few rows at a time where they are wide, and all of them', async () => {
    const sql = `SELECT repeat('x', CASE WHEN range % 1000 = 999 THEN 3000000 ELSE 3 END) AS x FROM range(3000)`;
    const { rows } = await readAll(sql);
    expect(rows.map(({ length }) => length).filter((length) => length > 100)).toEqual([3000004, 3000004, 3000004]);
    expect(rows).toHaveLength(3000);
  });

  it('reads wide rows that stand behind narrow ones in small ranges, though what was read before was narrow', async () => {
    const sql = `SELECT n, CASE WHEN n BETWEEN 900 AND 939 THEN repeat('ä', 2500000) ELSE 'ünï\\x' END AS t,
                        CASE WHEN n = 950 THEN NULL ELSE 'ab'::BLOB END AS b, [n, NULL] AS l
                   FROM range(1200) AS r(n)`;
    await engine.withConnection(signal, async (connection) => {
      const result = await materialise(connection, 'behind', { sql, values: [] }, signal);
      const sizes: number[] = [];
      let rows = 0;
      for await (const batch of result.batches(signal)) {
        rows += batch.rowCount;
        sizes.push(batchBytes(batch));
      }
      await result.drop();
      expect(rows).toBe(1200);
      // Forty rows of five megabytes: two hundred, never more than sixty-four of them at a time.
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(200_000_000);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024 * 1024);
    });
  });

  it('maps engine types that have no canonical twin', async () => {
    const { rows, columns } = await readAll(`
      SELECT 200::UTINYINT, 4294967295::UINTEGER, 18446744073709551615::UBIGINT, 340282366920938463463374607431768211455::UHUGEINT,
        [1, NULL, 3], {'k': 'v"'}, MAP {'a': 1}, 'x'::ENUM('x', 'y'), uuid '6b1e7e2c-0000-4000-8000-000000000001',
        INTERVAL '1 day', TIMESTAMP_NS '2024-02-29 23:59:59.123456789', '2024-01-01 10:00:00+02'::TIMESTAMPTZ,
        DATE 'infinity', 'nan'::DOUBLE, NULL, '101'::BIT`);
    expect(columns.map(({ type }) => type).join()).toBe(
      'INTEGER,BIGINTEGER,BIGDECIMAL,BIGDECIMAL,STRING,STRING,STRING,STRING,STRING,STRING,TIMESTAMP,TIMESTAMP,DATE,DECIMAL,INTEGER,STRING',
    );
    expect(rows).toEqual([
      '[200,"4294967295","18446744073709551615","340282366920938463463374607431768211455","[1,null,3]",' +
        '"{\\"k\\":\\"v\\\\\\"\\"}","{\\"a\\":1}","x","6b1e7e2c-0000-4000-8000-000000000001","1 day",' +
        '"2024-02-29T23:59:59.123456Z","2024-01-01T08:00:00.000000Z",null,null,null,"101"]',
    ]);
  });

  it('binds typed values, bytes included, into a staged query', async () => {
    const binds = new Map<string, TypedValue>([
      ['n', { type: { type: 'BIGDECIMAL' }, value: { unscaled: 1234567890123456789012345678901234567n, scale: 5 } }],
      ['b', { type: { type: 'BINARY' }, value: new Uint8Array([0, 39, 255]) }],
      ['t', { type: { type: 'TIMESTAMP' }, value: 1772348709000001n }],
      ['nothing', { type: { type: 'DATE' }, value: null }],
    ]);
    const query = bindStatement('DUCKDB', 'SELECT :n AS n, :b AS b, :t AS t, :nothing AS nothing, :n AS again', binds);
    await engine.withConnection(signal, (connection) => stageQuery(connection, 'bound', query, signal));
    const { columns, rows } = await readAll('SELECT * FROM bound');
    expect(columns.map(({ type }) => type)).toEqual(['BIGDECIMAL', 'BINARY', 'TIMESTAMP', 'DATE', 'BIGDECIMAL']);
    const n = '"12345678901234567890123456789012.34567"';
    expect(rows).toEqual([`[${n},"ACf/","2026-03-01T07:05:09.000001Z",null,${n}]`]);
  });

  it('counts what has no wire form, once per column', async () => {
    const { columns, issues } = await readAll(
      `SELECT * FROM (VALUES ('nan'::DOUBLE), ('inf'::DOUBLE), (1.5::DOUBLE)) t(v)`,
    );
    expect(issues.warnings(columns)).toEqual([{ code: 'type_mapping.value_unrepresentable', column: 'v', count: 2 }]);
  });
});

describe('statement discipline on the staging engine', () => {
  const check = (sql: string, expected: 'DQL' | 'DML' | 'DDL') =>
    engine.withConnection(signal, (connection) => disciplined(connection, sql, expected, signal));

  it.each([
    'SELECT 1; SELECT 2',
    'SET threads = 1',
    `COPY (SELECT 1) TO '/tmp/x'`,
    `ATTACH ':memory:' AS x`,
    'PRAGMA version',
    'CALL pragma_version()',
    'BEGIN',
    'EXPLAIN SELECT 1',
    'CREATE TABLE x AS SELECT 1',
    `PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b)`,
    '',
    '-- only a comment',
  ])('refuses %j as a DQL', async (sql) => {
    await expect(check(sql, 'DQL')).rejects.toMatchObject({
      code: 'pipeline.node.query_execution_failed',
      details: { reason: 'statement_type' },
    });
  });

  it.each([
    'SELECT 1;',
    'WITH a AS (SELECT 1) SELECT * FROM a',
    'VALUES (1)',
    'FROM range(3)',
    '(SELECT 1) UNION (SELECT 2)',
  ])('lets %j pass', async (sql) => void (await readAll(await check(sql, 'DQL'))));

  it('runs SHOW, DESCRIBE and SUMMARIZE although they cannot stand in CREATE TABLE AS', async () => {
    for (const sql of ['SHOW TABLES', 'DESCRIBE SELECT 1 AS a', 'SUMMARIZE SELECT 1 AS a'])
      await readAll(await check(sql, 'DQL'));
  });

  it('judges DML and DDL by what the engine prepares', async () => {
    await engine.withConnection(signal, (connection) => connection.run('CREATE TABLE target (a INTEGER)', signal));
    await check('INSERT INTO target VALUES (1)', 'DML');
    await check('TRUNCATE target', 'DDL');
    await check('CREATE INDEX i ON target (a)', 'DDL');
    await expect(check('CREATE TABLE other (a INTEGER)', 'DML')).rejects.toMatchObject({
      details: { statement: 'class' },
    });
    await expect(check('DELETE FROM target', 'DDL')).rejects.toMatchObject({ details: { statement: 'class' } });
  });

  it('counts the rows of a statement, not the value of the one it returns', async () => {
    const count = (sql: string) =>
      engine.withConnection(signal, (connection) => runCounted(connection, { sql, values: [] }, signal));
    expect(await count('CREATE TABLE counted AS SELECT range::BIGINT AS a FROM range(3)')).toBe(3);
    expect(await count('INSERT INTO counted VALUES (42) RETURNING a')).toBe(1);
    expect(await count('INSERT INTO counted VALUES (7), (8) RETURNING a')).toBe(2);
    expect(await count('UPDATE counted SET a = a + 1 WHERE a < 3')).toBe(3);
    expect(await count('DELETE FROM counted WHERE a > 100')).toBe(0);
    expect(await count('DROP TABLE counted')).toBe(0);
  });

  it('takes off the last semicolon only, never one inside a literal or comment', () => {
    expect(withoutSemicolon(`SELECT 'x; -- '`)).toBe(`SELECT 'x; -- '`);
    expect(withoutSemicolon(`SELECT 1 ; -- tail;\n`)).toBe('SELECT 1   -- tail;\n');
  });
});
