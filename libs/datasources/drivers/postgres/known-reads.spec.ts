import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { collect, eventually, NEVER, rowsOf } from '../driver.fixture.js';
import type { PostgresConnection } from './connection.js';
import { MESSAGE } from './messages.js';
import { PostgresBench } from './postgres.fixture.js';
import { endRead, readEnding } from './read-end.js';
import type { MessageConsumer, PostgresWire } from './wire.js';

describe('reading with a statement again', () => {
  let bench: PostgresBench;
  let owner: PostgresConnection;
  let connection: PostgresConnection;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    owner = await bench.connect();
    connection = await bench.connect();
    await owner.control('CREATE TABLE things (id int, label text); INSERT INTO things VALUES (1, $$a$$), (2, NULL)');
  });

  afterAll(() => bench.close());

  const exchanges = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const before = connection.wire.exchanges;
    return [await work(), connection.wire.exchanges - before];
  };

  it('asks for the columns once; what was short then is opened, read and ended by one exchange, and going back costs none', async () => {
    const sql = 'SELECT id, label FROM things ORDER BY id';
    const [first, whileNew] = await exchanges(() => rowsOf(connection, sql));
    const [second, whileKnown] = await exchanges(() => rowsOf(connection, sql));
    expect(second).toEqual(first);
    expect(second.rows).toEqual(['[1,"a"]', '[2,null]']);
    expect([whileNew, whileKnown]).toEqual([3, 1]);
    expect(await exchanges(() => connection.reset())).toEqual([true, 0]);
  });

  it.each([
    ['another type', 'ALTER TABLE changing ALTER c TYPE bigint', ['["7"]', '["8"]']],
    ['another name', 'ALTER TABLE changing RENAME c TO d', ['["7"]', '["8"]']],
    ['one column more', `ALTER TABLE changing ADD e text DEFAULT 'x'`, ['["7","x"]', '["8","x"]']],
    ['no column at all', 'ALTER TABLE changing DROP d, DROP e', ['[]', '[]']],
  ])('reads what is there now when a table has got %s', async (_what, change, rows) => {
    await owner.control('CREATE TABLE IF NOT EXISTS changing (c int)');
    await owner
      .control('INSERT INTO changing SELECT * FROM (VALUES (7), (8)) v WHERE NOT EXISTS (SELECT 1 FROM changing)')
      .catch(() => undefined);
    const sql = 'SELECT * FROM changing';
    await rowsOf(connection, sql);
    await rowsOf(connection, sql);
    await owner.control(change);
    expect((await rowsOf(connection, sql)).rows).toEqual(rows);
    expect((await rowsOf(connection, sql)).rows).toEqual(rows);
    expect(await connection.reset()).toBe(true);
  });

  it('tells at the opening what the server refuses, and the session can be used again', async () => {
    await owner.control('CREATE TABLE gone (i int)');
    await rowsOf(connection, 'SELECT * FROM gone');
    await owner.control('DROP TABLE gone');
    const opening = connection.openCursor({ sql: 'SELECT * FROM gone', values: [] }, { fetchSize: 10, signal: NEVER });
    await expect(opening).rejects.toMatchObject({ kind: 'missing_table', driverCode: '42P01' });
    expect(await connection.reset()).toBe(true);
    expect((await rowsOf(connection, 'SELECT 1 AS one')).rows).toEqual(['[1]']);
  });

  it('is as read-only as the first time, whatever became of a function meanwhile', async () => {
    await owner.control('CREATE FUNCTION quiet() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$');
    await rowsOf(connection, 'SELECT quiet()');
    await owner.control(
      'CREATE OR REPLACE FUNCTION quiet() RETURNS int LANGUAGE sql AS $$ INSERT INTO things VALUES (9) RETURNING 1 $$',
    );
    await expect(rowsOf(connection, 'SELECT quiet()')).rejects.toMatchObject({ driverCode: '25006' });
    const trick = `SELECT set_config('transaction_read_only', 'off', true), 1 AS one`;
    for (let time = 0; time < 2; time++) {
      await connection.reset();
      await expect(rowsOf(connection, trick)).rejects.toMatchObject({ driverCode: '25001' });
    }
    await connection.reset();
    expect((await rowsOf(connection, 'SELECT count(*)::int AS n FROM things WHERE id = 9')).rows).toEqual(['[0]']);
  });

  it('is bounded by the server’s clock too', async () => {
    const sql = 'SELECT pg_sleep($1::float8)';
    const read = async (seconds: string) => {
      const cursor = await connection.openCursor(
        { sql, values: [seconds] },
        { fetchSize: 10, signal: NEVER, backstopMs: 300 },
      );
      while (await cursor.next(NEVER));
      await cursor.close();
    };
    await read('0');
    await expect(read('30')).rejects.toMatchObject({ driverCode: '57014' });
    await connection.reset();
  });

  it('leaves nothing behind: what a read has set or locked is gone with its end', async () => {
    const mine = await bench.connect();
    for (let time = 0; time < 2; time++) {
      await rowsOf(
        mine,
        `SELECT set_config('TimeZone', 'Asia/Tokyo', false) AS zone, pg_advisory_lock(42)::text AS held`,
      );
      expect(await mine.reset()).toBe(true);
      expect((await owner.control('SELECT pg_try_advisory_lock(42), pg_advisory_unlock(42)')).rows).toEqual([
        ['t', 't'],
      ]);
    }
    expect((await rowsOf(mine, 'SHOW TimeZone')).rows).toEqual(['["UTC"]']);
    await mine.execute({ sql: 'CREATE TEMP TABLE leftover (i int)', values: [] }, { signal: NEVER });
    expect(await mine.reset()).toBe(true);
    await expect(rowsOf(mine, 'SELECT * FROM leftover')).rejects.toMatchObject({ kind: 'missing_table' });
  });
});

describe('a read that was short the last time, and goes out with its own end', () => {
  let bench: PostgresBench;
  let owner: PostgresConnection;
  let connection: PostgresConnection;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    owner = await bench.connect();
    await owner.control('CREATE TABLE amounts (rows int, width int, fails_at int, sleeps_at int)');
  });

  afterAll(() => bench.close());

  interface Amounts {
    rows: number;
    width?: number;
    failsAt?: number;
    sleepsAt?: number;
  }

  const set = ({ rows, width = 1, failsAt = 0, sleepsAt = 0 }: Amounts) =>
    owner.control(`DELETE FROM amounts; INSERT INTO amounts VALUES (${rows}, ${width}, ${failsAt}, ${sleepsAt})`);

  const SQL = `SELECT i, repeat('x', width) AS text, 1 / (CASE WHEN i = fails_at THEN 0 ELSE 1 END) AS one,
                      pg_sleep(CASE WHEN i = sleeps_at THEN 600 ELSE 0 END)::text AS slept
                 FROM amounts, generate_series(1, rows) i`;

  /** The same statement, read when it gave two rows, and now of other amounts. */
  const opened = async (amounts: Amounts, signal = NEVER, fetchSize = 1000) => {
    connection = await bench.connect();
    await set({ rows: 2 });
    for (let time = 0; time < 2; time++) await rowsOf(connection, SQL);
    await set(amounts);
    return connection.openCursor({ sql: SQL, values: [] }, { fetchSize, signal });
  };

  const numbered = (rows: number) => Array.from({ length: rows }, (_, at) => at + 1);

  it.each([0, 1, 127, 128, 129, 1128, 1129, 20_000])('gives all of %i rows, each once and in order', async (rows) => {
    const before = await collect(await opened({ rows }));
    expect(before.rows.map((row) => Number(row.slice(1).split(',')[0]))).toEqual(numbered(rows));
    expect(await connection.reset()).toBe(true);
    const again = connection.wire.exchanges;
    expect((await rowsOf(connection, SQL)).rows).toEqual(before.rows);
    expect(connection.wire.exchanges - again === 1).toBe(rows < 128);
  });

  it('holds the server back when it has become long and wide, and nobody takes the rows', async () => {
    const cursor = await opened({ rows: 4000, width: 500_000 });
    await cursor.next(NEVER);
    const before = process.memoryUsage().rss;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    await cursor.close();
    expect(await bench.running(owner)).toEqual([]);
    expect(connection.usable).toBe(false);
  });

  it.each([1, 100, 500])(
    'tells an error at row %i behind the rows before it, and is no end of them',
    async (failsAt) => {
      const cursor = await opened({ rows: 600, failsAt });
      await expect(collect(cursor)).rejects.toMatchObject({ kind: 'other', driverCode: '22012' });
      await expect(cursor.next(NEVER)).rejects.toMatchObject({ driverCode: '22012' });
      await cursor.close();
      // COMMIT has rolled it back: in a transaction that stays failed, the scrub behind it is refused, text by text.
      expect(connection.wire.status).toBe('I');
      const before = connection.wire.exchanges;
      expect(await connection.reset()).toBe(true);
      expect(connection.wire.exchanges - before).toBe(1);
      expect((await rowsOf(connection, 'SELECT 1 AS one')).rows).toEqual(['[1]']);
    },
  );

  it('stops in the server when it is given up', async () => {
    const abort = new AbortController();
    const cursor = await opened({ rows: 50, width: 1000, sleepsAt: 20 }, abort.signal);
    const waiting = cursor.next(abort.signal);
    expect(await eventually(async () => (await bench.running(owner)).length > 0)).toBe(true);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
    expect(await bench.running(owner)).toEqual([]);
    expect(connection.usable).toBe(false);
  });

  it('stops in the server when it is given up before anything has come', async () => {
    const abort = new AbortController();
    const opening = opened({ rows: 50, sleepsAt: 1 }, abort.signal);
    // The owner sets the amounts meanwhile, and a connection has one exchange at a time.
    const watcher = await bench.connect();
    const sleeps = async () => (await bench.running(watcher)).some((sql) => sql.includes('fails_at'));
    expect(await eventually(sleeps)).toBe(true);
    abort.abort();
    const reading = opening.then((cursor) => cursor.next(abort.signal));
    await expect(reading).rejects.toMatchObject({ kind: 'cancelled' });
    // The columns come ahead of the error, and the error ahead of the server's own note that it is idle.
    expect(await eventually(async () => (await bench.running(owner)).length === 0)).toBe(true);
    expect(connection.usable).toBe(false);
  });

  it('stops in the server when its cursor is closed before the end', async () => {
    const cursor = await opened({ rows: 50, width: 1000, sleepsAt: 20 });
    await cursor.close();
    expect(await bench.running(owner)).toEqual([]);
    expect(connection.usable).toBe(false);
  });

  it('is a lost connection when the server ends it in the middle', async () => {
    const cursor = await opened({ rows: 50, width: 1000, sleepsAt: 20 });
    const next = cursor.next(NEVER);
    await owner.control(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT i, repeat%' AND pid <> pg_backend_pid()`,
    );
    await expect(next).rejects.toMatchObject({ kind: 'connection', driverCode: '57P01' });
    await cursor.close();
    expect(connection.usable).toBe(false);
  });

  it('shows nothing of the reads before it, whose memory it fills again, nor of one beside it', async () => {
    const sql = 'SELECT $1::text AS text, $2::int AS number FROM generate_series(1, $3::int)';
    const [one, other] = [await bench.connect(), await bench.connect()];
    const read = (from: PostgresConnection, ...values: unknown[]) => rowsOf(from, sql, values);
    for (let time = 0; time < 3; time++) {
      expect((await read(one, 'long text', '7', '3')).rows).toEqual(Array(3).fill('["long text",7]'));
      const beside = await Promise.all([read(one, null, null, '2'), read(other, 'é', '-1', '1')]);
      expect(beside.map(({ rows }) => rows)).toEqual([['[null,null]', '[null,null]'], ['["é",-1]']]);
      expect((await read(other, 'x', null, '0')).rows).toEqual([]);
    }
  });

  it('reads what is there now when its columns have changed, however long it has become', async () => {
    connection = await bench.connect();
    await owner.control('CREATE TABLE growing (c int); INSERT INTO growing VALUES (7)');
    for (let time = 0; time < 2; time++) await rowsOf(connection, 'SELECT * FROM growing');
    await owner.control(
      `ALTER TABLE growing ADD d text DEFAULT 'x'; INSERT INTO growing SELECT generate_series(8, 3000)`,
    );
    const { rows } = await rowsOf(connection, 'SELECT * FROM growing');
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([2994, '[7,"x"]', '[3000,"x"]']);
    expect(await connection.reset()).toBe(true);
  });
});

describe('the end of a read', () => {
  const text = (body: string) => Buffer.from(`${body}\0`);
  const COMMIT = [MESSAGE.commandComplete, text('COMMIT')] as const;
  const ROLLBACK = [MESSAGE.commandComplete, text('ROLLBACK')] as const;
  const REFUSED = [MESSAGE.error, Buffer.from('SERROR\0C42601\0Mno\0\0')] as const;
  const READY = [MESSAGE.readyForQuery, Buffer.from('I')] as const;

  /** Ends a read on a server that answers with these messages. */
  function answered(...messages: readonly (readonly [number, Buffer])[]): Promise<boolean> {
    const wire = {
      exchange: (_sent: readonly Buffer[], consumer: MessageConsumer) => {
        for (const [type, body] of messages) consumer.message(type, body, 0, body.length);
      },
      release: () => undefined,
    } as unknown as PostgresWire;
    return endRead(wire, readEnding(['DISCARD ALL']));
  }

  it('is good although the server cannot put its session back: then the connection is not used again', async () => {
    expect(await answered(READY, COMMIT, READY, [MESSAGE.commandComplete, text('DISCARD ALL')], READY)).toBe(true);
    expect(await answered(READY, COMMIT, READY, REFUSED, READY)).toBe(false);
  });

  it('is a failure when the read was rolled back, or when its Sync or COMMIT itself was refused', async () => {
    await expect(answered(REFUSED, READY, ROLLBACK, READY, READY)).rejects.toMatchObject({ driverCode: '42601' });
    await expect(answered(READY, ROLLBACK, READY, READY)).rejects.toMatchObject({ driverCode: '25P02' });
    await expect(answered(READY, REFUSED, READY, READY)).rejects.toMatchObject({ driverCode: '42601' });
    await expect(answered(READY, REFUSED, READY, REFUSED, READY)).rejects.toMatchObject({ driverCode: '42601' });
  });
});
