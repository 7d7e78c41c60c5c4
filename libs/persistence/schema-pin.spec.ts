import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { differences, readCatalog, tablesOf, type Catalog } from '../../test/fixtures/catalog.js';
import { createEmptyDatabase } from '../../test/fixtures/postgres.js';
import { readSchemaDocument, type SchemaBlock } from '../../test/fixtures/schema-document.js';
import { serverMigrations } from '../../migrations/server/index.js';
import { ConnectionPool } from './connection-pool.js';
import { entities } from './entities/index.js';
import { entityCatalog } from '../../test/fixtures/entity-catalog.js';
import { runMigrations } from './migration-runner.js';

const TWENTY = [
  'api_keys',
  'audit_log',
  'datasource_workspaces',
  'datasources',
  'endpoint_key_bindings',
  'execution_events',
  'lake_tables',
  'learned_facts',
  'mail_sends',
  'pipeline_check_runs',
  'pipeline_executions',
  'pipeline_versions',
  'pipelines',
  'published_endpoints',
  'template_versions',
  'templates',
  'users',
  'workspace_invitations',
  'workspace_members',
  'workspaces',
];
const EXTENSIONS = ['bootstrap_admin', 'password_reset_tokens', 'user_sessions'];

const document = readSchemaDocument();
const everyBlock = [...document.twenty, ...document.extensions];

/** Builds a database of its own by `build`, reads its catalog and removes it. */
async function catalogOf(build: (pool: ConnectionPool, url: string) => Promise<unknown>): Promise<Catalog> {
  const empty = await createEmptyDatabase();
  const pool = await ConnectionPool.open({
    url: empty.url,
    applicationName: 'pin',
    max: 1,
    connectTimeoutMs: 10_000,
    entities: [],
    onProblem: () => undefined,
  });
  try {
    await build(pool, empty.url);
    return await readCatalog(pool);
  } finally {
    await pool.close();
    await empty.drop();
  }
}

const documented = (blocks: readonly SchemaBlock[]) =>
  catalogOf(async (pool) => {
    for (const { sql } of blocks) await pool.execute(sql);
  });

const migrated = (count = serverMigrations.length) =>
  catalogOf((_, url) => runMigrations(url, { migrations: serverMigrations.slice(0, count) }));

const compare = (document: Catalog, migrations: Catalog) =>
  differences({ name: 'docs/schema.md:', catalog: document }, { name: 'migrations:', catalog: migrations });

let live: Catalog;

beforeAll(async () => {
  live = await migrated();
}, 90_000);

describe('the documented schema and the migrated one', () => {
  it('agree on the twenty tables alone, so an extension cannot hide in them', async () => {
    const [document_, first] = [await documented(document.twenty), await migrated(1)];
    expect(compare(document_, first)).toEqual([]);
    expect(tablesOf(first)).toEqual(TWENTY);
  });

  it('agree on everything, extensions included', async () => {
    expect(compare(await documented(everyBlock), live)).toEqual([]);
    expect(tablesOf(live)).toEqual([...TWENTY, ...EXTENSIONS].sort());
  });

  it('have no trigger and no function, because updated_at belongs to the statement that writes', () => {
    expect([...live.keys()].filter((key) => key.includes(': trigger ') || key.startsWith('function '))).toEqual([]);
  });

  it('describe each table under its own heading', () => {
    expect(document.twenty.map(({ heading }) => heading).sort()).toEqual(TWENTY);
    expect(document.extensions.map(({ heading }) => heading)).toEqual(expect.arrayContaining(EXTENSIONS));
  });
});

describe('a drift between document and migrations is named', () => {
  const drifts: [what: string, from: string, to: string, expected: RegExp][] = [
    ['a type', 'current_version INTEGER', 'current_version BIGINT', /^pipelines\.current_version: .*bigint.*integer/],
    ['a missing NOT NULL', 'body_hash       TEXT        NOT NULL', 'body_hash TEXT', /^pipeline_versions\.body_hash: /],
    ['a default', "DEFAULT '{read}'", "DEFAULT '{}'", /^api_keys\.scopes: .*'\{\}'.*'\{read\}'/],
    ['a check', "'PIPELINE', 'ENDPOINT'", "'PIPELINE'", /^pipeline_executions: constraint chk_triggered_via: /],
    [
      'a cascade',
      'REFERENCES api_keys(id) ON DELETE CASCADE',
      'REFERENCES api_keys(id)',
      /^endpoint_key_bindings: constraint endpoint_key_bindings_api_key_id_fkey: /,
    ],
    [
      'an index condition',
      "WHERE kind = 'endpoint' AND is_revoked = FALSE",
      "WHERE kind = 'endpoint'",
      /^api_keys: index idx_api_keys_endpoint_kind: /,
    ],
    ['an index name', 'idx_audit_event', 'idx_audit_events', /^audit_log: index idx_audit_events?: .*does not have it/],
    ['a privilege', 'REVOKE UPDATE, TRUNCATE', 'REVOKE TRUNCATE', /^audit_log: privileges of its owner: .*UPDATE/],
  ];

  it.each(drifts)('%s', async (_, from, to, expected) => {
    const changed = everyBlock.map((block) => ({ ...block, sql: block.sql.replace(from, to) }));
    expect(changed).not.toEqual(everyBlock);
    const found = compare(await documented(changed), live);
    expect(found).toContainEqual(expect.stringMatching(expected));
    expect(found.length).toBeLessThanOrEqual(2);
  });

  it('the order of two columns', async () => {
    const changed = everyBlock.map((block) => ({
      ...block,
      sql: block.sql.replace(/( +path_pattern .*\n)( +pipeline_id .*\n)/, '$2$1'),
    }));
    const found = compare(await documented(changed), live);
    expect(found.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
      'published_endpoints.path_pattern',
      'published_endpoints.pipeline_id',
    ]);
  });
});

describe('the entities', () => {
  let pool: ConnectionPool;
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    pool = await ConnectionPool.open({
      url: database.url,
      applicationName: 'pin',
      max: 1,
      connectTimeoutMs: 10_000,
      entities,
      onProblem: () => undefined,
    });
  });

  afterAll(async () => {
    await pool?.close();
    await database?.drop();
  });

  const columnsOnly = (catalog: Catalog): Catalog =>
    new Map(
      [...catalog].filter(
        ([key, text]) => !/: (?!constraint)/.test(key) && (!key.includes(': ') || text.startsWith('PRIMARY')),
      ),
    );

  it('have the columns, types, nullability, defaults and keys of the live tables', () => {
    const found = differences(
      { name: 'entities:', catalog: entityCatalog(pool.dataSource) },
      { name: 'migrations:', catalog: columnsOnly(live) },
    );
    expect(found).toEqual([]);
  });

  it('name a column that differs, so the comparison can fail', () => {
    const changed = new Map(columnsOnly(live)).set('users.email', '2. character varying(255)');
    const found = differences(
      { name: 'entities:', catalog: entityCatalog(pool.dataSource) },
      { name: 'migrations:', catalog: changed },
    );
    expect(found).toEqual(['users.email: entities: 2. text NOT NULL | migrations: 2. character varying(255)']);
  });
});

describe('the promotion classification', () => {
  const classified = document.classification;

  it('covers every live table once and no other, so a new table cannot be forgotten when content is promoted', () => {
    expect(classified.map(({ table }) => table).sort()).toEqual(tablesOf(live));
  });

  it('uses the three verdicts and gives a reason and a resource for each', () => {
    for (const row of classified) {
      expect(['promotable', 'environment-local', 'derived']).toContain(row.verdict);
      expect(row.resource).not.toBe('');
      expect(row.why.length).toBeGreaterThan(20);
    }
  });

  it('promotes exactly the authored content', () => {
    const promotable = classified.filter(({ verdict }) => verdict === 'promotable');
    expect(promotable.map(({ table }) => table).sort()).toEqual([
      'endpoint_key_bindings',
      'pipeline_versions',
      'pipelines',
      'published_endpoints',
      'template_versions',
      'templates',
    ]);
    for (const row of promotable) expect(row.exportKey).not.toBe('—');
  });
});
