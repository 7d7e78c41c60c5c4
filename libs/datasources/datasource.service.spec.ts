import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import type { JsonObject, PenstockError } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';

import {
  createEmptyDatabase,
  createTestDatabase,
  type EmptyDatabase,
  type TestDatabase,
} from '../../test/fixtures/postgres.js';
import { DatasourceBench, People } from './datasources.fixture.js';
import { loginOf } from './drivers/postgres/postgres.fixture.js';

const SECRET = 'planted-Secr3t-ü';

describe('registered datasources', () => {
  let db: TestDatabase;
  let target: EmptyDatabase;
  let store: MemoryTransientStore;
  let bench: DatasourceBench;
  let team: People;
  let others: People;
  let folder: string;

  beforeAll(async () => {
    target = await createEmptyDatabase();
    folder = mkdtempSync(join(tmpdir(), 'penstock-files-'));
    new DatabaseSync(join(folder, 'data.db')).close();
  });

  beforeEach(async () => {
    db = await createTestDatabase();
    store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    bench = await DatasourceBench.start(db, store, { DATAPIPELINES_DATASOURCES_FILE_ROOTS: folder });
    team = await People.of(db, 'team');
    others = await People.of(db, 'others');
  });

  afterEach(async () => {
    await bench.stop();
    await db.drop();
  });

  afterAll(async () => {
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  function body(more: JsonObject = {}): JsonObject {
    const { host, port, database } = loginOf(target.url);
    return {
      name: 'pg-prod',
      display_name: 'Production',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}:${port}/${database}`,
      credential: { kind: 'password', username: 'bob', secret: SECRET },
      ...more,
    };
  }

  async function refusal(
    work: Promise<unknown>,
  ): Promise<{ code: string; failures: string[]; details: Record<string, unknown> }> {
    const error = await work.then(
      () => new TypeError('nothing was refused'),
      (reason: unknown) => reason,
    );
    const { code, details } = error as PenstockError;
    if (!details) throw error;
    const failures = (details['failures'] ?? []) as { code: string; path: string }[];
    return { code, details, failures: failures.map((failure) => `${failure.code.split('.').at(-1)} ${failure.path}`) };
  }

  it('a save without a live server succeeds, and reads have exactly the documented shape', async () => {
    const view = await bench.service.create(
      team.admin,
      body({
        jdbc_url: 'jdbc:postgresql://nowhere.invalid:5432/x?prepareThreshold=5',
        description: '',
        query_timeout_seconds: null,
        introspection_include_schemas: [' PG_Catalog ', 'pg_catalog', ''],
        properties: { hikari: { maximumPoolSize: '4', autoCommit: true }, jdbc: { ApplicationName: 'x' } },
      }),
    );
    expect(view).toMatchObject({
      name: 'pg-prod',
      description: '',
      dialect: 'POSTGRES',
      credential: { kind: 'password', username: 'bob' },
      username: 'bob',
      password_set: true,
      workspace: 'team',
      granted: true,
      readonly: false,
      last_test: null,
      introspection_include_schemas: ['pg_catalog'],
      ignored_properties: ['autoCommit', 'prepareThreshold'],
      pool: { maximumPoolSize: { value: 4, unit: 'count', source: 'configured' } },
      facts: [],
      definitions: [],
    });
    expect(JSON.stringify(view)).not.toContain(SECRET);
    expect(await bench.service.read(team.viewer, 'pg-prod')).toEqual(view);
    expect(await bench.service.read(team.key('read'), 'pg-prod')).toEqual(view);
  });

  it('an unmodified read can be written back, keeping the secret', async () => {
    await bench.service.create(team.admin, body());
    const before = await bench.repository.credential(db.database, 'pg-prod');
    const view = await bench.service.read(team.admin, 'pg-prod');
    const written = await bench.service.update(team.admin, 'pg-prod', JSON.parse(JSON.stringify(view)) as JsonObject);
    expect({ ...written, updated_at: '' }).toEqual({ ...view, updated_at: '' });
    expect(await bench.repository.credential(db.database, 'pg-prod')).toEqual(before);
  });

  it('every defect is told at once, the first one on top', async () => {
    const hopeless: Record<string, unknown> = {
      name: 'Has Blanks',
      display_name: ' ',
      dialect: 'POSTGRES',
      jdbc_url: 'jdbc:postgresql://bob:pw@h/d',
      credential: { kind: 'none' },
      query_timeout_seconds: 'soon',
      readonly: 'yes',
      properties: {
        hikari: { maximumPoolSize: 0, poolName: 'x' },
        jdbc: { sslkey: '/x' },
        dialect: { region: 'x' },
        other: {},
      },
      introspection_include_schemas: ['bad name'],
      colour: 'green',
      global: true,
    };
    const { code, failures } = await refusal(bench.service.create(team.admin, hopeless as JsonObject));
    expect(code).toBe('datasource.validation.name_invalid');
    expect(failures.sort()).toEqual([
      'jdbc_url_malformed jdbc_url',
      'name_invalid name',
      'properties_invalid colour',
      'properties_invalid credential.kind',
      'properties_invalid display_name',
      'properties_invalid introspection_include_schemas[0]',
      'properties_invalid properties.dialect.region',
      'properties_invalid properties.hikari.maximumPoolSize',
      'properties_invalid properties.hikari.poolName',
      'properties_invalid properties.jdbc.sslkey',
      'properties_invalid properties.other',
      'properties_invalid readonly',
      'query_timeout_invalid query_timeout_seconds',
      'workspace_forbidden workspace',
    ]);
  });

  it.each([
    ['ORACLE', 'jdbc:oracle:thin:@//h/s', 'datasource.driver_not_loaded'],
    ['MYSQL', 'jdbc:mysql://h/d', 'datasource.driver_not_loaded'],
    ['POSTGRESQL', 'jdbc:postgresql://h/d', 'datasource.validation.dialect_invalid'],
  ])('dialect %s answers %s', async (dialect, jdbc_url, code) => {
    expect((await refusal(bench.service.create(team.admin, body({ dialect, jdbc_url })))).code).toBe(code);
  });

  it('"tempdb", a foreign name in the body and a host of ours are refused', async () => {
    expect((await refusal(bench.service.create(team.admin, body({ name: 'tempdb' })))).code).toBe(
      'datasource.validation.name_invalid',
    );
    await bench.service.create(team.admin, body());
    expect((await refusal(bench.service.update(team.admin, 'pg-prod', body({ name: 'other' })))).code).toBe(
      'datasource.validation.name_invalid',
    );
    for (const jdbc_url of [
      'jdbc:postgresql://169.254.169.254/x',
      'jdbc:postgresql://[fe80::1]/x',
      'jdbc:postgresql://0.0.0.0/x',
      db.url.replace(/^postgres(ql)?:\/\/[^@]*@/, 'jdbc:postgresql://'),
    ]) {
      expect((await refusal(bench.service.create(team.admin, body({ name: 'x', jdbc_url })))).code).toBe(
        'datasource.validation.host_forbidden',
      );
    }
  });

  it('of concurrent creates of one name exactly one wins; the name is global and never free again', async () => {
    const outcomes = await Promise.allSettled(
      [team, others, team, others].map((people) => bench.service.create(people.admin, body())),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'datasource.validation.duplicate_name' });
    const owner = (await bench.service.list(team.admin, { offset: 0, limit: 10 })).total === 1 ? team : others;
    await bench.service.remove(owner.admin, 'pg-prod');
    expect((await refusal(bench.service.create(owner.admin, body()))).code).toBe(
      'datasource.validation.duplicate_name',
    );
    for (const act of [
      bench.service.read(owner.admin, 'pg-prod'),
      bench.service.update(owner.admin, 'pg-prod', body()),
      bench.service.test(owner.admin, 'pg-prod'),
      bench.service.remove(owner.admin, 'pg-prod'),
      bench.service.grants(owner.root, 'pg-prod'),
    ])
      expect((await refusal(act)).code).toBe('datasource.not_found');
  });

  describe('roles', () => {
    it.each<[string, (people: People) => ReturnType<People['key']>, string]>([
      ['a viewer', ({ viewer }) => viewer, 'auth.role_required'],
      ['an author', ({ author }) => author, 'auth.role_required'],
      ['a key that may only execute', (people) => people.key('execute'), 'auth.scope.insufficient'],
    ])('%s changes nothing', async (_who, principal, code) => {
      await bench.service.create(team.admin, body());
      const by = principal(team);
      expect((await refusal(bench.service.create(by, body({ name: 'x' })))).code).toBe(code);
      expect((await refusal(bench.service.update(by, 'pg-prod', body()))).code).toBe(code);
      expect((await refusal(bench.service.remove(by, 'pg-prod'))).code).toBe(code);
      expect((await refusal(bench.service.test(by, 'pg-prod'))).code).toBe(code);
    });

    it('a datasource of another workspace is absent; granted, it can be read and not changed', async () => {
      await bench.service.create(team.admin, body());
      for (const act of [
        () => bench.service.read(others.admin, 'pg-prod'),
        () => bench.service.update(others.admin, 'pg-prod', body()),
        () => bench.service.remove(others.admin, 'pg-prod'),
        () => bench.service.test(others.admin, 'pg-prod'),
        () => bench.introspection.schemas(others.admin, 'pg-prod'),
      ])
        expect((await refusal(act())).code).toBe('datasource.not_found');
      await bench.service.grant(team.root, 'pg-prod', 'others');
      expect((await bench.service.read(others.viewer, 'pg-prod')).workspace).toBe('team');
      expect((await refusal(bench.service.update(others.admin, 'pg-prod', body()))).code).toBe('auth.role_required');
      expect((await refusal(bench.service.remove(others.admin, 'pg-prod'))).code).toBe('auth.role_required');
    });

    it('only a super admin’s session registers for the instance, for another workspace, or in our process', async () => {
      const sqlite = {
        dialect: 'SQLITE',
        jdbc_url: `jdbc:sqlite:${join(folder, 'data.db')}`,
        credential: { kind: 'none' },
      };
      expect((await refusal(bench.service.create(team.admin, body({ global: true })))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await refusal(bench.service.create(team.admin, body({ workspace: 'others' })))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await refusal(bench.service.create(team.root, body({ workspace: 'others', global: true })))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await refusal(bench.service.create(team.root, body({ workspace: 'nowhere' })))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await refusal(bench.service.create(team.admin, body(sqlite)))).code).toBe('auth.role_required');
      expect((await refusal(bench.service.create(team.key('author'), body(sqlite)))).code).toBe(
        'auth.session.required',
      );
      expect((await bench.service.create(team.root, body({ name: 'for-all', global: true }))).workspace).toBeNull();
      expect((await bench.service.create(team.root, body({ name: 'theirs', workspace: 'others' }))).workspace).toBe(
        'others',
      );
      expect((await bench.service.create(team.root, body({ name: 'files', ...sqlite }))).credential).toEqual({
        kind: 'none',
      });
      expect((await bench.service.read(others.viewer, 'theirs')).name).toBe('theirs');
      expect((await refusal(bench.service.update(team.admin, 'files', body({ name: 'files', ...sqlite })))).code).toBe(
        'auth.role_required',
      );
    });

    it('where members may register nothing, only super admins do', async () => {
      const closed = await DatasourceBench.start(db, store, {
        DATAPIPELINES_WORKSPACES_MEMBER_DATASOURCES_ENABLED: 'false',
      });
      expect((await refusal(closed.service.create(team.admin, body()))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await closed.service.create(team.root, body())).workspace).toBe('team');
      await closed.stop();
    });
  });

  it('files must lie under the roots by their real path, at save', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'penstock-outside-'));
    writeFileSync(join(outside, 'x.db'), '');
    symlinkSync(join(outside, 'x.db'), join(folder, 'link.db'));
    const sqlite = (path: string): JsonObject =>
      body({ dialect: 'SQLITE', jdbc_url: `jdbc:sqlite:${path}`, credential: { kind: 'none' } });
    for (const path of [join(outside, 'x.db'), join(folder, 'link.db'), '/etc/passwd', `${folder}-sibling/x.db`]) {
      const { code, details } = await refusal(bench.service.create(team.root, sqlite(path)));
      expect([code, details['reason']]).toEqual(['datasource.validation.jdbc_url_malformed', 'file_root']);
    }
    // A file that comes later saves now, and fails to connect until then.
    await bench.service.create(team.root, sqlite(join(folder, 'later.db')));
    expect(await bench.service.test(team.root, 'pg-prod')).toMatchObject({ connected: false, error_class: 'ENOENT' });
    rmSync(outside, { recursive: true });
    rmSync(join(folder, 'link.db'));
  });

  describe('credentials on PUT', () => {
    const sealed = async (): Promise<Buffer | null | undefined> =>
      (await bench.repository.credential(db.database, 'pg-prod'))?.sealed;

    beforeEach(async () => {
      await bench.service.create(team.admin, body());
    });

    it('no secret keeps the stored one, while the kind stays', async () => {
      const before = await sealed();
      await bench.service.update(team.admin, 'pg-prod', body({ credential: { kind: 'password', username: 'alice' } }));
      expect(await sealed()).toEqual(before);
      await bench.service.update(team.admin, 'pg-prod', body({ credential: undefined as never }));
      expect((await bench.service.read(team.admin, 'pg-prod')).username).toBe('alice');
      expect(
        (await refusal(bench.service.update(team.admin, 'pg-prod', body({ credential: { kind: 'token' } })))).code,
      ).toBe('datasource.validation.password_missing');
      expect(
        (
          await refusal(
            bench.service.update(
              team.admin,
              'pg-prod',
              body({ credential: { kind: 'password', username: 'x', secret: ' ' } }),
            ),
          )
        ).code,
      ).toBe('datasource.validation.password_missing');
    });

    it('a new secret replaces it, and the older pair means the same; both together are refused', async () => {
      const before = await sealed();
      await bench.service.update(
        team.admin,
        'pg-prod',
        body({ credential: undefined as never, username: 'bob', password: 'another' }),
      );
      expect(await sealed()).not.toEqual(before);
      expect(
        (await refusal(bench.service.update(team.admin, 'pg-prod', body({ username: 'bob', password: 'x' })))).code,
      ).toBe('datasource.validation.properties_invalid');
      await bench.service.update(team.admin, 'pg-prod', body({ credential: { kind: 'token', secret: 'tok' } }));
      expect((await bench.service.read(team.admin, 'pg-prod')).credential).toEqual({ kind: 'token' });
    });

    it('a writer that keeps a secret of a kind another writer just changed is refused, not given a wrong one', async () => {
      await db.database.execute(
        `UPDATE datasources SET credential_kind = 'token', username = NULL WHERE name = 'pg-prod'`,
      );
      const write = {
        name: 'pg-prod',
        displayName: 'x',
        description: null,
        dialect: 'POSTGRES',
        jdbcUrl: 'jdbc:postgresql:x',
        username: 'bob',
        credentialKind: 'password',
        credential: null,
        propertiesJson: '{}',
        queryTimeoutSeconds: null,
        includeSchemasJson: '[]',
        ownerWorkspaceId: null,
        isReadonly: false,
      };
      expect(await bench.repository.update(db.database, write)).toBe(false);
    });
  });

  it('readonly stays when absent; include-schemas are replaced whole', async () => {
    await bench.service.create(team.admin, body({ readonly: true, introspection_include_schemas: ['a'] }));
    const view = await bench.service.update(team.admin, 'pg-prod', body());
    expect([view.readonly, view.introspection_include_schemas]).toEqual([true, undefined]);
    expect((await bench.service.update(team.admin, 'pg-prod', body({ readonly: false }))).readonly).toBe(false);
  });

  it('lists what the workspace sees, with the exact total, by dialect, in one order', async () => {
    for (const name of ['c', 'a', 'b']) await bench.service.create(team.admin, body({ name }));
    await bench.service.create(others.admin, body({ name: 'foreign' }));
    const page = await bench.service.list(team.viewer, { offset: 1, limit: 1 });
    expect([page.items.map(({ name }) => name), page.total]).toEqual([['b'], 3]);
    expect((await bench.service.list(team.viewer, { offset: 0, limit: 10, dialect: 'SQLITE' })).total).toBe(0);
    expect((await bench.service.list(team.viewer, { offset: 0, limit: 10, dialect: "x' OR 1=1" })).total).toBe(0);
    expect((await bench.service.list(team.root, { offset: 0, limit: 10, all: true })).total).toBe(4);
    expect((await refusal(bench.service.list(team.admin, { offset: 0, limit: 10, all: true }))).code).toBe(
      'auth.role_required',
    );
  });

  it('a datasource in use stays, in any stored version, and foreign pipelines are only counted', async () => {
    await bench.service.create(team.admin, body());
    const reference = { pipeline: 'daily', node_id: 'read', pipeline_version: 3, version_status: 'DISCARDED' };
    bench.references.stated.set('pg-prod', { references: [reference], hidden: 2 });
    const { code, details } = await refusal(bench.service.remove(team.admin, 'pg-prod'));
    expect([code, details]).toEqual([
      'datasource.in_use',
      { datasource_name: 'pg-prod', referencing_pipelines: ['daily'], references: [reference], hidden_references: 2 },
    ]);
    expect((await bench.service.read(team.admin, 'pg-prod')).name).toBe('pg-prod');
  });

  it('a save that holds a datasource and its delete exclude each other', async () => {
    await bench.service.create(team.admin, body());
    let deleted: Promise<unknown> = Promise.resolve();
    await db.database.transaction(async (tx) => {
      expect((await bench.access.visibleForShare(tx, team.workspaceId, ['pg-prod', 'nothing'])).size).toBe(1);
      deleted = bench.service.remove(team.admin, 'pg-prod');
      const waits = await Promise.race([
        deleted.then(() => 'deleted'),
        new Promise((resolve) => setTimeout(() => resolve('waits'), 150)),
      ]);
      expect(waits).toBe('waits');
      bench.references.stated.set('pg-prod', { references: [], hidden: 1 });
    });
    expect((await refusal(deleted)).code).toBe('datasource.in_use');
  });

  it('grants are idempotent, keep their first actor, and are audited either way', async () => {
    await bench.service.create(team.admin, body());
    await bench.service.grant(team.root, 'pg-prod', 'others');
    await bench.service.grant(others.root, 'pg-prod', 'others');
    const grants = await bench.service.grants(team.root, 'pg-prod');
    expect(grants.map(({ workspace, granted_by }) => [workspace, granted_by])).toEqual([
      ['others', team.root.userId],
      ['team', team.admin.userId],
    ]);
    await bench.service.revoke(team.root, 'pg-prod', 'others');
    await bench.service.revoke(team.root, 'pg-prod', 'others');
    expect((await bench.access.visible(others.workspaceId, ['pg-prod'])).size).toBe(0);
    expect((await refusal(bench.service.grant(team.root, 'pg-prod', 'nowhere'))).code).toBe('workspace.not_found');
    expect((await refusal(bench.service.grant(team.admin, 'pg-prod', 'others'))).code).toBe('auth.role_required');
    const events = (await team.audit()).map(([event, details]) => [
      event,
      details['already_granted'] ?? details['had_grant'],
    ]);
    expect(events.slice(1)).toEqual([
      ['datasource.granted', false],
      ['datasource.granted', true],
      ['datasource.revoked', true],
      ['datasource.revoked', false],
    ]);
  });

  describe('connection test', () => {
    it('answers 200 either way, remembers the outcome and leaves updated_at alone', async () => {
      const { username, secret } = loginOf(target.url);
      await bench.service.create(team.admin, body({ credential: { kind: 'password', username, secret } }));
      const before = await bench.service.read(team.admin, 'pg-prod');
      const outcome = await bench.service.test(team.admin, 'pg-prod');
      expect(outcome).toMatchObject({ connected: true, server_version: expect.stringMatching(/^PostgreSQL \d+/) });
      const after = await bench.service.read(team.admin, 'pg-prod');
      expect(after.updated_at).toBe(before.updated_at);
      expect(after.last_test).toEqual({ tested_at: outcome.tested_at, ok: true, message: outcome.server_version });
    });

    it('says what the driver said, without secret, user and URL', async () => {
      await bench.service.create(
        team.admin,
        body({ credential: { kind: 'password', username: 'planted_user', secret: SECRET } }),
      );
      const outcome = await bench.service.test(team.admin, 'pg-prod');
      expect(outcome).toMatchObject({ connected: false, error_class: '28P01' });
      expect(outcome.error).toContain('***');
      const everything = JSON.stringify([outcome, await bench.service.read(team.admin, 'pg-prod'), await team.audit()]);
      expect(everything).not.toContain(SECRET);
      expect(outcome.error).not.toContain('planted_user');
    });

    it('a credential that does not decrypt is a failed connection', async () => {
      await bench.service.create(team.admin, body());
      await db.database.execute(
        `UPDATE datasources SET credential_encrypted = set_byte(credential_encrypted, 20, get_byte(credential_encrypted, 20) # 1)`,
      );
      expect(await bench.service.test(team.admin, 'pg-prod')).toMatchObject({
        connected: false,
        error: 'The credential cannot be decrypted.',
      });
    });
  });

  it('every act leaves its row in the same transaction, with names of fields and no values', async () => {
    await bench.service.create(team.admin, body());
    await bench.service.update(
      team.admin,
      'pg-prod',
      body({ display_name: 'New', jdbc_url: 'jdbc:postgresql://planted-host/x' }),
    );
    await bench.service.remove(team.admin, 'pg-prod');
    const rows = await team.audit();
    expect(rows.map(([event, { fields }]) => [event, fields])).toEqual([
      ['datasource.created', undefined],
      ['datasource.updated', ['display_name', 'url', 'credential']],
      ['datasource.key_rotation', undefined],
      ['datasource.deleted', undefined],
    ]);
    expect(rows[0]?.[1]).toMatchObject({ datasource: 'pg-prod', workspace: 'team' });
    expect(JSON.stringify(rows)).not.toMatch(/planted/);
  });
});
