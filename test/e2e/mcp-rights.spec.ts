import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { eventually } from '../fixtures/eventually.js';
import { ACCEPT, callTool, rpc } from '../fixtures/mcp.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { addPerson, signIn } from '../fixtures/people.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { expectRefusal } from '../fixtures/refusals.js';

describeWithProgram('redis-server', 'a key at the door of the tools', (redis) => {
  let scene: McpScene;

  beforeAll(async () => {
    scene = await McpScene.start({ redis });
  }, 120_000);

  afterAll(async () => {
    const failures = scene?.deployment.servers.flatMap(({ output }) => output.split('\n')).filter((line) => /"level":"(error|fatal)"/.test(line));
    await scene?.stop();
    expect(failures).toEqual([]);
  });

  const metadata = (sql: string, params: unknown[] = []) => scene.deployment.metadata(sql, params);
  /** A person of a workspace with a key of scope author there. */
  const keyHolder = async (name: string, workspace = 'default'): Promise<ApiClient> => {
    await addPerson(scene.deployment, name, { memberships: { [workspace]: { author: true } } });
    const person = await signIn(scene.deployment, name);
    const { key } = await person.in(workspace).data('POST', '/api/v1/auth/api-keys', { name: `of ${name}`, scopes: ['author'] });
    return ApiClient.withKey(scene.deployment.server.baseUrl, key);
  };

  it('that has expired says so; one whose owner or workspace is switched off is none at once', async () => {
    const late = await keyHolder('late');
    await metadata(`UPDATE api_keys SET expires_at = NOW() - INTERVAL '1 minute' WHERE name = 'of late'`);
    expectRefusal('expired', await rpc(late, 'ping'), 401, 'auth.api_key.expired');

    const away = await keyHolder('away');
    const [{ user_id: userId }] = (await metadata(`SELECT user_id FROM api_keys WHERE name = 'of away'`)) as [{ user_id: string }];
    await scene.deployment.admin.data('POST', `/api/v1/auth/users/${userId}/deactivate`);
    expectRefusal('inactive', await rpc(away, 'ping'), 401, 'auth.api_key.invalid');

    await scene.deployment.admin.data('POST', '/api/v1/workspaces', { name: 'closing', display_name: 'Closing' });
    const inside = await keyHolder('inside', 'closing');
    expect((await rpc(inside, 'tools/list')).status).toBe(200);
    await scene.deployment.admin.data('POST', '/api/v1/workspaces/closing/deactivate');
    expectRefusal('workspace', await rpc(inside, 'tools/list'), 404, 'auth.key_workspace_inactive');
  });

  it('of another kind is refused before any method is looked at', async () => {
    for (const kind of ['endpoint', 'server']) {
      const { key } = await scene.admin.data('POST', '/api/v1/auth/api-keys', { name: kind, kind });
      const client = ApiClient.withKey(scene.deployment.server.baseUrl, key);
      for (const method of ['initialize', 'tools/list', 'nope']) {
        expectRefusal(`${kind} ${method}`, await rpc(client, method), 403, 'endpoint.key_kind_refused');
      }
    }
  });

  it('does no more than its owner may at the moment of the call', async () => {
    const fading = await keyHolder('fading');
    const template = { id: 'test/fading.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body: 'SELECT 1', confirm_new_root: true };
    expect((await callTool(fading, 'templates_create', template)).isError).toBe(false);
    const [{ user_id: userId }] = (await metadata(`SELECT user_id FROM api_keys WHERE name = 'of fading'`)) as [{ user_id: string }];
    await scene.deployment.admin.data('PUT', `/api/v1/workspaces/default/members/${userId}`, { author: false, promoter: true, admin: false });
    const refused = await callTool(fading, 'templates_create', { ...template, id: 'test/faded.sql' });
    expect([refused.status, refused.isError, refused.value.error.details]).toEqual([200, true, expect.objectContaining({ operation: 'template.create', required: 'author' })]);
    expect((await callTool(fading, 'templates_get', { id: 'test/faded.sql' })).code).toBe('template.not_found');
    expect((await callTool(fading, 'templates_list')).isError).toBe(false);
  });

  it('has one budget for REST and tools; a batch spends its messages, and 429 says when to come again', async () => {
    const server = await scene.deployment.addServer({ DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_MINUTE: '60' });
    const busy = (await keyHolder('busy')).on(server.baseUrl);
    const left = ({ headers }: { headers: Headers }) => Number(headers.get('RateLimit-Remaining'));
    const first = left(await busy.call('GET', '/api/v1/pipelines'));
    const batch = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    await busy.call('POST', '/mcp', batch, { headers: ACCEPT });
    const after = left(await busy.call('GET', '/api/v1/pipelines'));
    // A new minute may begin meanwhile, which gives back and never takes.
    expect(after <= first - 21 || after >= 58).toBe(true);
    const refused = await eventually('the budget is spent', async () => {
      const answer = await busy.call('POST', '/mcp', batch, { headers: ACCEPT });
      return answer.status === 429 ? answer : undefined;
    });
    expectRefusal('429', refused, 429, 'rate_limit.exceeded');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  });

  it('that waits for a silent run hears a sign of life now and then, and the result at the end', async () => {
    const server = await scene.deployment.addServer({ DATAPIPELINES_SSE_HEARTBEAT_INTERVAL_SECONDS: '1' });
    const body = 'SELECT pg_sleep(2.6)::text AS slept';
    await scene.tool('templates_create', { id: 'test/quiet.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body, confirm_new_root: true });
    const { id } = await scene.tool('pipelines_create', {
      name: 'test/quiet', display_name: 'Quiet', nodes: [{ id: 'sleep', type: 'DQL', source: 'shop', template: { id: 'test/quiet.sql', version: 1 } }],
    });
    const params = { name: 'pipelines_execute', arguments: { id }, _meta: { progressToken: 'p' } };
    const { headers, text } = await scene.agent.on(server.baseUrl).call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { headers: ACCEPT });
    expect(headers.get('Content-Type')).toContain('text/event-stream');
    const comments = text.split('\n').filter((line) => line.startsWith(':'));
    expect(comments.length).toBeGreaterThanOrEqual(2);
    const last = JSON.parse(/data: (.*)\s*$/.exec(text.trimEnd())?.[1] ?? '{}') as { result: { structuredContent: { status: string } } };
    expect(last.result.structuredContent.status).toBe('SUCCESS');
  });
}); // prettier-ignore
