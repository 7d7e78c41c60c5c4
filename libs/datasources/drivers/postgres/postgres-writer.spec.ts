import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import type { Column, ColumnBatch } from '#libs/typesystem';

import { eventually, NEVER, rowsOf } from '../driver.fixture.js';
import type { WriteTarget } from '../driver.js';
import type { PostgresConnection } from './connection.js';
import { PostgresBench } from './postgres.fixture.js';

const EVERY_TYPE = `
  SELECT true AS b, 2147483647::int4 AS i, 9223372036854775807::int8 AS l, 1.5::float4 AS f4, 0.1::float8 AS f8,
         12.34::numeric(10,2) AS d, 12345678901234567890.0123456789::numeric(38,10) AS bd,
         E'tab\\tnewline\\nback\\\\slash "quote" \\\\N ü🐘' AS t, '\\x00ff5c'::bytea AS y, date '0001-01-01' AS dt,
         time '24:00:00' AS tm, timestamptz '2026-03-01 07:05:09.000001+00' AS ts
  UNION ALL SELECT NULL, NULL, NULL, 'NaN', '-Infinity', 'NaN', 'NaN', '', '', 'infinity', NULL, '-infinity'
  UNION ALL SELECT false, 0, 0, 0, 0, 0, 0, E'\\\\.', NULL, '0044-03-15 BC', '00:00:00', '0044-03-15 10:00:00.5 BC'`;

describe('write-back to PostgreSQL', () => {
  let bench: PostgresBench;
  let source: PostgresConnection;
  let watcher: PostgresConnection;
  let connection: PostgresConnection;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    source = await bench.connect();
    watcher = await bench.connect();
  });

  beforeEach(async () => {
    connection = await bench.connect();
    await source.control(`DROP TABLE IF EXISTS copied; CREATE TABLE copied AS ${EVERY_TYPE} LIMIT 0`);
  });

  afterEach(() => {
    connection.destroy();
  });

  afterAll(async () => {
    await bench.close();
  });

  async function read(sql: string): Promise<{ columns: readonly Column[]; batches: ColumnBatch[] }> {
    const cursor = await source.openCursor({ sql, values: [] }, { fetchSize: 1000, signal: NEVER });
    const batches: ColumnBatch[] = [];
    for (let batch = await cursor.next(NEVER); batch; batch = await cursor.next(NEVER)) batches.push(batch);
    await cursor.close();
    return { columns: cursor.columns, batches };
  }

  async function write(sql: string, target: Partial<WriteTarget>): Promise<void> {
    const { columns, batches } = await read(sql);
    const writer = await connection.beginWrite(
      { table: 'copied', mode: 'append', batchRows: 7, columns, ...target },
      { signal: NEVER },
    );
    for (const batch of batches) await writer.write(batch);
    await writer.commit();
  }

  it('every type arrives as it was read, with NULL, NaN, infinities, backslashes and bytes', async () => {
    await write(EVERY_TYPE, {});
    const difference = `(${EVERY_TYPE}) EXCEPT ALL SELECT * FROM copied`;
    expect((await rowsOf(source, difference)).rows).toEqual([]);
    expect((await rowsOf(source, 'SELECT count(*)::int FROM copied')).rows).toEqual(['[3]']);
  });

  it('replace empties the table in the same transaction, so a failure leaves the old rows', async () => {
    await source.control(
      'DROP TABLE copied; CREATE TABLE copied (n int CHECK (n < 5000)); INSERT INTO copied VALUES (1), (2)',
    );
    const { columns, batches } = await read('SELECT i AS n FROM generate_series(1, 9000) i');
    const writer = await connection.beginWrite(
      { table: 'copied', mode: 'replace', batchRows: 500, columns },
      { signal: NEVER },
    );
    const writing = async (): Promise<void> => {
      for (const batch of batches) await writer.write(batch);
      await writer.commit();
    };
    await expect(writing()).rejects.toMatchObject({ kind: 'other', driverCode: '23514' });
    await writer.rollback();
    expect((await rowsOf(source, 'SELECT n FROM copied ORDER BY n')).rows).toEqual(['[1]', '[2]']);
    expect(await connection.reset()).toBe(true);
  });

  it('replace works beside an open reader of the table, where TRUNCATE would wait for it', async () => {
    await source.control('DROP TABLE copied; CREATE TABLE copied AS SELECT i AS n FROM generate_series(1, 5000) i');
    const reader = await bench.connect();
    const open = await reader.openCursor(
      { sql: 'SELECT n FROM copied', values: [] },
      { fetchSize: 100, signal: NEVER },
    );
    await open.next(NEVER);
    await write('SELECT 7 AS n', { mode: 'replace' });
    await open.close();
    await reader.reset();
    expect((await rowsOf(source, 'SELECT n FROM copied')).rows).toEqual(['[7]']);
  });

  it('a rolled-back write leaves nothing, and the connection goes on', async () => {
    const { columns, batches } = await read('SELECT true AS b');
    const writer = await connection.beginWrite(
      { table: 'copied', mode: 'append', batchRows: 10, columns },
      { signal: NEVER },
    );
    await writer.write(batches[0]!);
    await writer.rollback();
    expect((await rowsOf(source, 'SELECT count(*)::int FROM copied')).rows).toEqual(['[0]']);
    expect(await connection.reset()).toBe(true);
  });

  it('a missing table is told before a row is read, in both modes', async () => {
    const { columns } = await read('SELECT 1 AS a');
    for (const mode of ['append', 'replace'] as const) {
      await expect(
        connection.beginWrite({ table: 'nowhere.at_all', mode, batchRows: 10, columns }, { signal: NEVER }),
      ).rejects.toMatchObject({ kind: 'missing_table' });
      await connection.reset();
    }
  });

  it('names are quoted: a table or column cannot carry SQL', async () => {
    await source.control('DROP TABLE copied; CREATE TABLE copied ("a""b; DROP TABLE copied" int)');
    await write('SELECT 5 AS "a""b; DROP TABLE copied"', {});
    expect((await rowsOf(source, 'SELECT * FROM copied')).rows).toEqual(['[5]']);
    await expect(write('SELECT 1 AS n', { table: 'copied; DROP TABLE copied' })).rejects.toMatchObject({
      kind: 'missing_table',
    });
  });

  it('a deferred constraint that fails at COMMIT is an error, never dropped', async () => {
    await source.control(
      'DROP TABLE copied; CREATE TABLE copied (n int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO copied VALUES (1)',
    );
    await expect(write('SELECT 1 AS n', {})).rejects.toMatchObject({ driverCode: '23505', commitUnknown: false });
    expect((await rowsOf(source, 'SELECT count(*)::int FROM copied')).rows).toEqual(['[1]']);
  });

  it('a connection that goes while COMMIT is under way leaves the outcome unknown', async () => {
    await source.control(`
      DROP TABLE copied; CREATE TABLE copied (n int);
      CREATE OR REPLACE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON copied DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION nap()`);
    const outcome = expect(write('SELECT 1 AS n', {})).rejects.toMatchObject({
      kind: 'connection',
      commitUnknown: true,
    });
    expect(await eventually(async () => (await bench.running(watcher)).includes('COMMIT'))).toBe(true);
    await watcher.control(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'COMMIT' AND state = 'active'`,
    );
    await outcome;
  });

  it('aborting a write that waits for a lock stops it in the server', async () => {
    const holder = await bench.connect();
    await holder.control('BEGIN; LOCK TABLE copied IN ACCESS EXCLUSIVE MODE');
    const { columns } = await read('SELECT true AS b');
    const abort = new AbortController();
    const begun = connection.beginWrite(
      { table: 'copied', mode: 'append', batchRows: 10, columns },
      { signal: abort.signal },
    );
    expect(await eventually(async () => (await bench.running(watcher)).some((sql) => sql.startsWith('COPY')))).toBe(
      true,
    );
    abort.abort();
    await expect(begun).rejects.toMatchObject({ kind: 'cancelled' });
    expect((await bench.running(watcher)).filter((sql) => sql.startsWith('COPY'))).toEqual([]);
    await holder.control('ROLLBACK');
  });
});
