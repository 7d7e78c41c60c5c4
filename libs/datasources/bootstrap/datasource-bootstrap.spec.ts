import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import { MemoryTransientStore } from '#libs/transient';

import { ListeningLogger } from '../../../test/fixtures/listening-logger.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { DatasourceBench, KEY_ONE, KEY_TWO, People } from '../datasources.fixture.js';
import { eventually, NEVER } from '../drivers/driver.fixture.js';
import type { PostgresConnection } from '../drivers/postgres/connection.js';
import { loginOf, PostgresBench } from '../drivers/postgres/postgres.fixture.js';
import { readBootstrapFile } from './bootstrap-file.js';

describe('the datasources file', () => {
  it.each([
    ['not: [yaml', /no YAML/],
    ['[]', /one key/],
    ['datasources: {}', /one key/],
    ['datasources: []\nmore: 1', /one key/],
    ['datasources: [text]', /no mapping/],
    ['datasources: [{name: a, colour: x, credential: {kind: none}}]', /unknown key: colour/],
    ['datasources: [{name: a}]', /either credential/],
    ['datasources: [{name: a, credential: {kind: none}, username: b}]', /either credential/],
    ['datasources: [{name: a, credential: {kind: none}, global: false}]', /global/],
    ['datasources: [{name: a, credential: {kind: none}, grants: team}]', /grants/],
    ['datasources: [{name: a, credential: {kind: password, username: b, secret: "${NOT_SET}"}}]', /no NOT_SET/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: DUCKDB, tables: [{}]}]', /dialect LAKE/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: LAKE, tables: []}]', /at least one/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: LAKE, tables: [{}], import_manifest: x}]', /alone/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: LAKE, tables: [{}], namespace: x}]', /alone/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: LAKE, namespace: x}]', /qualify/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: LAKE, only_tables: [x]}]', /qualify/],
    ['datasources: [{name: a, credential: {kind: none}, dialect: LAKE, import_manifest: ""}]', /qualify/],
    [
      'datasources: [{name: a, credential: {kind: none}, dialect: LAKE, import_manifest: x, only_tables: []}]',
      /only_tables/,
    ],
  ])('%j stops the boot', (text, message) => {
    expect(() => readBootstrapFile(text, {})).toThrow(message);
  });

  it('fills placeholders in every text, and knows where a secret comes from', () => {
    const [entry] = readBootstrapFile(
      'datasources: [{name: a, credential: {kind: password, username: b, secret: "${PW}"}, query_timeout_seconds: 5, properties: {jdbc: {ApplicationName: "x-${ENV}"}}}]',
      { PW: 's${x}', ENV: 'prod' },
    );
    expect(entry).toMatchObject({
      secretVariables: ['PW'],
      grants: null,
      body: { global: true, credential: { secret: 's${x}' }, properties: { jdbc: { ApplicationName: 'x-prod' } } },
    });
    expect(String(entry?.body['query_timeout_seconds'])).toBe('5');
  });
});

describe('a lake in the datasources file', () => {
  const read = (more: string, environment = {}) =>
    readBootstrapFile(`datasources: [{name: a, credential: {kind: none}, dialect: LAKE, ${more}}]`, environment)[0];

  it('brings its tables, or a manifest and which of it', () => {
    expect(read('tables: [{name: t, location: "${AT}/t"}]', { AT: 's3://b' })?.lake).toEqual({
      body: { tables: [{ name: 't', location: 's3://b/t' }] },
      only: null,
    });
    expect(read('import_manifest: "https://x/m", namespace: n, only_tables: [t]')?.lake).toEqual({
      body: { manifest_url: 'https://x/m', namespace: 'n' },
      only: ['t'],
    });
    expect(read('readonly: true')?.lake).toBeNull();
  });

  it('is judged by what the environment makes of it: dialect, grants and the tables wanted too', () => {
    const text = `datasources: [{name: "\${N}", credential: {kind: none}, dialect: "\${D}", grants: ["\${TEAM}"],
      import_manifest: "\${AT}/m", namespace: "\${NS}", only_tables: ["t_\${T}"]}]`;
    const environment = { N: 'a', D: 'LAKE', TEAM: 'blue', AT: 'https://x', NS: 'n', T: 'one' };
    expect(readBootstrapFile(text, environment)[0]).toMatchObject({
      name: 'a',
      grants: ['blue'],
      lake: { body: { manifest_url: 'https://x/m', namespace: 'n' }, only: ['t_one'] },
    });
    expect(() => readBootstrapFile(text, { ...environment, D: 'DUCKDB' })).toThrow(/dialect LAKE/);
    for (const missing of ['N', 'D', 'TEAM', 'AT', 'NS', 'T']) {
      expect(() => readBootstrapFile(text, { ...environment, [missing]: undefined })).toThrow(`no ${missing}.`);
    }
  });

  it('drops an option that is one placeholder for nothing, and no other', () => {
    const options = 'properties: {dialect: {endpoint: "${ENDPOINT}", region: "r${EMPTY}", threads: "2"}}';
    expect(read(options, { ENDPOINT: '', EMPTY: '' })?.body['properties']).toEqual({
      dialect: { region: 'r', threads: '2' },
    });
  });
});

describe('bootstrapping datasources', () => {
  let db: TestDatabase;
  let postgres: PostgresBench;
  let superuser: PostgresConnection;
  let bench: DatasourceBench;
  let log: ListeningLogger;
  let team: People;
  let file: string;
  let folder: string;

  beforeAll(async () => {
    postgres = await PostgresBench.create();
    superuser = await postgres.connect(postgres.options(), NEVER, loginOf(postgres.database.superuserUrl));
    folder = mkdtempSync(join(tmpdir(), 'penstock-bootstrap-'));
    file = join(folder, 'datasources.yaml');
  });

  beforeEach(async () => {
    db = await createTestDatabase();
    log = new ListeningLogger();
    bench = await process(log);
    team = await People.of(db, 'team');
    await People.of(db, 'others');
    await superuser.control(`DROP ROLE IF EXISTS boot_role; CREATE ROLE boot_role LOGIN PASSWORD 'first-Passw0rd'`);
    declare();
  });

  /** One server on the scene's database. */
  const process = (logger: ListeningLogger, environment = {}): Promise<DatasourceBench> =>
    DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1_000_000 }), environment, undefined, logger);

  const declare = (more = ''): void => {
    const { host, port, database } = loginOf(postgres.database.url);
    writeFileSync(
      file,
      `
datasources:
  - name: declared
    display_name: Declared
    dialect: POSTGRES
    jdbc_url: jdbc:postgresql://${host}:${port}/${database}
    username: boot_role
    password: \${BOOT_PASSWORD}
${more}`,
    );
  };

  afterEach(async () => {
    await bench.stop();
    await superuser.control('DROP ROLE IF EXISTS boot_role');
    await db.drop();
  });

  afterAll(async () => {
    await postgres.close();
    rmSync(folder, { recursive: true });
  });

  const boot = (password: string, with_: DatasourceBench = bench): Promise<void> =>
    with_.bootstrap.run(file, { BOOT_PASSWORD: password });
  const works = async (with_: DatasourceBench = bench): Promise<boolean> =>
    (await with_.service.test(team.root, 'declared')).connected;

  it('creates what is absent, for all active workspaces, once', async () => {
    await boot('first-Passw0rd');
    expect((await bench.service.read(team.viewer, 'declared')).workspace).toBeNull();
    expect((await bench.service.grants(team.root, 'declared')).map(({ workspace }) => workspace)).toEqual(
      expect.arrayContaining(['team', 'others']),
    );
    await bench.service.revoke(team.root, 'declared', 'others');
    const before = await db.database.query('SELECT * FROM datasources');
    await boot('first-Passw0rd');
    expect(await db.database.query('SELECT * FROM datasources')).toEqual(before);
    expect((await bench.service.grants(team.root, 'declared')).map(({ workspace }) => workspace)).not.toContain(
      'others',
    );
  });

  it('gives it to the workspaces that are listed, and to those only when it is created', async () => {
    declare('    grants: [others]');
    await boot('first-Passw0rd');
    const grants = async (): Promise<string[]> =>
      (await bench.service.grants(team.root, 'declared')).map(({ workspace }) => workspace);
    expect(await grants()).toEqual(['others']);
    await expect(bench.service.read(team.viewer, 'declared')).rejects.toMatchObject({ code: 'datasource.not_found' });
    declare('    grants: [others, team]');
    await boot('first-Passw0rd');
    expect(await grants()).toEqual(['others']);
    expect((await team.audit()).map(([event, { workspace }]) => [event, workspace])).toEqual([
      ['datasource.created', undefined],
      ['datasource.granted', 'others'],
    ]);
  });

  it('creates nothing for a list that names no workspace, so that the next boot still grants', async () => {
    declare('    grants: [team, nowhere]');
    await expect(boot('first-Passw0rd')).rejects.toThrow(/declared.*nowhere/);
    expect(await bench.repository.isTaken(db.database, 'declared')).toBe(false);
    declare('    grants: [team]');
    await boot('first-Passw0rd');
    expect((await bench.service.read(team.viewer, 'declared')).name).toBe('declared');
  });

  it('two servers that start at once create it once, one after the other, and both start', async () => {
    declare('    grants: [team]');
    const second = await process(new ListeningLogger());
    const waiting = async (): Promise<boolean> => {
      const rows = await db.database.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
      return rows.length === 2;
    };
    // A third one is at work.
    const third = new pg.Client({ connectionString: db.url });
    await third.connect();
    await third.query(`SELECT pg_advisory_lock(hashtext('penstock.bootstrap.datasources'))`);
    const boots = Promise.all([boot('first-Passw0rd'), boot('first-Passw0rd', second)]);
    const waited = await eventually(waiting);
    const taken = await bench.repository.isTaken(db.database, 'declared');
    await third.end();
    expect([waited, taken]).toEqual([true, false]);
    await boots;
    await second.stop();
    expect((await team.audit()).map(([event]) => event)).toEqual(['datasource.created', 'datasource.granted']);
  });

  it('replaces a credential that stopped working by a declared one that works, and only then', async () => {
    const lastTest = async () => (await bench.service.read(team.viewer, 'declared')).last_test;
    const sealed = async () => (await bench.repository.credential(db.database, 'declared'))?.sealed;
    await boot('first-Passw0rd');
    // Nothing differs: nothing is asked, and nothing said.
    await boot('first-Passw0rd');
    expect([await lastTest(), log.lines]).toEqual([null, []]);

    const first = await sealed();
    await boot('another');
    expect([await sealed(), log.lines]).toEqual([first, []]);
    expect(await lastTest()).toMatchObject({ ok: true, message: expect.stringContaining('PostgreSQL') });
    await (await bench.access.lease('declared', { signal: NEVER, access: 'read' })).release();

    await superuser.control(`ALTER ROLE boot_role PASSWORD 'second-Passw0rd'`);
    await boot('another');
    expect(await sealed()).toEqual(first);
    expect(await lastTest()).toMatchObject({ ok: false, message: expect.stringContaining('authentication failed') });
    expect(log.lines.splice(0)).toMatchObject([
      { level: 'error', fields: { datasource: 'declared', variables: ['BOOT_PASSWORD'] } },
    ]);

    const before = await bench.service.read(team.viewer, 'declared');
    await boot('second-Passw0rd');
    const { updated_at, last_test, ...after } = await bench.service.read(team.viewer, 'declared');
    // The credential alone: everything else is as it was, and the pool of the old one serves nobody any more.
    expect(before).toMatchObject(after);
    expect([last_test?.ok, updated_at > before.updated_at, await works()]).toEqual([true, true, true]);
    expect((await team.audit()).map(([event]) => event)).toContain('datasource.pool_rebuild');
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { datasource: 'declared' } }]);
    expect(JSON.stringify(log.lines)).not.toContain('Passw0rd');
  });

  it('leaves a deleted name deleted, and a credential it cannot open alone', async () => {
    await boot('first-Passw0rd');
    const said = new ListeningLogger();
    const other = await process(said, { DATAPIPELINES_MASTER_KEY: KEY_TWO });
    await other.service.test(team.root, 'declared');
    const before = await bench.repository.credential(db.database, 'declared');
    await boot('another', other);
    expect(await bench.repository.credential(db.database, 'declared')).toEqual(before);
    expect(said.lines).toMatchObject([
      { level: 'error', fields: { datasource: 'declared', property: 'datapipelines.db.encryption-key' } },
    ]);
    await other.stop();
    await bench.service.remove(team.root, 'declared');
    await boot('first-Passw0rd');
    await expect(bench.service.read(team.viewer, 'declared')).rejects.toMatchObject({ code: 'datasource.not_found' });
  });

  it('an invalid entry stops the boot, and so does a file that is not there', async () => {
    writeFileSync(
      file,
      'datasources: [{name: Bad Name, display_name: x, dialect: POSTGRES, jdbc_url: x, username: a, password: b}]',
    );
    await expect(boot('x')).rejects.toMatchObject({ code: 'datasource.validation.name_invalid' });
    await expect(bench.bootstrap.run(join(folder, 'missing.yaml'), {})).rejects.toMatchObject({
      name: 'BootstrapRefused',
    });
  });

  it('names the datasources whose key is lost: a later version has none, the first has another', async () => {
    const two = await DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1000 }), {
      DATAPIPELINES_DB_ENCRYPTION_KEYS_2: KEY_TWO,
    });
    await boot('first-Passw0rd', two);
    expect(await two.bootstrap.warnOfLostKeys()).toEqual([]);
    expect(await bench.bootstrap.warnOfLostKeys()).toEqual([{ datasource: 'declared', defect: 'unknown_version' }]);
    await two.stop();
    const again = await DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1000 }), {
      DATAPIPELINES_MASTER_KEY: KEY_TWO,
      DATAPIPELINES_DB_ENCRYPTION_KEYS_2: KEY_ONE,
    });
    expect(await again.bootstrap.warnOfLostKeys()).toEqual([{ datasource: 'declared', defect: 'bad_tag' }]);
    await again.stop();
  });
});
