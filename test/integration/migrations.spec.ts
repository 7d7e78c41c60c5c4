import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { constraintOf, Database, migrationState, runMigrations } from '#libs/persistence';
import { SqlMigration } from '../../migrations/server/sql-migration.js';
import { serverMigrations } from '../../migrations/server/index.js';
import { startChild } from '../fixtures/child.js';
import {
  createEmptyDatabase,
  createTestDatabase,
  type EmptyDatabase,
  type TestDatabase,
} from '../fixtures/postgres.js';

const names = serverMigrations.map(({ name }) => name);

class Script extends SqlMigration {
  constructor(
    readonly name: string,
    readonly sql: string,
  ) {
    super();
  }
}

let empty: EmptyDatabase;

beforeEach(async () => {
  empty = await createEmptyDatabase();
}, 90_000);

afterEach(async () => {
  await empty?.drop();
});

async function inDatabase<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: empty.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const rows = (sql: string) => inDatabase(async (client) => (await client.query<Record<string, unknown>>(sql)).rows);

describe('migrations', () => {
  it('applied by three processes at once on an empty database: all succeed, each script ran once', async () => {
    const children = [1, 2, 3].map(() => startChild('test/fixtures/migrate-once.ts', [empty.url]));
    const finished = await Promise.all(children.map((child) => child.finished));
    expect(finished.map(({ code, stderr }) => [code, stderr])).toEqual([1, 2, 3].map(() => [0, '']));
    const applied = finished.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
    expect(applied.sort()).toEqual([...names].sort());
    expect(await rows('SELECT name FROM penstock_meta.migrations ORDER BY name')).toEqual(
      names.map((name) => ({ name })),
    );
  }, 60_000);

  it('are all there or not at all after a process was killed in the middle, and the next one finishes', async () => {
    const blocker = new Script('0003-slow', 'CREATE TABLE half (id INTEGER); SELECT pg_sleep(60)');
    const interrupted = runMigrations(empty.url, { migrations: [...serverMigrations, blocker] });
    const outcome = interrupted.catch((error: unknown) => error);
    const running = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`;
    while ((await rows(running)).length === 0);
    await rows(`SELECT pg_terminate_backend(pid) FROM (${running}) r`);
    expect(await outcome).toMatchObject({ code: 'internal', details: { migration: '0003-slow' } });
    expect(await rows(`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
    const repaired = new Script('0003-slow', 'CREATE TABLE half (id INTEGER)');
    expect(await runMigrations(empty.url, { migrations: [...serverMigrations, repaired] })).toEqual(['0003-slow']);
  });

  it('are the text that installations applied; a correction is a new migration, or they refuse to start', async () => {
    await runMigrations(empty.url);
    expect(await rows('SELECT name, checksum FROM penstock_meta.migrations ORDER BY name')).toEqual([
      { name: '0001-metadata-tables', checksum: 'f6655f9ca51e0bf84d7fb44f663ca61df88698dbbbf8be461f1f4aaf17f153d1' },
      {
        name: '0002-sessions-and-append-only',
        checksum: '1bed49813bb0f558cd0ee906cd9c241402fc29a2b2e3714e7866eb2318f59663',
      },
      {
        name: '0003-reference-indexes',
        checksum: '0234c0c4e9373c1f14e9fc2fd0c606d3ddf7c5eb2a81bd053a92102d33b510f9',
      },
      {
        name: '0004-audit-of-a-key',
        checksum: '355eb4d19f718d137fa1eb88259fd3b2c3a3f5472dd2926c4860e9275ea756df',
      },
      {
        name: '0005-browse-indexes',
        checksum: 'a758f5494afe82804ae509535860f18c246b6a235159c8c60f3d746576b5571c',
      },
      {
        name: '0006-bootstrap-admin',
        checksum: 'cebbdbcd3d76b48931c20288a5bb6b974ca9fd6bd265c1bf084be9211ccc7846',
      },
    ]);
  });

  it('do nothing the second time: every start runs them', async () => {
    expect(await runMigrations(empty.url)).toEqual(names);
    expect(await runMigrations(empty.url)).toEqual([]);
    expect(await migrationState(empty.url)).toEqual({ applied: names, pending: [], unknown: [] });
  });

  it('tell what is pending without touching an empty database, for readiness', async () => {
    expect(await migrationState(empty.url)).toEqual({ applied: [], pending: names, unknown: [] });
    expect(await rows(`SELECT to_regnamespace('penstock_meta') AS ledger`)).toEqual([{ ledger: null }]);
  });

  it('refuse to migrate and to boot once an applied script was edited, and name it', async () => {
    const original = new Script('0001-things', 'CREATE TABLE things (id INTEGER)');
    const edited = new Script('0001-things', 'CREATE TABLE things (id BIGINT)');
    await runMigrations(empty.url, { migrations: [original] });
    const refused = { code: 'internal', details: { reason: 'migration_changed', migrations: ['0001-things'] } };
    await expect(runMigrations(empty.url, { migrations: [edited] })).rejects.toMatchObject(refused);
    await expect(migrationState(empty.url, { migrations: [edited] })).rejects.toMatchObject(refused);
    await expect(runMigrations(empty.url, { migrations: [edited] })).rejects.toThrow(/0001-things was changed/);
  });

  it('leave nothing of a failing script and keep what came before', async () => {
    const good = new Script('0001-good', 'CREATE TABLE good (id INTEGER)');
    const bad = new Script('0002-bad', 'CREATE TABLE bad (id INTEGER); SELECT 1 / 0');
    await expect(runMigrations(empty.url, { migrations: [good, bad] })).rejects.toMatchObject({
      details: { migration: '0002-bad', sqlstate: '22012' },
    });
    expect(await rows(`SELECT to_regclass('good')::text AS good, to_regclass('bad')::text AS bad`)).toEqual([
      { good: 'good', bad: null },
    ]);
    expect(await rows('SELECT name FROM penstock_meta.migrations')).toEqual([{ name: '0001-good' }]);
  });

  it('let an older server start on a newer database, so that servers can be replaced one by one', async () => {
    const newer = new Script('9999-later', 'CREATE TABLE later (id INTEGER)');
    await runMigrations(empty.url, { migrations: [...serverMigrations, newer] });
    expect(await migrationState(empty.url)).toMatchObject({ pending: [], unknown: ['9999-later'] });
    expect(await runMigrations(empty.url)).toEqual([]);
  });

  it.each([
    [
      'its audit row',
      `('acme', TRUE, NULL), ('bootstrap', TRUE, NULL), ('okta', FALSE, 'auth.user.admin_granted')`,
      'okta',
    ],
    ['its row that waits', `('acme', TRUE, NULL), ('bootstrap', TRUE, NULL), ('okta', FALSE, NULL)`, 'bootstrap'],
    ['nothing, when nobody was', `('acme', TRUE, NULL), ('okta', FALSE, NULL)`, undefined],
  ])(
    'know whom the configuration made administrator by %s, so that an upgrade grants nobody else',
    async (_, people, holder) => {
      await runMigrations(empty.url, { migrations: serverMigrations.slice(0, 5) });
      await rows(`WITH people (provider, admin, event) AS (VALUES ${people}), made AS (
        INSERT INTO users (email, display_name, provider, provider_subject, is_admin)
        SELECT provider || '@x.io', provider, provider, provider, admin FROM people RETURNING id, provider)
      INSERT INTO audit_log (event, user_id, details_json)
      SELECT event, id, jsonb_build_object('actor', 'bootstrap', 'target_user_id', id)
        FROM made JOIN people USING (provider) WHERE event IS NOT NULL`);
      await runMigrations(empty.url);
      expect(await rows('SELECT provider FROM bootstrap_admin JOIN users ON users.id = user_id')).toEqual(
        holder === undefined ? [] : [{ provider: holder }],
      );
    },
  );

  it('can be called off while another process holds the lock', async () => {
    await inDatabase(async (holder) => {
      await holder.query('SELECT pg_advisory_lock($1, $2)', [0x504e5354, 0x4d494752]);
      const said: string[] = [];
      const abort = new AbortController();
      const waiting = runMigrations(empty.url, {
        signal: abort.signal,
        log: (message) => {
          said.push(message);
          abort.abort();
        },
      });
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
      expect(said).toEqual([expect.stringMatching(/another process/i)]);
    });
    expect(await rows(`SELECT to_regclass('users') AS users`)).toEqual([{ users: null }]);
  });
});

describe('a migrated database', () => {
  let test: TestDatabase;
  let db: Database;

  beforeEach(async () => {
    test = await createTestDatabase();
    db = test.database;
  });

  afterEach(async () => {
    await test?.drop();
  });

  const user = async () => {
    const [row] = await db.query<{ id: string }>(
      `INSERT INTO users (email, display_name, provider, provider_subject) VALUES ('a@x.io', 'A', 'local', 'a') RETURNING id`,
    );
    return row?.id;
  };

  it('has the default workspace under its well-known id, made by nobody', async () => {
    expect(await db.query('SELECT id, name, created_by, is_personal FROM workspaces')).toEqual([
      { id: 'defa0000-0000-0000-0000-000000000001', name: 'default', created_by: null, is_personal: false },
    ]);
  });

  it.each(['audit_log', 'execution_events'])('does not let even its owner change or empty %s', async (table) => {
    await expect(db.execute(`UPDATE ${table} SET timestamp = NOW()`)).rejects.toMatchObject({ code: '42501' });
    await expect(db.execute(`TRUNCATE ${table}`)).rejects.toMatchObject({ code: '42501' });
    await expect(db.query(`SELECT id FROM ${table} FOR UPDATE`)).rejects.toMatchObject({ code: '42501' });
    await expect(db.execute(`DELETE FROM ${table} WHERE id = ANY($1)`, [[1, 2]])).resolves.toBe(0);
  });

  it('still takes audit rows, also for a deleted key, whose trail outlives it', async () => {
    await db.execute(`INSERT INTO audit_log (event, user_id, key_id) VALUES ('x', $1, 'dpk_GONE')`, [await user()]);
    expect(await db.query('SELECT key_id, details_json FROM audit_log')).toEqual([
      { key_id: 'dpk_GONE', details_json: '{}' },
    ]);
  });

  it('allows one draft per pipeline, which decides the race of two first writers', async () => {
    const id = await user();
    const [pipeline] = await db.query<{ id: string }>(
      `INSERT INTO pipelines (workspace_id, name, display_name, owner_id)
       VALUES ('defa0000-0000-0000-0000-000000000001', 'a/b', 'B', $1) RETURNING id, current_version`,
      [id],
    );
    expect(pipeline).toMatchObject({ current_version: null });
    const draft = (version: number) =>
      db.execute(
        `INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, created_by)
         VALUES ($1, $2, '{}', 'DRAFT', 'h', $3)`,
        [pipeline?.id, version, id],
      );
    const outcomes = await Promise.allSettled([draft(1), draft(2)]);
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(lost.map(({ reason }) => constraintOf(reason))).toEqual([
      { kind: 'unique', name: 'uq_pipeline_versions_one_draft' },
    ]);
  });

  it('admits the lake dialect and endpoint runs, which the first drafts of the schema did not', async () => {
    const id = await user();
    await expect(
      db.execute(
        `INSERT INTO datasources (name, display_name, dialect, jdbc_url, credential_kind, created_by)
         VALUES ('lake', 'Lake', 'LAKE', 'jdbc:lake:x', 'none', $1)`,
        [id],
      ),
    ).resolves.toBe(1);
    const unknown = db.execute(
      `INSERT INTO datasources (name, display_name, dialect, jdbc_url, credential_kind, created_by)
       VALUES ('d', 'D', 'DB2', 'jdbc:db2:x', 'none', $1)`,
      [id],
    );
    expect(constraintOf(await unknown.catch((error: unknown) => error))).toEqual({
      kind: 'check',
      name: 'chk_datasource_dialect',
    });
  });
});
