import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createServer, type Server, type Socket } from 'node:net';

import { encodeBatchRows } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { stopsAtEveryMoment } from '../cancelling.fixture.js';
import { collect, eventually, NEVER, rowsOf, sizesOf } from '../driver.fixture.js';
import type { PostgresConnection } from './connection.js';
import { PostgresBench } from './postgres.fixture.js';

describe('streams and failures of PostgreSQL', () => {
  let bench: PostgresBench;
  let watcher: PostgresConnection;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    watcher = await bench.connect();
    await watcher.control(`
      CREATE TABLE slow_source AS SELECT i, 'row ' || i AS label FROM generate_series(1, 200000) i;
      CREATE UNLOGGED TABLE returned (i int, label text);
      CREATE TABLE target (i int PRIMARY KEY, label text)`);
  });

  afterAll(async () => {
    await bench.close();
  });

  it('200,000 rows come in batches of two fetches, each asked for when the one before was taken', async () => {
    const connection = await bench.connect();
    const cursor = await connection.openCursor(
      { sql: 'SELECT * FROM slow_source ORDER BY i', values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    const { rows, batches } = await collect(cursor);
    expect(rows).toHaveLength(200_000);
    expect(rows.at(-1)).toBe('[200000,"row 200000"]');
    expect(batches.slice(0, 3)).toEqual([128, 2000, 2000]);
    expect(Math.max(...batches)).toBe(2000);
    expect(await connection.reset()).toBe(true);
  });

  it('a consumer that stops reading stops the server: no more than two batches are ever held', async () => {
    const connection = await bench.connect();
    const cursor = await connection.openCursor(
      { sql: `SELECT i, repeat('x', 1000) FROM generate_series(1, 10000000) i`, values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    await cursor.next(NEVER);
    const before = process.memoryUsage().rss;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    await cursor.close();
  });

  it('wide rows are asked for in fewer at a time, so that memory follows bytes and not rows', async () => {
    const connection = await bench.connect();
    const wide = { sql: `SELECT repeat('x', 100000) FROM generate_series(1, 400) i`, values: [] };
    const batches = await sizesOf(await connection.openCursor(wide, { fetchSize: 1000, signal: NEVER }));
    expect(Math.max(...batches)).toBeLessThan(60);
    expect(batches.reduce((sum, rows) => sum + rows, 0)).toBe(400);
  });

  describe('wide rows behind narrow ones', () => {
    /** 128 narrow rows let the reader ask for many; then each row has 200 KB. */
    const WIDE = `SELECT i, repeat('x', CASE WHEN i > 128 THEN 200000 ELSE 1 END) AS wide FROM generate_series(1, 400) i`;
    const open = async (sql: string) => {
      const connection = await bench.connect();
      return {
        connection,
        cursor: await connection.openCursor({ sql, values: [] }, { fetchSize: 1000, signal: NEVER }),
      };
    };

    it('are given as they come, some megabytes at a time, and none is lost or doubled', async () => {
      const { connection, cursor } = await open(WIDE);
      const { rows, batches } = await collect(cursor);
      expect(rows.map((row) => Number(row.slice(1, row.indexOf(','))))).toEqual(
        Array.from({ length: 400 }, (_, index) => index + 1),
      );
      expect(rows.at(-1)).toHaveLength('[400,""]'.length + 200_000);
      expect(Math.max(...batches.slice(1))).toBeLessThan(30);
      expect(await connection.reset()).toBe(true);
    });

    it('hold the server back while nobody takes them', async () => {
      const { cursor } = await open(WIDE);
      await cursor.next(NEVER);
      const before = process.memoryUsage().rss;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
      await cursor.close();
    });

    it('an error behind them is told after them, and never taken for the end', async () => {
      const { connection, cursor } = await open(
        `SELECT 1 / (CASE WHEN i = 190 THEN 0 ELSE 1 END), repeat('x', CASE WHEN i > 128 THEN 200000 ELSE 1 END)
           FROM generate_series(1, 1000) i`,
      );
      await expect(collect(cursor)).rejects.toMatchObject({ kind: 'other', driverCode: '22012' });
      await expect(cursor.next(NEVER)).rejects.toMatchObject({ driverCode: '22012' });
      await cursor.close();
      expect(await connection.reset()).toBe(true);
    });

    it('a read that is given up while some of them wait is stopped in the server', async () => {
      const slow = `SELECT repeat('x', 200000), pg_sleep(CASE WHEN i > 50 THEN 600 ELSE 0 END) FROM generate_series(1, 128) i`;
      const closed = await open(slow);
      await closed.cursor.next(NEVER);
      await closed.cursor.close();
      expect(await bench.running(watcher)).toEqual([]);
      const abort = new AbortController();
      const aborted = await open(slow);
      await aborted.cursor.next(NEVER);
      abort.abort();
      await aborted.cursor.next(abort.signal).catch((error: unknown) => expect(error).toBeInstanceOf(DriverFailure));
      expect(await bench.running(watcher)).toEqual([]);
      expect(aborted.connection.usable).toBe(false);
      await aborted.cursor.close();
    });
  });

  it('a batch is its taker’s until the next is asked for, and then used again', async () => {
    const connection = await bench.connect();
    const cursor = await connection.openCursor(
      { sql: `SELECT i, CASE WHEN i % 2 = 0 THEN 'row ' || i END FROM generate_series(1, 9000) i`, values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    const seen: string[] = [];
    for (let batch = await cursor.next(NEVER); batch; batch = await cursor.next(NEVER)) {
      // The next one is on its way by now, and must not be written into this one.
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.push(...encodeBatchRows(cursor.columns, batch));
    }
    expect(seen).toEqual(
      Array.from({ length: 9000 }, (_, index) => `[${index + 1},${index % 2 ? `"row ${index + 1}"` : 'null'}]`),
    );
    await cursor.close();
  });

  it.each([
    ['rows that end with a fetch', 'SELECT i FROM generate_series(1, 1128) i', 1128],
    ['rows that end with a batch', 'SELECT i FROM generate_series(1, 2128) i', 2128],
    ['one row behind a batch', 'SELECT i FROM generate_series(1, 2129) i', 2129],
    ['values', `VALUES ${Array.from({ length: 700 }, (_, index) => `(${index})`).join(',')}`, 700],
    ['settings', 'SHOW ALL', -1],
    ['a common table', 'WITH t AS (SELECT generate_series(1, 500) i) SELECT * FROM t', 500],
  ])('each row comes once although two fetches are asked for at once: %s', async (_name, sql, expected) => {
    const connection = await bench.connect();
    const { rows } = await rowsOf(connection, sql);
    expect(new Set(rows).size).toBe(rows.length);
    if (expected >= 0) expect(rows).toHaveLength(expected);
    else expect(rows.length).toBeGreaterThan(300);
    expect(await connection.reset()).toBe(true);
  });

  it('what a DML returns is counted and let go, so that no statement fills the memory of the server', async () => {
    const connection = await bench.connect();
    const before = process.memoryUsage().heapUsed;
    let highest = before;
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().heapUsed)), 10);
    try {
      const touched = await connection.execute(
        {
          sql: `INSERT INTO returned SELECT i, repeat('x', 1000) FROM generate_series(1, 60000) i RETURNING *`,
          values: [],
        },
        { signal: NEVER },
      );
      expect(touched).toBe(60_000);
    } finally {
      clearInterval(watch);
    }
    expect(highest - before).toBeLessThan(40 * 1024 * 1024);
  });

  it('an error in the middle of a stream rejects after the rows before it, never as an end', async () => {
    const connection = await bench.connect();
    const cursor = await connection.openCursor(
      { sql: 'SELECT 10000 / (5000 - i) FROM generate_series(1, 10000) i', values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    await expect(collect(cursor)).rejects.toMatchObject({ kind: 'other', driverCode: '22012' });
    expect(await connection.reset()).toBe(true);
    expect((await rowsOf(connection, 'SELECT 1')).rows).toEqual(['[1]']);
  });

  it('aborting a wait stops pg_sleep in the server and gives the connection up', async () => {
    const connection = await bench.connect();
    const abort = new AbortController();
    const cursor = await connection.openCursor(
      { sql: 'SELECT pg_sleep(600)', values: [] },
      { fetchSize: 1000, signal: abort.signal },
    );
    const waiting = cursor.next(abort.signal);
    expect(await eventually(async () => (await bench.running(watcher)).some((sql) => sql.includes('pg_sleep')))).toBe(
      true,
    );
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'DriverFailure', kind: 'cancelled' });
    expect(await bench.running(watcher)).toEqual([]);
    expect(connection.usable).toBe(false);
  });

  stopsAtEveryMoment(() => ({
    connect: (signal) => bench.connect(undefined, signal),
    endless: 'SELECT count(*) FROM slow_source a, slow_source b, slow_source c',
    stream: 'SELECT a.i FROM slow_source a, slow_source b, slow_source c',
    works: async () => (await bench.running(watcher)).some((sql) => sql.includes('slow_source a')),
  }));

  it('aborting while a DML waits for a lock stops it, and nothing is written', async () => {
    const holder = await bench.connect();
    await holder.control(`BEGIN; INSERT INTO target VALUES (1, 'held')`);
    const connection = await bench.connect();
    const abort = new AbortController();
    const inserting = connection.execute(
      { sql: `INSERT INTO target VALUES (1, 'second')`, values: [] },
      { signal: abort.signal },
    );
    expect(await eventually(async () => (await bench.running(watcher)).some((sql) => sql.includes('second')))).toBe(
      true,
    );
    abort.abort();
    await expect(inserting).rejects.toMatchObject({ kind: 'cancelled' });
    await holder.control('ROLLBACK');
    expect((await rowsOf(watcher, 'SELECT count(*)::int FROM target')).rows).toEqual(['[0]']);
    await watcher.reset();
  });

  it('closing a cursor early stops the query behind it', async () => {
    const connection = await bench.connect();
    const cursor = await connection.openCursor(
      { sql: `SELECT i, pg_sleep(CASE WHEN i > 528 THEN 600 ELSE 0 END) FROM generate_series(1, 1000) i`, values: [] },
      { fetchSize: 200, signal: NEVER },
    );
    await cursor.next(NEVER);
    await cursor.next(NEVER);
    await cursor.close();
    expect(await bench.running(watcher)).toEqual([]);
    expect(connection.usable).toBe(false);
  });

  it('a connection killed in mid-stream is a connection failure with the server’s own code', async () => {
    const connection = await bench.connect();
    const cursor = await connection.openCursor(
      { sql: `SELECT i, pg_sleep(CASE WHEN i = 150 THEN 600 ELSE 0 END) FROM generate_series(1, 1000) i`, values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    await cursor.next(NEVER);
    const next = cursor.next(NEVER);
    await watcher.control(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT i, pg_sleep%' AND pid <> pg_backend_pid()`,
    );
    await expect(next).rejects.toMatchObject({ kind: 'connection', driverCode: '57P01' });
    await expect(cursor.next(NEVER)).rejects.toBeInstanceOf(DriverFailure);
    await cursor.close();
    expect(connection.usable).toBe(false);
    expect(await connection.reset()).toBe(false);
  });

  it('an idle connection that the server ended says so at the next use, and does not end the process', async () => {
    const connection = await bench.connect();
    const { rows } = await connection.control('SELECT pg_backend_pid()');
    await watcher.control(`SELECT pg_terminate_backend(${rows[0]?.[0]})`);
    expect(await eventually(() => Promise.resolve(!connection.usable))).toBe(true);
    await expect(connection.ping(1000)).rejects.toMatchObject({ kind: 'connection', driverCode: '57P01' });
  });

  it('reads run read-only, so a function that writes is refused by the server', async () => {
    const connection = await bench.connect();
    await watcher.control(
      `CREATE FUNCTION sneak() RETURNS int LANGUAGE sql AS $$ INSERT INTO target VALUES (9, 'x') RETURNING 1 $$`,
    );
    await expect(rowsOf(connection, 'SELECT sneak()')).rejects.toMatchObject({ driverCode: '25006' });
    expect(await connection.reset()).toBe(true);
    await expect(
      rowsOf(connection, `SELECT set_config('transaction_read_only', 'off', true), sneak()`),
    ).rejects.toBeInstanceOf(DriverFailure);
  });

  it('only one statement travels at a time, whatever the text holds', async () => {
    const connection = await bench.connect();
    await expect(rowsOf(connection, 'SELECT 1; DROP TABLE target')).rejects.toMatchObject({ driverCode: '42601' });
    await connection.reset();
    await expect(
      connection.execute({ sql: `DELETE FROM target; DROP TABLE target`, values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({ driverCode: '42601' });
    expect((await rowsOf(connection, 'SELECT count(*)::int FROM target')).rows).toEqual(['[0]']);
  });

  it('nothing of a lease is left for the next: settings, temporary tables and locks are gone', async () => {
    const connection = await bench.connect();
    await connection.execute({ sql: 'CREATE TEMP TABLE leftover (i int)', values: [] }, { signal: NEVER });
    await connection.execute({ sql: `SET TimeZone = 'Asia/Tokyo'`, values: [] }, { signal: NEVER });
    expect(await connection.reset()).toBe(true);
    expect((await rowsOf(connection, 'SHOW TimeZone')).rows).toEqual(['["UTC"]']);
    await connection.reset();
    await expect(rowsOf(connection, 'SELECT * FROM leftover')).rejects.toMatchObject({ kind: 'missing_table' });
  });

  it('counts the rows of a DML, and none for a DDL', async () => {
    const connection = await bench.connect();
    const run = (sql: string): Promise<number> => connection.execute({ sql, values: [] }, { signal: NEVER });
    expect(await run('CREATE TABLE counted (i int)')).toBe(0);
    expect(await run('INSERT INTO counted SELECT generate_series(1, 5)')).toBe(5);
    expect(await run('UPDATE counted SET i = i + 1 WHERE i > 3')).toBe(2);
    expect(await run('DELETE FROM counted')).toBe(5);
    await expect(run('SELECT 1 / 0')).rejects.toMatchObject({ driverCode: '22012' });
  });

  it('a wrong password, a missing database and a closed port are connection failures with their codes', async () => {
    const options = bench.options();
    const wrong = { ...bench.login, secret: 'not the password' };
    // The test server may trust local logins; then the password cannot be wrong.
    const refused = await bench.connect(options, NEVER, wrong).catch((error: unknown) => error);
    if (refused instanceof DriverFailure) expect(refused).toMatchObject({ kind: 'connection', driverCode: '28P01' });
    await expect(bench.connect({ ...options, database: 'nowhere' })).rejects.toMatchObject({
      kind: 'connection',
      driverCode: '3D000',
    });
    await expect(bench.connect({ ...options, hosts: [{ host: '127.0.0.1', port: 1 }] })).rejects.toMatchObject({
      kind: 'connection',
      driverCode: 'ECONNREFUSED',
    });
  });

  it('hosts are tried in order until one answers, and of the wanted kind', async () => {
    const options = bench.options();
    const [host] = options.hosts;
    const connection = await bench.connect({ ...options, hosts: [{ host: '127.0.0.1', port: 1 }, host] });
    expect((await rowsOf(connection, 'SELECT 1')).rows).toEqual(['[1]']);
    await expect(bench.connect({ ...options, targetServerType: 'secondary' })).rejects.toMatchObject({
      driverCode: 'WRONG_SERVER_TYPE',
    });
    expect((await bench.connect({ ...options, targetServerType: 'preferSecondary' })).usable).toBe(true);
  });

  it('sslmode require is refused where the server has no TLS, and prefer goes on without', async () => {
    const options = bench.options();
    await expect(bench.connect({ ...options, sslMode: 'require' })).rejects.toMatchObject({
      driverCode: 'TLS_NOT_OFFERED',
    });
    expect((await bench.connect({ ...options, sslMode: 'prefer' })).usable).toBe(true);
  });

  describe('a server that never answers', () => {
    let silent: Server;
    const sockets = new Set<Socket>();
    let port: number;

    beforeAll(async () => {
      silent = createServer((socket) => sockets.add(socket.resume()));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      port = (silent.address() as { port: number }).port;
    });

    afterAll(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });

    it('is given up when the caller aborts, and its socket is closed', async () => {
      const options = { ...bench.options(), hosts: [{ host: '127.0.0.1', port }] as const };
      await expect(bench.connect(options, AbortSignal.timeout(100))).rejects.toMatchObject({ kind: 'cancelled' });
      expect(
        await eventually(() =>
          Promise.resolve([...sockets].every((socket) => socket.destroyed || socket.readableEnded)),
        ),
      ).toBe(true);
    });

    it('is a failed connection when the datasource’s own timeout ends first', async () => {
      const options = { ...bench.options(), hosts: [{ host: '127.0.0.1', port }] as const, connectTimeoutMs: 100 };
      await expect(bench.connect(options)).rejects.toMatchObject({ kind: 'connection', driverCode: 'ETIMEDOUT' });
    });
  });
});
