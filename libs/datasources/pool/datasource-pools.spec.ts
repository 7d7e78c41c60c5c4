import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { register } from 'prom-client';

import type { JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';

import { createTestDatabase, type EmptyDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { DatasourceBench, KEY_ONE, KEY_TWO, People } from '../datasources.fixture.js';
import { collect, eventually, NEVER } from '../drivers/driver.fixture.js';
import type { Lease } from '../drivers/driver.js';
import type { PostgresConnection } from '../drivers/postgres/connection.js';
import { loginOf, PostgresBench } from '../drivers/postgres/postgres.fixture.js';

describe('pools that follow their rows, on two processes', () => {
  let db: TestDatabase;
  let target: EmptyDatabase;
  let postgres: PostgresBench;
  let superuser: PostgresConnection;
  let store: MemoryTransientStore;
  let here: DatasourceBench;
  let there: DatasourceBench;
  let team: People;

  beforeAll(async () => {
    postgres = await PostgresBench.create();
    target = postgres.database;
    const admin = loginOf(target.superuserUrl);
    superuser = await postgres.connect(postgres.options(), NEVER, admin);
  });

  beforeEach(async () => {
    db = await createTestDatabase();
    store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    here = await DatasourceBench.start(db, store);
    there = await DatasourceBench.start(db, store);
    team = await People.of(db, 'team');
    await superuser.control(`DROP ROLE IF EXISTS ${role()}; CREATE ROLE ${role()} LOGIN PASSWORD 'first-Passw0rd'`);
  });

  afterEach(async () => {
    await here.stop();
    await there.stop();
    await superuser.control(`DROP ROLE IF EXISTS ${role()}`);
    await db.drop();
  });

  afterAll(async () => {
    await postgres.close();
  });

  const role = (): string => `rotated_${target.name}`;

  function body(secret: string, more: JsonObject = {}): JsonObject {
    const { host, port, database } = loginOf(target.url);
    return {
      name: 'pg',
      display_name: 'PG',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}:${port}/${database}`,
      credential: { kind: 'password', username: role(), secret },
      properties: { hikari: { minimumIdle: '0', maximumPoolSize: '2', connectionTimeout: '2000' } },
      ...more,
    };
  }

  async function value(lease: Lease, sql: string): Promise<string> {
    try {
      const cursor = await lease.openCursor({ sql, values: [] }, { fetchSize: 10, signal: NEVER });
      return (await collect(cursor)).rows[0] ?? '';
    } finally {
      // One that stays out holds up the end of its process for as long as that waits.
      await lease.release();
    }
  }

  const sessions = async (): Promise<number> => {
    const { rows } = await superuser.control(`SELECT count(*) FROM pg_stat_activity WHERE usename = '${role()}'`);
    return Number(rows[0]?.[0]);
  };

  it('a burst of first leases builds one pool, and its building is audited once', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const leases = await Promise.all([1, 2].map(() => here.access.lease('pg', { signal: NEVER, access: 'read' })));
    expect(await sessions()).toBe(2);
    await Promise.all(leases.map((lease) => lease.release()));
    const built = (await team.audit()).filter(([event]) => event === 'datasource.pool_build');
    expect(built.map(([, details]) => details)).toEqual([
      expect.objectContaining({ datasource: 'pg', ok: true, key_version: 1 }),
    ]);
  });

  it('the trail names the run and the node that a pool was built for', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await here.service.create(team.admin, body('first-Passw0rd', { name: 'other' }));
    await here.access.checkReachable(['pg'], NEVER, { executionId: 'e1' });
    const cause = { executionId: 'e1', nodeId: 'read' };
    for (const name of ['pg', 'other'])
      await (await here.access.lease(name, { signal: NEVER, access: 'read', cause })).release();
    const built = (await team.audit()).filter(([event]) => event === 'datasource.pool_build');
    expect(built.map(([, { datasource, execution_id, node_id }]) => [datasource, execution_id, node_id])).toEqual([
      ['pg', 'e1', undefined],
      ['other', 'e1', 'read'],
    ]);
  });

  it('a rotated password is in force at once, here and on the other process; what runs is not cut', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const busy = await there.access.lease('pg', { signal: NEVER, access: 'read' });
    const idle = await there.access.lease('pg', { signal: NEVER, access: 'read' });
    await idle.release();
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    const running = busy.openCursor(
      { sql: 'SELECT 1 FROM generate_series(1, 5000)', values: [] },
      { fetchSize: 100, signal: NEVER },
    );

    await superuser.control(`ALTER ROLE ${role()} PASSWORD 'second-Passw0rd'`);
    await here.service.update(team.admin, 'pg', body('second-Passw0rd'));
    // The old pools' idle connections are gone on both processes; the busy one is left alone.
    expect(await eventually(async () => (await sessions()) === 1)).toBe(true);
    expect((await collect(await running)).rows).toHaveLength(5000);
    expect(await value(await here.access.lease('pg', { signal: NEVER, access: 'read' }), 'SELECT 1')).toBe('[1]');
    expect(await value(await there.access.lease('pg', { signal: NEVER, access: 'read' }), 'SELECT 2')).toBe('[2]');
    await busy.release();
    expect(await eventually(async () => (await sessions()) === 2)).toBe(true);
  });

  it('a connection still out when the ceiling passes is cut, and a scrape counts it', async () => {
    const counted = async (): Promise<number> => {
      const [, value] = /^datapipelines_datasource_pool_hard_closed_total (\d+)$/m.exec(await register.metrics()) ?? [];
      return Number(value);
    };
    const before = await counted();
    const hasty = await DatasourceBench.start(db, store, { DATAPIPELINES_DATASOURCES_RETIRE_CEILING_SECONDS: '1' });
    await here.service.create(team.admin, body('first-Passw0rd'));
    const held = await hasty.access.lease('pg', { signal: NEVER, access: 'read' });
    const returned = await hasty.access.lease('pg', { signal: NEVER, access: 'read' });
    expect(hasty.pools.retire('pg')).toBe(true);
    await returned.release();
    expect(await eventually(async () => (await counted()) > before)).toBe(true);
    expect(await counted()).toBe(before + 1);
    expect(await eventually(async () => (await sessions()) === 0)).toBe(true);
    await held.release();
    await hasty.stop();
  });

  it('a deleted datasource is not leased again, on either process', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await (await there.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    await here.service.remove(team.admin, 'pg');
    expect(await eventually(async () => (await sessions()) === 0)).toBe(true);
    for (const bench of [here, there]) {
      await expect(bench.access.lease('pg', { signal: NEVER, access: 'read' })).rejects.toMatchObject({
        code: 'pipeline.node.datasource_not_found',
      });
    }
  });

  it('a change whose message was lost is found at the next subscription', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await (await there.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    await db.database.execute(
      `UPDATE datasources SET display_name = 'changed unseen', updated_at = NOW() WHERE name = 'pg'`,
    );
    expect(await sessions()).toBe(1);
    // What a bus tells its listeners whenever its subscription stands anew, as after an outage of the store.
    await there.bus.start();
    expect(await eventually(async () => (await sessions()) === 0)).toBe(true);
    expect(there.pools.leased('pg')).toBeUndefined();
  });

  it('a connection test does not rebuild a pool: its row is no newer for it', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    await here.service.test(team.admin, 'pg');
    await here.pools.reconcile();
    expect(here.pools.leased('pg')).toBe(0);
  });

  it('a failed build is not kept: the next lease tries again', async () => {
    await here.service.create(team.admin, body('wrong-Passw0rd'));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(here.access.lease('pg', { signal: NEVER, access: 'read' })).rejects.toMatchObject({
        kind: 'connection',
        driverCode: '28P01',
      });
    }
    await superuser.control(`ALTER ROLE ${role()} PASSWORD 'wrong-Passw0rd'`);
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
  });

  it('a pool that could not be built is built anew once its row is sound again, without a word from anybody', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const bend = `UPDATE datasources
      SET credential_encrypted = set_byte(credential_encrypted, 20, get_byte(credential_encrypted, 20) # 1)`;
    await db.database.execute(bend);
    await expect(here.access.lease('pg', { signal: NEVER, access: 'read' })).rejects.toMatchObject({
      driverCode: 'CREDENTIAL',
    });
    await db.database.execute(bend);
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    const built = (await team.audit()).filter(([event]) => event === 'datasource.pool_build');
    expect(built.map(([, { ok }]) => ok)).toEqual([false, true]);
  });

  it('a full pool refuses after connectionTimeout and serves again when a lease comes back', async () => {
    await here.service.create(
      team.admin,
      body('first-Passw0rd', {
        properties: { hikari: { maximumPoolSize: '1', minimumIdle: '0', connectionTimeout: '250' } },
      }),
    );
    const held = await here.access.lease('pg', { signal: NEVER, access: 'write' });
    await expect(here.access.lease('pg', { signal: NEVER, access: 'read' })).rejects.toMatchObject({
      code: 'pipeline.node.datasource_connection_failed',
      details: { reason: 'pool_exhausted' },
    });
    await held.release();
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
  });

  it('no lease is given inside an open metadata transaction', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await expect(
      db.database.transaction(async () => await here.access.lease('pg', { signal: NEVER, access: 'read' })),
    ).rejects.toMatchObject({ code: 'datasource.lease_in_transaction' });
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
  });

  it('a lease taken for reading refuses writes before they are sent, and a released one refuses everything', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const lease = await here.access.lease('pg', { signal: NEVER, access: 'read' });
    const drop = { sql: 'CREATE TABLE never (i int)', values: [] };
    await expect(lease.execute(drop, { signal: NEVER })).rejects.toMatchObject({
      code: 'pipeline.node.datasource_readonly',
    });
    await expect(
      lease.beginWrite({ table: 't', mode: 'append', columns: [], batchRows: 1 }, { signal: NEVER }),
    ).rejects.toMatchObject({ code: 'pipeline.node.datasource_readonly' });
    await lease.release();
    await lease.release();
    await expect(lease.openCursor(drop, { fetchSize: 1, signal: NEVER })).rejects.toMatchObject({
      name: 'DriverFailure',
    });
  });

  it('a secret that the database echoes is scrubbed from the failure and everything behind it', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const lease = await here.access.lease('pg', { signal: NEVER, access: 'read' });
    const failure: unknown = await lease
      .openCursor({ sql: `SELECT 'first-Passw0rd'::int`, values: [] }, { fetchSize: 1, signal: NEVER })
      .then((cursor) => cursor.next(NEVER))
      .catch((error: unknown) => error);
    const texts: string[] = [];
    for (let error = failure; error instanceof Error; error = error.cause) texts.push(error.message);
    expect(texts[0]).toContain('***');
    expect(texts.join(' ')).not.toContain('first-Passw0rd');
    await lease.release();
  });

  it('reachability names what does not answer, by code and without driver text', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await here.service.create(team.admin, body('x', { name: 'closed', jdbc_url: 'jdbc:postgresql://127.0.0.1:1/x' }));
    await here.service.create(
      team.admin,
      body('x', { name: 'unknown-host', jdbc_url: 'jdbc:postgresql://nowhere.invalid/x' }),
    );
    expect(await here.access.checkReachable(['pg', 'closed', 'unknown-host', 'pg'], NEVER)).toEqual([
      { name: 'closed', reason: 'ECONNREFUSED' },
      { name: 'unknown-host', reason: 'ENOTFOUND' },
    ]);
  });

  it('a host that the policy forbids later is not dialled, though it was saved', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const strict = await DatasourceBench.start(db, store, {
      DATAPIPELINES_DATASOURCES_EGRESS_DENY: '127.0.0.0/8,::1/128',
    });
    await expect(strict.access.lease('pg', { signal: NEVER, access: 'read' })).rejects.toMatchObject({
      kind: 'connection',
      driverCode: 'HOST_FORBIDDEN',
    });
    await strict.stop();
  });

  it('keys rotate lazily: old rows open with the old key, the next save seals with the new one, and without a key nothing opens', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const rotated = await DatasourceBench.start(db, store, { DATAPIPELINES_DB_ENCRYPTION_KEYS_2: KEY_TWO });
    await (await rotated.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    await rotated.service.update(team.admin, 'pg', body('first-Passw0rd'));
    const [row] = await rotated.repository.sealedCredentials(db.database);
    expect([row?.name, row?.sealed[0]]).toEqual(['pg', 2]);
    await (await rotated.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    await rotated.stop();
    const old = await DatasourceBench.start(db, store, { DATAPIPELINES_MASTER_KEY: KEY_ONE });
    await expect(old.access.lease('pg', { signal: NEVER, access: 'read' })).rejects.toMatchObject({
      kind: 'connection',
      driverCode: 'CREDENTIAL',
    });
    await old.stop();
  });

  it('a first key that was lost and replaced opens nothing it did not seal, and a credential saved anew heals its row', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    await here.service.create(team.admin, body('first-Passw0rd', { name: 'other' }));
    const replaced = await DatasourceBench.start(db, store, { DATAPIPELINES_MASTER_KEY: KEY_TWO });
    const lease = (name: string) => replaced.access.lease(name, { signal: NEVER, access: 'read' });
    const closed = { kind: 'connection', driverCode: 'CREDENTIAL' };
    await expect(lease('pg')).rejects.toMatchObject(closed);
    const lost = { datasource: 'pg', defect: 'bad_tag' };
    expect(await replaced.bootstrap.warnOfLostKeys()).toEqual([{ ...lost, datasource: 'other' }, lost]);
    await replaced.service.update(team.admin, 'pg', body('first-Passw0rd'));
    await (await lease('pg')).release();
    expect(await replaced.bootstrap.warnOfLostKeys()).toEqual([{ ...lost, datasource: 'other' }]);
    await expect(lease('other')).rejects.toMatchObject(closed);
    await replaced.stop();
  });

  it('pool figures are known for what was read', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    expect([here.access.poolSize('pg'), here.access.connectionTimeoutMs('pg')]).toEqual([10, 30_000]);
    await here.access.live(team.workspaceId, 'pg');
    expect([here.access.poolSize('pg'), here.access.connectionTimeoutMs('pg')]).toEqual([2, 2000]);
  });

  it('closing the process closes its sessions', async () => {
    await here.service.create(team.admin, body('first-Passw0rd'));
    const lease = await here.access.lease('pg', { signal: NEVER, access: 'read' });
    await (await here.access.lease('pg', { signal: NEVER, access: 'read' })).release();
    const closing = here.pools.close();
    await lease.release();
    await closing;
    expect(await eventually(async () => (await sessions()) === 0)).toBe(true);
  });
});
