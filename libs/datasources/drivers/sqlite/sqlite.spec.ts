import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { stopsAtEveryMoment } from '../cancelling.fixture.js';
import type { Access, Cursor, TableWriter, WriteTarget } from '../driver.js';
import { batchOf, cellOf, collect, eventually, NEVER, rowsOf, sizesOf } from '../driver.fixture.js';
import { SqliteConnection } from './connection.js';

describe('SQLite in a child process', () => {
  let folder: string;
  let file: string;
  const opened: SqliteConnection[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-sqlite-'));
    file = join(folder, 'data ü.db');
    const database = new DatabaseSync(file);
    database.exec(`
      CREATE TABLE kinds (i INTEGER, b BIGINT, r REAL, t VARCHAR(20), y BLOB, n NUMERIC, bare, d DATETIME, flag BOOLEAN);
      INSERT INTO kinds VALUES
        (2147483647, 9223372036854775807, 0.1, 'Zażółć 🐘', x'00ff', 1.5, 'anything', '2026-03-01 07:05:09', 1),
        (-2147483648, -9223372036854775808, 1e308, '', x'', 7, 5, NULL, 0),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      CREATE TABLE numbers (n INTEGER PRIMARY KEY);
      CREATE VIEW doubled AS SELECT n * 2 AS twice FROM numbers;
      CREATE VIRTUAL TABLE notes USING fts5(body);
      INSERT INTO notes VALUES ('a needle in the hay');
      CREATE TABLE written (a INTEGER, b TEXT, c BLOB, d REAL, e TEXT)`);
    database.close();
  });

  afterEach(() => {
    for (const connection of opened.splice(0)) connection.destroy();
  });

  afterAll(() => {
    resting?.destroy();
    rmSync(folder, { recursive: true });
  });

  let resting: SqliteConnection | undefined;

  /** One that reads and comes to no harm: a process serves many statements. */
  async function reading(): Promise<SqliteConnection> {
    if (!resting?.usable)
      resting = await SqliteConnection.open({ file, access: 'read', busyTimeoutMs: 200, recover: true }, NEVER);
    return resting;
  }

  async function open(access: Access = 'read', path = file): Promise<SqliteConnection> {
    const connection = await SqliteConnection.open({ file: path, access, busyTimeoutMs: 200, recover: true }, NEVER);
    opened.push(connection);
    return connection;
  }

  it('values arrive exactly: int64, bytes, unicode, the empty text and NULL', async () => {
    const { columns, rows } = await rowsOf(await reading(), 'SELECT * FROM kinds');
    expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'i INTEGER',
      'b BIGINTEGER',
      'r DECIMAL',
      't STRING',
      'y BINARY',
      'n DECIMAL',
      'bare STRING',
      'd STRING',
      'flag DECIMAL',
    ]);
    expect(rows).toEqual([
      '[2147483647,"9223372036854775807",0.1,"Zażółć 🐘","AP8=",1.5,"anything","2026-03-01 07:05:09",1]',
      '[-2147483648,"-9223372036854775808",1e+308,"","",7,"5",null,0]',
      '[null,null,null,null,null,null,null,null,null]',
    ]);
  });

  it('an expression takes the storage class of its first value, and STRING when it has none', async () => {
    const { columns, rows } = await rowsOf(
      await reading(),
      `SELECT count(*) AS c, avg(r) AS a, upper('x') AS u, NULL AS void, x'01' || x'02' AS j, CAST(x'03' AS BLOB) AS y FROM kinds`,
    );
    expect(columns.map(({ type }) => type)).toEqual(['BIGINTEGER', 'DECIMAL', 'STRING', 'STRING', 'STRING', 'BINARY']);
    expect(rows[0]).toContain('"3"');
  });

  it('the first value of an expression is looked for through leading NULLs, within 1,000 rows', async () => {
    const series = (last: number): string =>
      `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${last}) SELECT CASE WHEN i > ${last - 1} THEN i END AS v FROM s`;
    expect((await rowsOf(await reading(), series(900))).columns[0]?.type).toBe('BIGINTEGER');
    const late = await rowsOf(await reading(), series(1200));
    expect(late.columns[0]?.type).toBe('STRING');
    expect(late.rows.at(-1)).toBe('["1200"]');
  });

  it('a value outside its column’s type fails naming column and row, never bent to fit', async () => {
    const writer = await open('write');
    await writer.own(`CREATE TABLE loose AS SELECT 1 AS x WHERE 0`, NEVER);
    await writer.own(`CREATE TABLE odd (i INTEGER, y BLOB)`, NEVER);
    await writer.own(`INSERT INTO odd VALUES (1, x'00'), (2147483648, x'00')`, NEVER);
    await expect(rowsOf(await reading(), 'SELECT i FROM odd')).rejects.toMatchObject({
      code: 'pipeline.staging.value_overflow',
      details: { column: 'i', row: 2 },
    });
    await writer.own(`INSERT INTO odd VALUES ('words', 'text')`, NEVER);
    await expect(rowsOf(await reading(), 'SELECT y FROM odd')).rejects.toMatchObject({
      details: { column: 'y', row: 3 },
    });
    expect((await rowsOf(await reading(), 'SELECT CAST(i AS TEXT) AS t FROM odd')).rows).toContain('["words"]');
  });

  it('values are bound, and an int64 bind is exact', async () => {
    const { rows } = await rowsOf(await reading(), 'SELECT ? + 1, ?, ?, ?', [
      9007199254740993n,
      'x',
      Buffer.from([1]),
      null,
    ]);
    expect(rows).toEqual(['["9007199254740994","x","AQ==",null]']);
  });

  it('200,000 rows stream in messages of 500 with the next one ahead', async () => {
    const cursor = await (
      await open()
    ).openCursor(
      {
        sql: `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 200000) SELECT i, 'row ' || i FROM s`,
        values: [],
      },
      { fetchSize: 1000, signal: NEVER },
    );
    const { rows, batches } = await collect(cursor);
    expect(rows).toHaveLength(200_000);
    expect(rows.at(-1)).toBe('["200000","row 200000"]');
    expect(Math.max(...batches)).toBe(500);
  });

  describe('rows of a megabyte each', () => {
    const wide = (column: string, rows: number): string =>
      `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${rows}) SELECT i, ${column} FROM s`;

    it.each([
      ['bytes', 'zeroblob(1000000)', 5],
      ['texts', `replace(hex(zeroblob(500000)), '0', 'ü')`, 3],
    ])('come in messages of some megabytes, not of 500 rows: %s', async (_, column, most) => {
      const reader = await open();
      const cursor = await reader.openCursor({ sql: wide(column, 8), values: [] }, { fetchSize: 1000, signal: NEVER });
      const sizes = await sizesOf(cursor);
      expect([sumOf(sizes), Math.max(...sizes)]).toEqual([8, most]);
    });

    it('are not all kept back until an expression shows its type', async () => {
      const late = `CASE WHEN i > 36 THEN i END, zeroblob(1000000)`;
      const reader = await open();
      const cursor = await reader.openCursor({ sql: wide(late, 40), values: [] }, { fetchSize: 1000, signal: NEVER });
      expect(cursor.columns[1]?.type).toBe('STRING');
      expect(sumOf(await sizesOf(cursor))).toBe(40);
    });
  });

  const ENDLESS = `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT count(*) FROM s`;

  it('aborting stops a statement that never yields, by ending its process', async () => {
    const connection = await open();
    const abort = new AbortController();
    const opening = connection.openCursor({ sql: ENDLESS, values: [] }, { fetchSize: 1000, signal: abort.signal });
    setTimeout(() => abort.abort(), 100);
    await expect(opening).rejects.toMatchObject({ name: 'DriverFailure', kind: 'cancelled' });
    expect(connection.usable).toBe(false);
    expect(await eventually(() => Promise.resolve(!isRunning(connection.pid)))).toBe(true);
  });

  it('closing a cursor early leaves no process at work', async () => {
    const connection = await open();
    const cursor = await connection.openCursor(
      { sql: `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT i FROM s`, values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    await cursor.next(NEVER);
    await cursor.close();
    expect(await eventually(() => Promise.resolve(!isRunning(connection.pid)))).toBe(true);
  });

  it('a reader may only read: writes, ATTACH, PRAGMA and extensions are refused by the engine', async () => {
    for (const sql of [
      'INSERT INTO numbers VALUES (1)',
      'DELETE FROM kinds RETURNING i',
      'CREATE TABLE x (a)',
      `ATTACH '${join(folder, 'other.db')}' AS other`,
      'PRAGMA journal_mode = WAL',
      `SELECT * FROM pragma_table_info('kinds')`,
      `SELECT load_extension('libm')`,
      'BEGIN',
      'VACUUM',
    ]) {
      await expect(rowsOf(await reading(), sql)).rejects.toMatchObject({ name: 'DriverFailure' });
    }
    const writer = await open('write');
    for (const sql of [
      `ATTACH 'x.db' AS other`,
      'PRAGMA user_version = 5',
      'BEGIN',
      'COMMIT',
      'SAVEPOINT a',
      "VACUUM INTO 'x.db'",
    ]) {
      await expect(writer.execute({ sql, values: [] }, { signal: NEVER })).rejects.toMatchObject({
        name: 'DriverFailure',
      });
    }
  });

  it('full-text tables can be read: what they ask the engine themselves is let through', async () => {
    expect((await rowsOf(await reading(), `SELECT body FROM notes WHERE notes MATCH 'needle'`)).rows).toEqual([
      '["a needle in the hay"]',
    ]);
  });

  it('a second statement is refused: SQLite itself would silently drop it', async () => {
    await expect(rowsOf(await reading(), 'SELECT 1; SELECT 2')).rejects.toMatchObject({
      reason: 'multiple_statements',
    });
    const writer = await open('write');
    await expect(
      writer.execute({ sql: 'INSERT INTO numbers VALUES (1); DROP TABLE numbers', values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({ reason: 'multiple_statements' });
    expect(await cellOf(await reading(), `SELECT ';' AS v; -- done`)).toBe('";"');
  });

  it('DML is counted and committed, DDL counts nothing', async () => {
    const writer = await open('write');
    const run = (sql: string): Promise<number> => writer.execute({ sql, values: [] }, { signal: NEVER });
    expect(await run('INSERT INTO numbers VALUES (1), (2), (3)')).toBe(3);
    expect(await run('UPDATE numbers SET n = n + 10 WHERE n > 1')).toBe(2);
    expect(await cellOf(await reading(), 'SELECT sum(twice) FROM doubled')).toBe('"52"');
    expect(await run('CREATE TABLE brand_new (a)')).toBe(0);
    await expect(run('INSERT INTO nowhere VALUES (1)')).rejects.toMatchObject({ kind: 'missing_table' });
    await expect(run('INSERT INTO numbers VALUES (1)')).rejects.toMatchObject({ driverCode: 'SQLITE_CONSTRAINT' });
  });

  it('a write-back is one transaction: unseen until COMMIT, gone after ROLLBACK', async () => {
    const columns = [
      { name: 'a', type: 'INTEGER' },
      { name: 'b', type: 'STRING' },
    ] as const;
    const target: WriteTarget = { table: 'written', mode: 'append', columns, batchRows: 2 };
    const source = await (
      await open()
    ).openCursor({ sql: `SELECT i AS a, t AS b FROM kinds`, values: [] }, { fetchSize: 10, signal: NEVER });
    const batch = (await source.next(NEVER))!;
    await source.close();
    const writer = await open('write');
    const count = async (): Promise<string> => await cellOf(await reading(), 'SELECT count(*) FROM written');

    const first = await writer.beginWrite(target, { signal: NEVER });
    await first.write(batch);
    expect(await count()).toBe('"0"');
    await first.commit();
    expect((await rowsOf(await reading(), 'SELECT a, b FROM written')).rows).toEqual([
      '[2147483647,"Zażółć 🐘"]',
      '[-2147483648,""]',
      '[null,null]',
    ]);

    const second = await writer.beginWrite({ ...target, mode: 'replace' }, { signal: NEVER });
    await second.write(batch);
    await second.rollback();
    expect(await count()).toBe('"3"');
    await expect(writer.beginWrite({ ...target, table: 'nowhere' }, { signal: NEVER })).rejects.toMatchObject({
      kind: 'missing_table',
    });
  });

  it('a writer killed in mid-transaction leaves nothing behind, and readers go on at once', async () => {
    const writer = await open('write');
    const before = await cellOf(await reading(), 'SELECT count(*) FROM written');
    const abort = new AbortController();
    const columns = [{ name: 'a', type: 'INTEGER' }] as const;
    const write = await writer.beginWrite(
      { table: 'written', mode: 'replace', columns, batchRows: 1000 },
      { signal: abort.signal },
    );
    void write;
    // Enough to spill pages into the file, so that a journal has to be rolled back.
    await writer.own(
      `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 300000) INSERT INTO written (b) SELECT printf('%0100d', i) FROM s`,
      NEVER,
    );
    writer.destroy();
    for (const reader of [await open(), await reading()])
      expect(await cellOf(reader, 'SELECT count(*) FROM written')).toBe(before);
  });

  describe('COMMIT', () => {
    const columns = [{ name: 'a', type: 'INTEGER' }] as const;
    const count = async (): Promise<string> => await cellOf(await reading(), 'SELECT count(*) FROM written');
    const written = async (signal: AbortSignal = NEVER): Promise<[SqliteConnection, TableWriter]> => {
      const connection = await open('write');
      const writer = await connection.beginWrite(
        { table: 'written', mode: 'append', columns, batchRows: 10 },
        { signal },
      );
      await writer.write(batchOf(columns, [[1]]));
      return [connection, writer];
    };
    /** A reader in mid-read holds the file: a COMMIT waits for it. */
    const read = async (): Promise<Cursor> => {
      const cursor = await (
        await open()
      ).openCursor(
        {
          sql: 'WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT s.i, b FROM s, kinds',
          values: [],
        },
        { fetchSize: 10, signal: NEVER },
      );
      await cursor.next(NEVER);
      return cursor;
    };

    it('that the engine refuses is told as not done, and can be given up', async () => {
      const before = await count();
      const [, writer] = await written();
      const reader = await read();
      await expect(writer.commit()).rejects.toMatchObject({ driverCode: 'SQLITE_BUSY', commitUnknown: false });
      await writer.rollback();
      await reader.close();
      expect(await count()).toBe(before);
    });

    it('whose process ends meanwhile is neither done nor not done', async () => {
      const [connection, writer] = await written();
      const reader = await read();
      const committing = writer.commit();
      connection.destroy();
      await expect(committing).rejects.toMatchObject({ commitUnknown: true });
      await reader.close();
    });

    it('that is under way when the caller gives up is done all the same', async () => {
      const before = BigInt(JSON.parse(await count()) as string);
      const caller = new AbortController();
      const [connection, writer] = await written(caller.signal);
      const committing = writer.commit();
      caller.abort();
      await committing;
      expect(await count()).toBe(`"${before + 1n}"`);
      expect(connection.usable).toBe(false);
    });
  });

  stopsAtEveryMoment(() => ({
    connect: (signal) => SqliteConnection.open({ file, access: 'read', busyTimeoutMs: 200, recover: true }, signal),
    endless: ENDLESS,
    stream: 'WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT i FROM s',
    works: (connection) => Promise.resolve(isRunning((connection as SqliteConnection).pid)),
  }));

  it('a missing file and one that is no database are connection failures, and no file is made', async () => {
    const missing = join(folder, 'missing.db');
    await expect(open('read', missing)).rejects.toMatchObject({ kind: 'connection', driverCode: 'SQLITE_CANTOPEN' });
    expect(statSync(missing, { throwIfNoEntry: false })).toBeUndefined();
    const foreign = join(folder, 'foreign.db');
    writeFileSync(foreign, 'this is no database, however long it may be'.repeat(50));
    await expect(open('read', foreign)).rejects.toMatchObject({ kind: 'connection', driverCode: 'SQLITE_NOTADB' });
  });

  it('a locked file is a busy connection, not a hang', async () => {
    const holder = await open('write');
    await holder.own('BEGIN IMMEDIATE', NEVER);
    const writer = await open('write');
    await expect(
      writer.execute({ sql: 'INSERT INTO numbers VALUES (77)', values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({
      kind: 'connection',
      driverCode: 'SQLITE_BUSY',
    });
  });

  it('the child has none of the server’s environment, where secrets are', async () => {
    process.env['PLANTED_SECRET'] = 'should-not-travel';
    const connection = await open();
    const environment = `/proc/${connection.pid}/environ`;
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(environment, 'utf8')).not.toContain('should-not-travel');
    delete process.env['PLANTED_SECRET'];
  });
});

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, rows) => sum + rows, 0);

function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
