import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { readTogether, whileWanted } from '#libs/kernel';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { ConnectionPool } from './connection-pool.js';
import { isConnectionFailure } from './database-failure.js';
import type { Database } from './database.js';

let test: TestDatabase;
let db: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.database;
}, 90_000);

afterAll(async () => {
  await test?.drop();
});

const PID = 'SELECT pg_backend_pid() AS pid, $1::text AS given';

interface Row {
  pid: number;
  given: string;
}

/** All begun in one turn, for one asker. */
function together<R>(sql: readonly string[], given: readonly string[], signal = new AbortController().signal) {
  const ask = () => Promise.allSettled(sql.map((text, index) => db.query<R>(text, [given[index] ?? ''])));
  return whileWanted(signal, () => readTogether(ask));
}

/** How many statements of this text run on the server. */
async function running(text: string): Promise<number> {
  const client = new pg.Client({ connectionString: test.superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE state = 'active' AND pid <> pg_backend_pid() AND position($1 IN query) > 0`,
      [text],
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

describe('reads that begin together', () => {
  it('share one connection, and each gets its own answer: the first use of a text, the named second and the third', async () => {
    for (let use = 0; use < 3; use += 1) {
      const answers = await together<Row>([PID, PID, PID], ['a', 'b', 'c']);
      const rows = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value[0] : undefined));
      expect(rows.map((row) => row?.given)).toEqual(['a', 'b', 'c']);
      expect(new Set(rows.map((row) => row?.pid)).size).toBe(1);
    }
  });

  it('lose nothing to one of them that fails', async () => {
    const answers = await together<Row>([PID, 'SELECT 1 / length($1) AS gone', PID], ['a', '', 'c']);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(answers[1]).toMatchObject({ reason: { code: '22012' } });
    expect(await db.query<Row>(PID, ['later'])).toMatchObject([{ given: 'later' }]);
  });

  it('are run again where a migration changed what a prepared one answers', async () => {
    await db.execute('CREATE TABLE wide (id TEXT)');
    const all = 'SELECT * FROM wide WHERE id <> $1';
    for (let use = 0; use < 3; use += 1) await together([all, PID], ['x', 'a']);
    await db.execute('ALTER TABLE wide ADD COLUMN more INTEGER');
    const answers = await together([all, PID, all], ['x', 'a', 'y']);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('end on the server, all of them, when nobody waits any more', async () => {
    const asker = new AbortController();
    const gone = new TypeError('nobody waits');
    const sleep = "SELECT pg_sleep(60), $1::text AS given, 'of one asker'";
    const answers = together([sleep, sleep, sleep], ['a', 'b', 'c'], asker.signal);
    await until(async () => (await running('of one asker')) === 1);
    asker.abort(gone);
    expect(await answers).toEqual(Array.from({ length: 3 }, () => ({ status: 'rejected', reason: gone })));
    expect(await running('of one asker')).toBe(0);
    // The connection they had is whole: whoever gets it next is not cancelled in their place.
    const later = await Promise.all(Array.from({ length: 12 }, () => db.query<Row>(PID, ['later'])));
    expect(later.map(([row]) => row?.given)).toEqual(Array.from({ length: 12 }, () => 'later'));
  });

  it.each([
    ['does not know their process, which is asked once', false, 1, 1],
    ['takes each cancellation and ends nothing, which is asked a few times', true, 3, 9],
  ])('are given up with their connection when the server %s', async (_what, known, fewest, most) => {
    const problems: string[] = [];
    let asked = 0;
    const pool = await ConnectionPool.open({
      url: test.url,
      applicationName: 'behind a proxy',
      max: 1,
      connectTimeoutMs: 10_000,
      entities: [],
      cancelBackend: () => Promise.resolve(++asked > 0 && known),
      onProblem: (what) => void problems.push(what),
    });
    const asker = new AbortController();
    const gone = new TypeError('nobody waits');
    const text = `of a proxy, known ${known}`;
    const reading = whileWanted(asker.signal, () =>
      pool.query(`SELECT pg_sleep(60), $1::text AS given, '${text}'`, ['a']),
    );
    const outcome = expect(reading).rejects.toBe(gone);
    await until(async () => (await running(text)) === 1);
    const [before] = await db.query<Row>(`SELECT pid FROM pg_stat_activity WHERE query LIKE '%' || $1`, [text]);
    asker.abort(gone);
    await outcome;
    expect([asked >= fewest && asked <= most, problems]).toEqual([true, []]);
    // The one connection of this pool is another now: the statement that goes on there is met by nobody.
    const [later] = await pool.query<Row>(PID, ['later']);
    expect([later?.given, later?.pid === before?.pid]).toEqual(['later', false]);
    await pool.close();
  });

  it('never begin when nobody waited for a connection any more', async () => {
    const asker = new AbortController();
    const answers = together([PID, PID], ['a', 'b'], asker.signal);
    asker.abort(new TypeError('nobody waits'));
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('all fail as a lost connection when it breaks, and the pool goes on with others', async () => {
    const sleep = "SELECT pg_sleep(60), $1::text AS given, 'to be broken'";
    const answers = together([PID, sleep, PID], ['a', 'b', 'c']);
    await until(async () => (await running('to be broken')) === 1);
    const client = new pg.Client({ connectionString: test.superuserUrl });
    await client.connect();
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND query LIKE '%to be broken%'`,
    );
    await client.end();
    const reasons = (await answers).map((answer) =>
      answer.status === 'rejected' ? (answer.reason as unknown) : undefined,
    );
    expect(reasons.map(isConnectionFailure)).toEqual([true, true, true]);
    expect(await db.query<Row>(PID, ['later'])).toMatchObject([{ given: 'later' }]);
  });
});

it('reads outside such a scope run beside each other, each on a connection of its own', async () => {
  const slow = 'SELECT pg_backend_pid() AS pid, pg_sleep(0.05), $1::text AS given';
  const rows = await Promise.all(['a', 'b'].map((given) => db.query<Row>(slow, [given])));
  expect(new Set(rows.map(([row]) => row?.pid)).size).toBe(2);
});
