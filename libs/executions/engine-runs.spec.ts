import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DatasourceService } from '#libs/datasources';
import type { JsonObject, Principal } from '#libs/kernel';
import type { Dialect } from '#libs/typesystem';
import { MemoryTransientStore } from '#libs/transient';
import { startH2 } from '../../test/fixtures/h2.js';
import { startMariadb } from '../../test/fixtures/mariadb.js';
import { describeWithProgram } from '../../test/fixtures/programs.js';
import { createTestDatabase, TestWorkspace, type TestDatabase } from './executions.fixture.js';
import { Drain } from './instance/drain.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Launcher } from './launch/launcher.js';
import { ExecutionResults } from './reading/execution-results.js';
import { wiredInstance, type WiredInstance } from './wired-instance.fixture.js';

interface Engine {
  host: string;
  port: number;
  database: string;
  username: string;
  password: string;
  sql(...statements: string[]): Promise<unknown[][]>;
  stop(): Promise<void>;
}

/** One run that reads, writes back, changes and fails on an engine, through the product's own launch. */
function runsOn(dialect: Dialect, start: () => Promise<Engine>, urlOf: (engine: Engine) => string): void {
  let engine: Engine;
  let db: TestDatabase;
  let workspace: TestWorkspace;
  let server: WiredInstance;
  let admin: Principal;
  const source = `engine-${dialect.toLowerCase()}`;

  beforeAll(async () => {
    engine = await start();
    db = await createTestDatabase();
    workspace = await TestWorkspace.create(db.database);
    server = await wiredInstance(db, new MemoryTransientStore({ maxBytes: 1 << 26 }), {
      DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '2',
    });
    await server.get(ExecutionJobs).start({ alone: false });
    admin = workspace.principal({ superAdmin: true });
    admin.workspace!.flags = { author: true, promoter: true, admin: true };
    admin.workspace!.superAdmin = true;
    await server.get(DatasourceService).create(admin, {
      ...{ name: source, display_name: source, dialect, jdbc_url: urlOf(engine) },
      ...{ username: engine.username, password: engine.password },
    } as unknown as JsonObject);
  }, 90_000);

  afterAll(async () => {
    await server?.get(Drain).begin({ hurry: true });
    await server?.get(ExecutionJobs).stop();
    await server?.stop();
    await db?.drop();
    await engine?.stop();
  });

  const on = (id: string, sql: string, more: object = {}) => ({ id, sql, source, dialect, ...more });

  async function run(nodes: Parameters<TestWorkspace['pipeline']>[0]) {
    const me = workspace.principal();
    const pipelineId = await workspace.pipeline(nodes, {});
    const { executionId, finished } = await server.get(Launcher).launch(me, {
      pipelineId,
      parameters: {},
      triggeredVia: 'UI',
      detached: true,
    });
    return { me, executionId, ended: await finished };
  }

  it('makes a table, fills it from tempdb, joins it there, and gives its exact rows to the caller', async () => {
    const { me, executionId, ended } = await run([
      on('make', 'CREATE TABLE made (id BIGINT PRIMARY KEY, v VARCHAR(20), d DECIMAL(30,10))', { type: 'DDL' }),
      {
        id: 'back',
        sql: `SELECT 9007199254740993 - range AS id, 'é' || range AS v, range::DECIMAL(30,10) / 1 + 0.0000000001::DECIMAL(30,10) AS d FROM range(2500)`,
        after: ['make'],
        output: { target: 'datasource', datasource: source, table: 'made', mode: 'replace' },
      },
      on('change', `UPDATE made SET v = 'changed' WHERE id = 9007199254740993`, { type: 'DML', after: ['back'] }),
      on('read', 'SELECT id, v FROM made WHERE id > 9007199254740990 ORDER BY id', {
        after: ['change'],
        output: { target: 'tempdb', table: 'back_again' },
      }),
      { id: 'out', sql: 'SELECT id, v FROM back_again ORDER BY id', after: ['read'] },
    ]);
    expect(ended).toMatchObject({ status: 'SUCCESS' });
    const { rows } = await server.get(ExecutionResults).page(me, executionId, {});
    expect(rows.map(({ text }) => text)).toEqual([
      '["9007199254740991","é2"]',
      '["9007199254740992","é1"]',
      '["9007199254740993","changed"]',
    ]);
    expect(String((await engine.sql('SELECT count(*) FROM made'))[0]?.[0])).toBe('2500');
  });

  it('a failing statement fails its node with the engine’s text, and a missing target is told as such', async () => {
    const refused = await run([on('bad', 'SELECT nothing FROM nowhere')]);
    expect(refused.ended).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.query_execution_failed' },
    });
    const lost = await run([
      on('lost', 'SELECT 1 AS n', {
        output: { target: 'datasource', datasource: source, table: 'not_there', mode: 'append' },
      }),
    ]);
    expect(lost.ended).toMatchObject({ failure: { code: 'pipeline.node.writeback_target_missing' } });
  });
}

describeWithProgram('mariadbd', 'runs on MariaDB', (program) => {
  runsOn(
    'MYSQL',
    () => startMariadb(program).then(withDatabase),
    ({ host, port, database }) => `jdbc:mysql://${host}:${port}/${database}`,
  );
});

describeWithProgram('h2.jar', 'runs on H2', (jar) => {
  runsOn(
    'H2',
    () => startH2(jar),
    ({ host, port, database }) => `jdbc:h2:pg://${host}:${port}/${database}`,
  );
});

/** The superuser's connection begins without a database. */
async function withDatabase<Server extends Engine>(server: Server): Promise<Server> {
  await server.sql(`USE ${server.database}`);
  return server;
}
