import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SilentLogger, type KeysetPage } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { AuditJournal } from './audit-journal.js';
import { AuditLog, type AuditActor } from './audit-log.js';
import { AuditObserver } from './audit-observer.js';
import { auditPlace, AuditRepository, type AuditRow } from './audit.repository.js';

let db: TestDatabase;
const audit = new AuditLog();
const actor: AuditActor = {
  correlationId: '00000000-0000-4000-8000-000000000001',
  sourceIp: '192.0.2.7',
  userAgent: 'agent',
  workspace: { id: 'defa0000-0000-0000-0000-000000000001', name: 'default', implicit: false },
};

beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const rows = async () => (await new AuditRepository().page(db.database, {}, { first: 200 })).items;

describe('appending', () => {
  it('adds what every row carries, and how a super admin without membership acts', async () => {
    await audit.append(db.database, actor, 'endpoint.published', { endpoint_id: 'e', path: '/x' });
    await audit.append(
      db.database,
      { ...actor, workspace: { id: 'w', name: 'w', implicit: true } },
      'auth.password.seeded',
      {},
    );
    const [implicit, plain] = await rows();
    expect(plain).toMatchObject({ event: 'endpoint.published', sourceIp: '192.0.2.7', userAgent: 'agent' });
    expect(plain?.details).toEqual({
      endpoint_id: 'e',
      path: '/x',
      correlation_id: actor.correlationId,
      workspace_id: actor.workspace?.id,
      workspace: 'default',
    });
    expect(implicit?.details).toMatchObject({ acting_via: 'super_admin', workspace: 'w' });
  });

  it('never writes where the actor was over what the act was about', async () => {
    await audit.append(db.database, actor, 'datasource.granted', { datasource: 'd', workspace: 'granted' });
    expect((await rows())[0]?.details).toMatchObject({ datasource: 'd', workspace: 'granted' });
  });

  it('fails the act when a row cannot be written: no row, no act', async () => {
    const act = db.database.transaction(async (tx) => {
      await tx.execute(`INSERT INTO workspaces (name, display_name) VALUES ('made', 'Made')`);
      await audit.append(tx, actor, 'auth.workspace.updated', { from: { password: 'planted' } });
    });
    await expect(act).rejects.toThrow(TypeError);
    expect(await db.database.query(`SELECT id FROM workspaces WHERE name = 'made'`)).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  it('keeps secrets out that stand in values: keys, URLs with a user, tokens', async () => {
    const key = `dpk_${'A'.repeat(12)}.${'B'.repeat(48)}`;
    const planted = ['B'.repeat(48), 'hunter2pw', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'];
    const text = `${key} postgres://app:hunter2pw@db/x ${planted[2]} password=hunter2pw`;
    await audit.append(db.database, { ...actor, userAgent: text }, 'auth.csrf.rejected', { path: text, reason: text });
    const dump = await db.database.query<{ row: string }>('SELECT row_to_json(a)::text AS row FROM audit_log a');
    for (const secret of planted) expect(dump[0]?.row).not.toContain(secret);
  });

  it('does not lose the row to a malformed address or a hostile agent string', async () => {
    const hostile = {
      ...actor,
      sourceIp: "1.2.3.4'; DROP TABLE audit_log; --",
      userAgent: `\u0000\ud800${'é'.repeat(600)}`,
    };
    await audit.append(db.database, hostile, 'auth.password.changed', {});
    await audit.append(db.database, { ...actor, sourceIp: 'fe80::1%eth0' }, 'auth.password.changed', {});
    const [zoned, row] = await rows();
    expect(row?.sourceIp).toBeNull();
    expect(Buffer.byteLength(row?.userAgent ?? '')).toBeLessThanOrEqual(512);
    expect(zoned?.sourceIp).toBe('fe80::1');
  });

  it('can be neither changed nor emptied by the role the server runs as', async () => {
    await audit.append(db.database, actor, 'auth.password.changed', {});
    await expect(db.database.execute(`UPDATE audit_log SET event = 'x'`)).rejects.toMatchObject({ code: '42501' });
    await expect(db.database.execute('TRUNCATE audit_log')).rejects.toMatchObject({ code: '42501' });
  });
});

describe('observing', () => {
  it('never changes the answer: a failed row is counted', async () => {
    const closed = await Database.open({ url: db.url });
    await closed.close();
    const observer = new AuditObserver(new AuditJournal(closed), new SilentLogger());
    await observer.observe(actor, 'auth.login.bad_credentials', { email: 'ada@example.org' });
    expect(observer.failures).toBe(1);
  });
});

describe('reading', () => {
  const repository = new AuditRepository();

  beforeEach(async () => {
    await db.database.transaction(async (tx) => {
      // One transaction, one timestamp: the id alone must keep the order.
      for (let n = 0; n < 7; n++) await audit.append(tx, actor, 'auth.logout', { session_id: String(n) });
      await audit.append(tx, { ...actor, workspace: undefined }, 'auth.password.seeded', {});
    });
  });

  it('walks newest first without repeating or skipping a row, forwards and backwards', async () => {
    const seen: string[] = [];
    for (let page: KeysetPage | undefined = { first: 3 }; page;) {
      const { items, hasNext } = await repository.page(db.database, {}, page);
      seen.push(...items.map(({ id }) => id));
      page = hasNext ? { first: 3, after: auditPlace(items.at(-1) as AuditRow) } : undefined;
    }
    expect(seen).toHaveLength(8);
    expect([...seen].sort((a, b) => Number(b) - Number(a))).toEqual(seen);
    const fourth = (await repository.page(db.database, {}, { first: 8 })).items[3] as AuditRow;
    const back = await repository.page(db.database, {}, { last: 2, before: auditPlace(fourth) });
    expect(back.items.map(({ id }) => id)).toEqual(seen.slice(1, 3));
  });

  it('filters by workspace, name and time', async () => {
    const count = (filter: Parameters<AuditRepository['count']>[1]) => repository.count(db.database, filter);
    expect(await count({})).toBe(8);
    expect(await count({ workspaceId: actor.workspace?.id })).toBe(7);
    expect(await count({ workspaceId: "' OR 1=1 --" })).toBe(0);
    expect(await count({ eventPrefix: 'auth.pass' })).toBe(1);
    expect(await count({ eventPrefix: '%' })).toBe(0);
    expect(await count({ from: new Date(Date.now() + 60_000) })).toBe(0);
  });

  it('forgets what is past its retention, in batches, and nothing younger', async () => {
    await db.database.execute(
      `INSERT INTO audit_log (event, timestamp) SELECT 'old', NOW() - INTERVAL '366 days' FROM generate_series(1, 5)`,
    );
    expect(await repository.deleteOlderThan(db.database, 365, 3)).toBe(3);
    expect(await repository.deleteOlderThan(db.database, 365, 3)).toBe(2);
    expect(await repository.count(db.database, {})).toBe(8);
  });
});
