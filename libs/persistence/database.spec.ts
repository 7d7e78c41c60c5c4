import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { ConnectionPool } from './connection-pool.js';
import { constraintOf, DatabaseFailure, isConnectionFailure, isContention } from './database-failure.js';
import { Database } from './database.js';
import { requireVersion } from './server-requirements.js';

let test: TestDatabase;
let db: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.database;
  await db.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, label TEXT NOT NULL CHECK (label <> $$bad$$))');
}, 90_000);

afterEach(async () => {
  await db.execute('DELETE FROM things');
});

afterAll(async () => {
  await test?.drop();
});

/** As an operator or a crash would: ends every backend of the database but the caller's. */
async function endBackends(condition = 'TRUE'): Promise<void> {
  const client = new pg.Client({ connectionString: test.superuserUrl });
  await client.connect();
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
  );
  await client.end();
}

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('values from the metadata database', () => {
  it('arrive exact: a double or a Date would round what callers hash, page by and show', async () => {
    const [row] = await db.query<Record<string, unknown>>(
      `SELECT '2026-01-02T03:04:05.6+02'::timestamptz AS stamp, 9007199254740993::int8 AS big,
              '{"b": 1.10, "a": 9007199254740993}'::jsonb AS json, 0.10::numeric AS dec, DATE '2026-02-28' AS day,
              ARRAY[9007199254740993]::int8[] AS bigs, ARRAY['2026-01-02T00:00Z', NULL]::timestamptz[] AS stamps`,
    );
    expect(row).toEqual({
      stamp: '2026-01-02T01:04:05.600000Z',
      big: '9007199254740993',
      json: '{"a": 9007199254740993, "b": 1.10}',
      dec: '0.10',
      day: '2026-02-28',
      bigs: ['9007199254740993'],
      stamps: ['2026-01-02T00:00:00.000000Z', null],
    });
  });

  it('keep whole-second stamps comparable as text with fractional ones, for keyset pages', async () => {
    const rows = await db.query<{ at: string }>(
      `SELECT at FROM (VALUES ('2026-01-01T00:00:00Z'::timestamptz), ('2026-01-01T00:00:00.000001Z')) t(at) ORDER BY at`,
    );
    expect(rows.map(({ at }) => at)).toEqual(['2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000001Z']);
  });

  it('leave a stamp without a calendar form alone instead of inventing one', async () => {
    const [row] = await db.query<{ at: string }>(`SELECT 'infinity'::timestamptz AS at`);
    expect(row?.at).toBe('infinity');
  });

  it('are the same in a database whose own zone has an offset, because every session is in UTC', async () => {
    const client = new pg.Client({ connectionString: test.superuserUrl });
    await client.connect();
    await client.query(`ALTER DATABASE ${test.name} SET TimeZone = 'America/St_Johns'`);
    const elsewhere = await Database.open({ url: test.url });
    const [row] = await elsewhere.query<{ at: string }>(`SELECT '2026-07-01T12:00:00Z'::timestamptz AS at`);
    await elsewhere.close();
    await client.query(`ALTER DATABASE ${test.name} RESET TimeZone`);
    await client.end();
    expect(row?.at).toBe('2026-07-01T12:00:00.000000Z');
  });

  it('are refused from a URL that sets another zone, instead of being read with the wrong offset', async () => {
    const url = `${test.url}?options=${encodeURIComponent('-c TimeZone=Asia/Kathmandu')}`;
    await expect(Database.open({ url })).rejects.toMatchObject({ details: { reason: 'session_time_zone' } });
  });

  it('round-trip hostile text and NULL', async () => {
    const text = `'; DROP TABLE things; -- \u{1F6B0} \\ " \n`;
    const [row] = await db.query<{ a: string; b: null }>('SELECT $1::text AS a, $2::text AS b', [text, null]);
    expect(row).toEqual({ a: text, b: null });
  });
});

describe('a transaction', () => {
  it('commits what it wrote and then runs the registered work in order, outside of itself', async () => {
    const seen: unknown[] = [];
    const result = await db.transaction(async (tx) => {
      tx.afterCommit(async () => {
        seen.push((await db.query('SELECT * FROM things')).length, db.isInTransaction());
      });
      tx.afterCommit(() => void seen.push('second'));
      await tx.execute('INSERT INTO things VALUES (1, $1)', ['one']);
      seen.push('written');
      return 'done';
    });
    expect([result, ...seen]).toEqual(['done', 'written', 1, false, 'second']);
  });

  it('leaves nothing behind when its work fails, and does not run what waited for the commit', async () => {
    const seen: string[] = [];
    const failure = new TypeError('no');
    const outcome = db.transaction(async (tx) => {
      tx.afterCommit(() => void seen.push('ran'));
      await tx.execute(`INSERT INTO things VALUES (1, 'one')`);
      throw failure;
    });
    await expect(outcome).rejects.toBe(failure);
    expect(await db.query('SELECT * FROM things')).toEqual([]);
    expect(seen).toEqual([]);
  });

  it('rejects when a failed statement was swallowed: PostgreSQL would answer COMMIT with a silent rollback', async () => {
    const outcome = db.transaction(async (tx) => {
      await tx.execute(`INSERT INTO things VALUES (1, 'one')`);
      await failureOf(tx.execute(`INSERT INTO things VALUES (1, 'again')`));
    });
    await expect(outcome).rejects.toMatchObject({ code: 'internal' });
    expect(await db.query('SELECT * FROM things')).toEqual([]);
  });

  it('stays committed when work after the commit fails, and reports that failure', async () => {
    const problems: unknown[] = [];
    const other = await Database.open({ url: test.url, onProblem: (what, error) => void problems.push([what, error]) });
    const failure = new TypeError('mail is down');
    await other.transaction(async (tx) => {
      tx.afterCommit(() => Promise.reject(failure));
      await tx.execute(`INSERT INTO things VALUES (1, 'one')`);
    });
    await other.close();
    expect(problems).toEqual([[expect.any(String), failure]]);
    expect(await db.query('SELECT * FROM things')).toHaveLength(1);
  });

  it('knows on its own asynchronous path that it is open, and only there and only so long', async () => {
    let later: Promise<boolean> = Promise.resolve(true);
    const inside = await db.transaction(async (tx) => {
      later = delay(50).then(() => db.isInTransaction());
      await tx.query('SELECT 1');
      return [db.isInTransaction(), await Promise.resolve().then(() => db.isInTransaction())];
    });
    expect(inside).toEqual([true, true]);
    expect(db.isInTransaction()).toBe(false);
    await expect(later).resolves.toBe(false);
  });

  it('can bound lock waits and statements, and its bounds end with it', async () => {
    await db.execute(`INSERT INTO things VALUES (1, 'one')`);
    await db.transaction(async (tx) => {
      await tx.query('SELECT * FROM things WHERE id = 1 FOR UPDATE');
      const waiting = db.transaction((other) => other.execute(`UPDATE things SET label = 'x' WHERE id = 1`), {
        lockTimeoutMs: 30,
      });
      const failure = await failureOf(waiting);
      expect([isContention(failure), isConnectionFailure(failure)]).toEqual([true, false]);
    });
    const slow = db.transaction((tx) => tx.query('SELECT pg_sleep(20)'), { statementTimeoutMs: 30 });
    expect(isContention(await failureOf(slow))).toBe(true);
    const one = await Database.open({ url: test.url, poolMax: 1 });
    await one.transaction((tx) => tx.query('SELECT 1'), { lockTimeoutMs: 30, statementTimeoutMs: 40 });
    const [row] = await one.query<{ a: string; b: string }>(
      `SELECT current_setting('lock_timeout') AS a, current_setting('statement_timeout') AS b`,
    );
    await one.close();
    expect(row).toEqual({ a: '0', b: '0' });
  });

  it('refuses to write when it was opened for reading', async () => {
    const outcome = db.transaction((tx) => tx.execute(`INSERT INTO things VALUES (1, 'x')`), { readOnly: true });
    await expect(outcome).rejects.toMatchObject({ code: '25006' });
  });
});

describe('a refused statement', () => {
  it('says which rule of the schema it broke, so that a service answers with its own code', async () => {
    await db.execute('CREATE TABLE IF NOT EXISTS parts (thing INTEGER CONSTRAINT fk_part REFERENCES things(id))');
    await db.execute(`INSERT INTO things VALUES (1, 'one')`);
    const violations = [
      `INSERT INTO things VALUES (1, 'again')`,
      `INSERT INTO things VALUES (2, 'bad')`,
      'INSERT INTO things VALUES (2, NULL)',
      'INSERT INTO parts VALUES (9)',
    ];
    const found = await Promise.all(violations.map(async (sql) => constraintOf(await failureOf(db.execute(sql)))));
    expect(found).toEqual([
      { kind: 'unique', name: 'things_pkey' },
      { kind: 'check', name: 'things_label_check' },
      { kind: 'not_null', name: 'label' },
      { kind: 'foreign_key', name: 'fk_part' },
    ]);
    expect(constraintOf(await failureOf(db.query('SELECT nothing')))).toBeUndefined();
    expect(constraintOf(new TypeError('x'))).toBeUndefined();
  });

  it('carries no bound value, neither in its message nor anywhere else: a log would keep it', async () => {
    const secret = 'planted-secret-0815';
    await db.execute('CREATE TABLE IF NOT EXISTS vault (secret TEXT UNIQUE)');
    await db.execute('INSERT INTO vault VALUES ($1)', [secret]);
    const failures = [
      await failureOf(db.execute('INSERT INTO vault VALUES ($1)', [secret])),
      await failureOf(db.query('SELECT $1::text::uuid', [secret])),
      await failureOf(db.query('SELECT $1::text::jsonb', [`{"a": ${secret}`])),
      await failureOf(db.query('SELECT $1::text::timestamptz', [secret])),
    ];
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(DatabaseFailure);
      const { message, stack, ...rest } = failure as DatabaseFailure;
      expect(`${message} ${stack} ${JSON.stringify(rest)} ${String((failure as Error).cause)}`).not.toContain(secret);
    }
  });

  it('keeps its connection: a conflict must not cost a new session', async () => {
    const one = await Database.open({ url: test.url, poolMax: 1 });
    const pid = () => one.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const before = await pid();
    await failureOf(one.execute('INSERT INTO things VALUES (1, NULL)'));
    expect(await pid()).toEqual(before);
    await one.close();
  });
});

describe('a statement that comes again', () => {
  it('is prepared, and survives a migration that changes its result', async () => {
    const one = await Database.open({ url: test.url, poolMax: 1 });
    const read = () => one.query('SELECT * FROM widths WHERE id = $1', [1]);
    await one.execute('CREATE TABLE widths (id INTEGER)');
    await one.execute('INSERT INTO widths VALUES (1)');
    for (let use = 0; use < 3; use += 1) await read();
    const [prepared] = await one.query<{ count: number }>('SELECT count(*)::int AS count FROM pg_prepared_statements');
    expect(prepared?.count).toBe(1);
    await db.execute('ALTER TABLE widths ADD COLUMN label TEXT');
    expect(await read()).toEqual([{ id: 1, label: null }]);
    await one.close();
  });

  it('cannot fill the server with statements of ever new texts', async () => {
    const one = await Database.open({ url: test.url, poolMax: 1 });
    for (let text = 0; text < 400; text += 1) {
      for (let use = 0; use < 2; use += 1) await one.query(`SELECT $1::int + ${text}`, [1]);
    }
    const [prepared] = await one.query<{ count: number }>('SELECT count(*)::int AS count FROM pg_prepared_statements');
    await one.close();
    expect(prepared?.count).toBe(300);
  });
});

describe('when connections break', () => {
  it('an ended idle connection neither ends the process nor fails the next statement', async () => {
    const problems: string[] = [];
    const other = await Database.open({ url: test.url, onProblem: (what) => void problems.push(what) });
    await endBackends(`application_name LIKE 'penstock%'`);
    await delay(100);
    await expect(other.query('SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
    await expect(other.control.query('SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
    await other.close();
    expect(problems.length).toBeGreaterThanOrEqual(2);
  });

  it('a transaction whose connection ends under it fails as a connection failure and writes nothing', async () => {
    const outcome = db.transaction(async (tx) => {
      await tx.execute(`INSERT INTO things VALUES (7, 'lost')`);
      await endBackends(`state = 'idle in transaction'`);
      await tx.execute(`INSERT INTO things VALUES (8, 'lost')`);
    });
    expect(isConnectionFailure(await failureOf(outcome))).toBe(true);
    expect(await db.query('SELECT * FROM things')).toEqual([]);
  });

  it('the first of a pool may end under its transaction as any other, and not the process with it', async () => {
    const pool = await ConnectionPool.open({
      url: test.url,
      applicationName: 'the first',
      max: 1,
      connectTimeoutMs: 10_000,
      entities: [],
      onProblem: () => undefined,
    });
    const outcome = pool.transaction(async (tx) => {
      await tx.query('SELECT 1 AS one');
      await endBackends(`application_name = 'the first'`);
      await tx.query('SELECT 1 AS one');
    });
    expect(isConnectionFailure(await failureOf(outcome))).toBe(true);
    expect(await pool.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await pool.close();
  });

  it('one that gives no answer in time is lost, and the next statement has a new one', async () => {
    // A frozen server or a broken network never says so: without a bound the pool would be full of such waits.
    const pool = await ConnectionPool.open({
      url: test.url,
      applicationName: 'bounded',
      max: 1,
      connectTimeoutMs: 10_000,
      answerTimeoutMs: 500,
      entities: [],
      onProblem: () => undefined,
    });
    try {
      expect(isConnectionFailure(await failureOf(pool.query('SELECT pg_sleep(60)')))).toBe(true);
      expect(await pool.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await pool.close();
      await endBackends(`application_name = 'bounded'`);
    }
  });

  it('an unreachable server is a connection failure at once, and not a refused statement', async () => {
    const failure = await failureOf(Database.open({ url: 'postgresql://nobody@127.0.0.1:1/none' }));
    expect([isConnectionFailure(failure), constraintOf(failure)]).toEqual([true, undefined]);
    expect(isConnectionFailure(await failureOf(db.query('SELECT nothing')))).toBe(false);
  });

  it("a value that cannot be sent is the caller's defect, and the connection stays", async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(isConnectionFailure(await failureOf(db.query('SELECT $1::text', [circle])))).toBe(false);
    await expect(db.query('SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
  });
});

describe('the server', () => {
  it('must be PostgreSQL 16 or newer, and the refusal says what it is', () => {
    expect(() => requireVersion({ zone: 'UTC', version: 160_000 })).not.toThrow();
    expect(() => requireVersion({ zone: 'UTC', version: 150_012 })).toThrow(/runs PostgreSQL 15; Penstock needs 16/);
  });
});

describe('the control connections', () => {
  it('answer while every other connection is busy, so that API traffic cannot starve heartbeats', async () => {
    const busy = await Database.open({ url: test.url, poolMax: 2, connectTimeoutMs: 200 });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hogs = [1, 2].map(() => busy.transaction(async () => held));
    expect(isConnectionFailure(await failureOf(busy.query('SELECT 1')))).toBe(true);
    await expect(busy.control.transaction((tx) => tx.query('SELECT 1 AS one'))).resolves.toEqual([{ one: 1 }]);
    release();
    await Promise.all(hogs);
    await busy.close();
  });
});
