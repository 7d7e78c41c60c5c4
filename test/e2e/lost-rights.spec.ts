import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import { ADMIN } from '../fixtures/server-process.js';

describeWithProgram('redis-server', 'what nobody may do any more, or ever', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, env: { DATAPIPELINES_SSE_HEARTBEAT_INTERVAL_SECONDS: '1' } });
    scene = await RunScene.build(deployment);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  it('an open stream ends with “: revoked” when its key is revoked, and the run goes on', async () => {
    // A principal captured when the stream opened says nothing about what was taken away since (03 §5.3).
    const minted = await deployment.admin
      .in('default')
      .data('POST', '/api/v1/auth/api-keys', { name: 'watcher', scopes: ['read'] });
    const id = await scene.launch(deployment.author, scene.sleeping, { seconds: 20 });
    const watcher = ApiClient.withKey(deployment.server.baseUrl, minted.key);
    const response = await watcher.fetch('GET', `/api/v1/executions/${id}/events`, undefined, {
      headers: { Accept: 'text/event-stream' },
    });
    expect(response.status).toBe(200);
    await deployment.admin.in('default').data('DELETE', `/api/v1/auth/api-keys/${minted.id}`);
    expect(await response.text()).toMatch(/: revoked\n\n$/);
    const run = await deployment.author.data('GET', `/api/v1/executions/${id}`);
    expect(run.status).toBe('RUNNING');
    await deployment.author.call('DELETE', `/api/v1/executions/${id}`);
  });

  it('an open stream ends with “: revoked” when its session is revoked from another browser', async () => {
    const id = await scene.launch(deployment.author, scene.sleeping, { seconds: 20 });
    const watching = new ApiClient(deployment.server.baseUrl);
    await watching.login(ADMIN.email, `${ADMIN.password}-changed`);
    const response = await watching.in('default').fetch('GET', `/api/v1/executions/${id}/events`, undefined, {
      headers: { Accept: 'text/event-stream' },
    });
    expect(response.status).toBe(200);
    const { sessions } = await deployment.admin.data('GET', '/api/v1/auth/sessions');
    expect(sessions.length).toBeGreaterThan(1);
    await deployment.admin.data('DELETE', '/api/v1/auth/sessions');
    expect(await response.text()).toMatch(/: revoked\n\n$/);
    expect(await watching.call('GET', '/api/v1/auth/me')).toMatchObject({
      status: 401,
      body: { error: { code: 'auth.session.invalid' } },
    });
    expect((await deployment.admin.data('GET', '/api/v1/auth/sessions')).sessions).toHaveLength(1);
    await deployment.author.call('DELETE', `/api/v1/executions/${id}`);
  });

  it.each([
    `SELECT * FROM enable_logging('QueryLog', storage='file', storage_path='/tmp/penstock-log')`,
    `SELECT * FROM query('SELECT * FROM "enable_logging"(''QueryLog'')')`,
    `SELECT message FROM duckdb_logs()`,
  ])('no query reaches into the engine, whose refusal would end the process: %s', async (sql) => {
    const refused = oneNodePipeline(deployment.author, {
      name: `engine/q${sql.length}`,
      source: 'tempdb',
      dialect: 'DUCKDB',
      sql,
    });
    await expect(refused).rejects.toThrow(/pipeline\.validation\.statement_type_mismatch/);
    expect((await deployment.author.call('GET', '/api/v1/pipelines')).status).toBe(200);
  });
});
