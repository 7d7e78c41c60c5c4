import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ExactNumber, type JsonObject } from '#libs/kernel';

import { datasourceScene, refusal, SECRET } from './datasource-scene.fixture.js';

describe('registered datasources', () => {
  const scene = datasourceScene();

  it('a save without a live server succeeds, and reads have exactly the documented shape', async () => {
    const view = await scene.bench.service.create(
      scene.team.admin,
      scene.body({
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
    expect(await scene.bench.service.read(scene.team.viewer, 'pg-prod')).toEqual(view);
    expect(await scene.bench.service.read(scene.team.key('read'), 'pg-prod')).toEqual(view);
  });

  it('an unmodified read can be written back, keeping the secret', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    const before = await scene.bench.repository.credential(scene.db.database, 'pg-prod');
    const view = await scene.bench.service.read(scene.team.admin, 'pg-prod');
    const written = await scene.bench.service.update(
      scene.team.admin,
      'pg-prod',
      JSON.parse(JSON.stringify(view)) as JsonObject,
    );
    expect({ ...written, updated_at: '' }).toEqual({ ...view, updated_at: '' });
    expect(await scene.bench.repository.credential(scene.db.database, 'pg-prod')).toEqual(before);
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
    const { code, failures } = await refusal(scene.bench.service.create(scene.team.admin, hopeless as JsonObject));
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

  it.each(['1', '86401', '2147483647'])('a statement may have %s seconds', async (seconds) => {
    const query_timeout_seconds = new ExactNumber(seconds);
    const body = scene.body({ query_timeout_seconds });
    const created = await scene.bench.service.create(scene.team.admin, body);
    expect(created.query_timeout_seconds).toBe(Number(seconds));
    expect((await scene.bench.service.read(scene.team.viewer, 'pg-prod')).query_timeout_seconds).toBe(Number(seconds));
  });

  it.each(['0', '-1', '1.5', '2147483648', '99999999999999999999'])(
    'a statement may not have %s seconds',
    async (seconds) => {
      const body = scene.body({ query_timeout_seconds: new ExactNumber(seconds) });
      expect((await refusal(scene.bench.service.create(scene.team.admin, body))).failures).toEqual([
        'query_timeout_invalid query_timeout_seconds',
      ]);
    },
  );

  it.each([
    ['H2', 'jdbc:h2:mem:x', 'datasource.driver_not_loaded'],
    ['MYSQL', 'jdbc:mysql:replication://h/d', 'datasource.validation.jdbc_url_malformed'],
    ['POSTGRESQL', 'jdbc:postgresql://h/d', 'datasource.validation.dialect_invalid'],
  ])('dialect %s answers %s', async (dialect, jdbc_url, code) => {
    expect((await refusal(scene.bench.service.create(scene.team.admin, scene.body({ dialect, jdbc_url })))).code).toBe(
      code,
    );
  });

  it('a name has 1 to 63 of a-z, 0-9, _ and -, and is neither "tempdb" nor another than the path’s', async () => {
    for (const name of ['tempdb', '', 'A', 'a'.repeat(64), 'ü', 'a b', 'a.b', 'a\n', 'a/b', null, 5]) {
      const { failures } = await refusal(scene.bench.service.create(scene.team.admin, scene.body({ name } as never)));
      expect([name, failures]).toEqual([name, ['name_invalid name']]);
    }
    for (const name of ['a'.repeat(63), '0', '-', '_'])
      expect((await scene.bench.service.create(scene.team.admin, scene.body({ name }))).name).toBe(name);
  });

  it('a foreign name in the body and a host of ours are refused', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    expect(
      (await refusal(scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ name: 'other' })))).code,
    ).toBe('datasource.validation.name_invalid');
    for (const jdbc_url of [
      'jdbc:postgresql://169.254.169.254/x',
      'jdbc:postgresql://[fe80::1]/x',
      'jdbc:postgresql://0.0.0.0/x',
      scene.db.url.replace(/^postgres(ql)?:\/\/[^@]*@/, 'jdbc:postgresql://'),
    ]) {
      expect(
        (await refusal(scene.bench.service.create(scene.team.admin, scene.body({ name: 'x', jdbc_url })))).code,
      ).toBe('datasource.validation.host_forbidden');
    }
  });

  it('of concurrent creates of one name exactly one wins; the name is global and never free again', async () => {
    const outcomes = await Promise.allSettled(
      [scene.team, scene.others, scene.team, scene.others].map((people) =>
        scene.bench.service.create(people.admin, scene.body()),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'datasource.validation.duplicate_name' });
    const owner = (await scene.bench.service.count(scene.team.admin, {})) === 1 ? scene.team : scene.others;
    await scene.bench.service.remove(owner.admin, 'pg-prod');
    expect((await refusal(scene.bench.service.create(owner.admin, scene.body()))).code).toBe(
      'datasource.validation.duplicate_name',
    );
    for (const act of [
      () => scene.bench.service.read(owner.admin, 'pg-prod'),
      () => scene.bench.service.update(owner.admin, 'pg-prod', scene.body()),
      () => scene.bench.service.test(owner.admin, 'pg-prod'),
      () => scene.bench.service.remove(owner.admin, 'pg-prod'),
      () => scene.bench.service.grants(owner.root, 'pg-prod'),
    ])
      expect((await refusal(act())).code).toBe('datasource.not_found');
  });

  it.each(['POSTGRES', 'H2'])(
    'a certificate of %s lies under a file root or /etc/ssl, and nowhere else',
    async (dialect) => {
      const jdbc_url = dialect === 'H2' ? 'jdbc:h2:pg://db.example/d' : 'jdbc:postgresql://db.example/d';
      const outside = mkdtempSync(join(tmpdir(), 'penstock-outside-'));
      writeFileSync(join(outside, 'ca.pem'), '');
      symlinkSync(join(outside, 'ca.pem'), join(scene.folder, `ca-${dialect}.pem`));
      const save = (name: string, sslrootcert: string): Promise<unknown> =>
        scene.bench.service.create(
          scene.team.admin,
          scene.body({ name, dialect, jdbc_url, properties: { jdbc: { sslmode: 'verify-ca', sslrootcert } } }),
        );
      await save('ca-root', join(scene.folder, 'ca.pem'));
      await save('ca-etc', '/etc/ssl/certs/ca.pem');
      // Also through a link in a root, and by climbing out of one.
      for (const path of [
        join(outside, 'ca.pem'),
        '/etc/passwd',
        '/etc/ssl-other/ca.pem',
        '/etc/ssl/../passwd',
        join(scene.folder, `ca-${dialect}.pem`),
      ]) {
        const { details } = await refusal(save('ca-out', path));
        expect([path, details['reason']]).toEqual([path, 'file_root']);
      }
      rmSync(outside, { recursive: true });
    },
  );

  it('files must lie under the roots by their real path, at save and at each opening', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'penstock-outside-'));
    writeFileSync(join(outside, 'x.db'), '');
    symlinkSync(join(outside, 'x.db'), join(scene.folder, 'link.db'));
    const sqlite = (path: string): JsonObject =>
      scene.body({ dialect: 'SQLITE', jdbc_url: `jdbc:sqlite:${path}`, credential: { kind: 'none' } });
    for (const path of [
      join(outside, 'x.db'),
      join(scene.folder, 'link.db'),
      '/etc/passwd',
      `${scene.folder}-sibling/x.db`,
    ]) {
      const { code, details } = await refusal(scene.bench.service.create(scene.team.root, sqlite(path)));
      expect([code, details['reason']]).toEqual(['datasource.validation.jdbc_url_malformed', 'file_root']);
    }
    // A file that comes later saves now, and fails to connect until then.
    await scene.bench.service.create(scene.team.root, sqlite(join(scene.folder, 'later.db')));
    expect(await scene.bench.service.test(scene.team.root, 'pg-prod')).toMatchObject({
      connected: false,
      error_class: 'ENOENT',
    });
    // Nor does it open when what comes is a way out: the place that was judged at save may be another one by now.
    symlinkSync(join(outside, 'x.db'), join(scene.folder, 'later.db'));
    expect(await scene.bench.service.test(scene.team.root, 'pg-prod')).toMatchObject({
      connected: false,
      error_class: 'FILE_ROOT',
    });
    rmSync(outside, { recursive: true });
    for (const link of ['link.db', 'later.db']) rmSync(join(scene.folder, link));
  });

  it('readonly stays when absent; include-schemas are replaced whole', async () => {
    await scene.bench.service.create(
      scene.team.admin,
      scene.body({ readonly: true, introspection_include_schemas: ['a'] }),
    );
    const view = await scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body());
    expect([view.readonly, view.introspection_include_schemas]).toEqual([true, undefined]);
    expect(
      (await scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ readonly: false }))).readonly,
    ).toBe(false);
  });

  it('lists what the workspace sees, with the exact total, by dialect, in one order', async () => {
    for (const name of ['c', 'a', 'b']) await scene.bench.service.create(scene.team.admin, scene.body({ name }));
    await scene.bench.service.create(scene.others.admin, scene.body({ name: 'foreign' }));
    const { service } = scene.bench;
    const page = await service.list(scene.team.viewer, {}, { first: 1, skip: 1 });
    expect(page).toMatchObject({ items: [{ name: 'b' }], hasNext: true, hasPrevious: true });
    expect((await service.list(scene.team.viewer, {}, { first: 9, after: 'b' })).items).toMatchObject([{ name: 'c' }]);
    expect(await service.count(scene.team.viewer, {})).toBe(3);
    for (const dialect of ['SQLITE', "x' OR 1=1"]) {
      expect((await service.list(scene.team.viewer, { dialect }, {})).items).toEqual([]);
      expect(await service.count(scene.team.viewer, { dialect })).toBe(0);
    }
    expect((await service.list(scene.team.root, { all: true }, {})).items).toHaveLength(4);
    expect(await service.count(scene.team.root, { all: true })).toBe(4);
    for (const act of [
      service.list(scene.team.admin, { all: true }, {}),
      service.count(scene.team.admin, { all: true }),
    ])
      expect((await refusal(act)).code).toBe('auth.role_required');
  });
});
