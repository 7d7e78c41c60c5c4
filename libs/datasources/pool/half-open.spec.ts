import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { MemoryTransientStore } from '#libs/transient';

import { HalfOpenProxy } from '../../../test/fixtures/half-open-proxy.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { describeWithProgram } from '../../../test/fixtures/programs.js';
import { DatasourceBench, People } from '../datasources.fixture.js';
import { collect, NEVER } from '../drivers/driver.fixture.js';
import type { Lease } from '../drivers/driver.js';
import { MariadbBench } from '../drivers/mysql/mysql.fixture.js';
import { loginOf } from '../drivers/postgres/postgres.fixture.js';
import type { PooledLease } from './pooled-lease.js';

/** A server to stand behind the line, and a statement that sleeps in it. */
interface Target {
  dialect: 'POSTGRES' | 'MYSQL';
  scheme: string;
  host: string;
  port: number | string;
  database: string;
  username: string;
  secret: string;
  sleeps: string;
  stop(): Promise<unknown>;
}

/** Every wait below ends by a budget of the code; one without a budget would run into the time of the whole test. */
function goesDead(start: () => Promise<Target>): void {
  let target: Target;
  let db: TestDatabase;
  let bench: DatasourceBench;
  let team: People;
  let proxy: HalfOpenProxy;

  beforeAll(async () => {
    target = await start();
  }, 60_000);
  afterAll(() => target?.stop());

  beforeEach(async () => {
    db = await createTestDatabase();
    bench = await DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1_000_000 }));
    team = await People.of(db, 'team');
    proxy = await HalfOpenProxy.to(target.host, Number(target.port));
    await bench.service.create(team.admin, {
      name: 'far',
      display_name: 'Far away',
      dialect: target.dialect,
      jdbc_url: `jdbc:${target.scheme}://127.0.0.1:${proxy.port}/${target.database}`,
      credential: { kind: 'password', username: target.username, secret: target.secret },
      properties: {
        hikari: { minimumIdle: '0', maximumPoolSize: '1', connectionTimeout: '1000', validationTimeout: '250' },
      },
    });
  });

  afterEach(async () => {
    await bench.stop();
    await proxy.close();
    await db.drop();
  });

  const lease = (signal: AbortSignal = NEVER): Promise<Lease> => bench.access.lease('far', { signal, access: 'read' });
  const rowsOf = async (held: Lease): Promise<readonly string[]> =>
    (await collect(await held.openCursor({ sql: 'SELECT 1 AS one', values: [] }, { fetchSize: 10, signal: NEVER })))
      .rows;

  /** The pool has its one place back, and the next caller gets a line that lives. */
  async function servesAgain(): Promise<void> {
    proxy.revive();
    const held = await lease();
    expect(await rowsOf(held)).toHaveLength(1);
    await held.release();
  }

  it('before the login: a lease ends with connectionTimeout, and a caller who leaves first is not kept', async () => {
    proxy.die();
    await expect(lease()).rejects.toMatchObject({ kind: 'connection', driverCode: 'ETIMEDOUT' });
    await expect(lease(AbortSignal.timeout(50))).rejects.toMatchObject({ kind: 'cancelled' });
    await servesAgain();
  });

  it('before a connection test: 200 with what was wrong', async () => {
    proxy.die();
    expect(await bench.service.test(team.admin, 'far')).toMatchObject({ connected: false, error_class: 'ETIMEDOUT' });
  });

  it('in mid-statement: a cancel that nobody hears is given up, the wait ends, and the place is free', async () => {
    const held = await lease();
    const gaveUp = new AbortController();
    const statement = { sql: target.sleeps, values: [] };
    const work = held
      .openCursor(statement, { fetchSize: 10, signal: gaveUp.signal })
      .then((cursor) => cursor.next(gaveUp.signal));
    const ended = expect(work).rejects.toMatchObject({ kind: 'cancelled' });
    setTimeout(() => {
      proxy.die();
      gaveUp.abort();
    }, 100);
    await ended;
    await held.release();
    await servesAgain();
  });

  it('on the way back to the pool: the session is cut after validationTimeout instead of keeping its place', async () => {
    const held = await lease();
    // A read puts the session back with its own end; after anything else there is a question to be asked.
    expect(await (held as PooledLease).catalog({ sql: 'SELECT 1', values: [] }, NEVER)).toHaveLength(1);
    proxy.die();
    await held.release();
    await servesAgain();
  });

  it('while it rests: the question before the next lease is not answered, and another session is opened unseen', async () => {
    await (await lease()).release();
    // Longer than a rested session is trusted without a question.
    await new Promise((resolve) => setTimeout(resolve, 600));
    proxy.die();
    proxy.revive();
    const held = await lease();
    expect(await rowsOf(held)).toHaveLength(1);
    await held.release();
  });

  it('under an introspection: the look ends with the time of the datasource', async () => {
    await bench.introspection.schemas(team.author, 'far');
    proxy.die();
    const look = new AbortController();
    setTimeout(() => look.abort(), 300);
    await expect(bench.introspection.schemas(team.author, 'far', look.signal)).rejects.toBeDefined();
    await servesAgain();
  });
}

describe('a line to PostgreSQL that goes dead without a word', () => {
  goesDead(async () => {
    const database = await createEmptyDatabase();
    const { host, port, database: name, username, secret } = loginOf(database.url);
    return {
      ...{ dialect: 'POSTGRES', scheme: 'postgresql', host, port, database: name, username, secret },
      sleeps: 'SELECT pg_sleep(60)',
      stop: () => database.drop(),
    };
  });
});

describeWithProgram('mariadbd', 'a line to MariaDB that goes dead without a word', (program) => {
  goesDead(async () => {
    const { server } = await MariadbBench.start(program);
    return {
      ...{ dialect: 'MYSQL', scheme: 'mysql', host: server.host, port: server.port, database: server.database },
      ...{ username: server.username, secret: server.password },
      sleeps: 'SELECT SLEEP(60)',
      stop: () => server.stop(),
    };
  });
});
