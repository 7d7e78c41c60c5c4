import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';
import { ACCEPT, callTool, officialClient, rpc, toolAnswer } from '../fixtures/mcp.js';
import { errorOf, expectRefusal } from '../fixtures/refusals.js';

let server: LocalServer;
let admin: ApiClient;
let key: string;
let agent: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start();
  admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
  key = (await admin.data('POST', '/api/v1/auth/api-keys', { name: 'agent', scopes: ['author'] })).key;
  agent = ApiClient.withKey(server.baseUrl, key);
}, 90_000);

afterAll(async () => {
  await server?.stop();
});

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

describe('the transport', () => {
  it('initialises without a session and says what it is', async () => {
    const answer = await rpc(agent, 'initialize', INITIALIZE);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Mcp-Session-Id')).toBeNull();
    expect(answer.headers.get('Content-Type')).toContain('application/json');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const { protocolVersion, capabilities, serverInfo, instructions } = answer.body.result;
    expect([protocolVersion, serverInfo.name]).toEqual(['2025-06-18', 'datapipelines']);
    // Nothing is announced that is not there: no notices of changed lists, no subscriptions, no logging.
    expect(capabilities).toEqual({
      tools: { listChanged: false },
      resources: { listChanged: false, subscribe: false },
      prompts: { listChanged: false },
    });
    expect(Buffer.byteLength(instructions)).toBeLessThanOrEqual(2048);
  });

  it('answers a protocol version it does not know with its newest', async () => {
    const { body } = await rpc(agent, 'initialize', { ...INITIALIZE, protocolVersion: '1999-01-01' });
    expect(body.result.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(body.result.protocolVersion >= '2025-06-18').toBe(true);
  });

  it.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'])('%s is no verb of it, whoever asks: 405 tells the one that is', async (method) => {
    for (const client of [agent, admin, new ApiClient(server.baseUrl)]) {
      const answer = await client.call(method, '/mcp', undefined, { headers: { Accept: 'text/event-stream' } });
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS']);
    }
  }); // prettier-ignore

  it.each([
    ['application/json', 406],
    ['text/event-stream', 406],
    ['*/*', 406],
    ['application/json, text/event-stream', 200],
    ['text/event-stream;q=0.5, application/json', 200],
  ])('Accept %s: %i, because an answer may be either', async (accept, status) => {
    expect((await rpc(agent, 'ping', undefined, { Accept: accept })).status).toBe(status);
  });

  it('refuses a protocol version in the header that nobody negotiates', async () => {
    expect((await rpc(agent, 'ping', undefined, { 'MCP-Protocol-Version': '1999-01-01' })).status).toBe(400);
    expect((await rpc(agent, 'ping', undefined, { 'MCP-Protocol-Version': '2025-06-18' })).status).toBe(200);
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{"jsonrpc":"2.0"'],
    ['a doubled key', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'],
    ['20,000 levels', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['U+0000', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\u0000"}}'],
    ['a lone surrogate', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}'],
  ])('%s is −32700, and the server lives', async (_what, raw) => {
    const answer = await agent.call('POST', '/mcp', undefined, { raw, headers: { ...ACCEPT, 'Content-Type': 'application/json' } });
    expect([answer.status, String(answer.body.error.code), answer.body.id]).toEqual([400, '-32700', null]);
    expect((await rpc(agent, 'ping')).body.result).toEqual({});
  }); // prettier-ignore

  it.each([
    ['a number', '7'],
    ['an empty batch', '[]'],
    ['a batch of numbers', '[1]'],
    ['two requests of one id', '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ['21 messages', JSON.stringify(Array.from({ length: 21 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })))],
  ])('%s is −32600', async (_what, raw) => {
    const answer = await agent.call('POST', '/mcp', undefined, { raw, headers: ACCEPT });
    expect([answer.status, String(answer.body.error.code)]).toEqual([400, '-32600']);
  });

  it('answers a batch of twenty, each by its id, and a notification with nothing', async () => {
    const batch = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const answer = await agent.call('POST', '/mcp', batch, { headers: ACCEPT });
    expect(answer.body.map(({ id }: { id: unknown }) => Number(id)).sort((a: number, b: number) => a - b)).toEqual(
      batch.map(({ id }) => id),
    );
    const notified = await agent.call('POST', '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, { headers: ACCEPT }); // prettier-ignore
    expect([notified.status, notified.text]).toEqual([202, '']);
  });

  it('a body over 2 MiB is 413 before anything is read of it', async () => {
    const raw = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"${'x'.repeat(2 * 1024 * 1024)}"}}`;
    const answer = await agent.call('POST', '/mcp', undefined, { raw, headers: ACCEPT });
    expectRefusal('413', answer, 413, 'request.body_too_large', {});
  });

  it('a method that is none of ours is −32601', async () => {
    for (const method of ['logging/setLevel', 'completion/complete', 'sampling/createMessage', 'nope', '__proto__']) {
      const { body } = await rpc(agent, method, {});
      expect([method, String(body.error.code)]).toEqual([method, '-32601']);
    }
  });
});

describe('who may come in', () => {
  it('a key in either header, the same one in both, and nothing else', async () => {
    const anyone = new ApiClient(server.baseUrl);
    const bearer = { Authorization: `Bearer ${key}` };
    expect((await rpc(anyone, 'ping', undefined, bearer)).status).toBe(200);
    expect((await rpc(agent, 'ping', undefined, bearer)).status).toBe(200);
    const other = (await admin.data('POST', '/api/v1/auth/api-keys', { name: 'other' })).key;
    expectRefusal('two keys', await rpc(agent, 'ping', undefined, { Authorization: `Bearer ${other}` }), 401, 'auth.api_key.invalid'); // prettier-ignore
    for (const Authorization of ['Bearer eyJhbGciOi.x.y', 'Basic dXNlcjpwdw==', 'Bearer', '']) {
      expectRefusal(
        Authorization,
        await rpc(anyone, 'ping', undefined, { Authorization }),
        401,
        'auth.api_key.missing',
      );
    }
    expectRefusal('none', await rpc(anyone, 'ping'), 401, 'auth.api_key.missing');
    const wrong = { Authorization: `Bearer ${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}` };
    expectRefusal('wrong', await rpc(anyone, 'ping', undefined, wrong), 401, 'auth.api_key.invalid');
  });

  it('a bearer key opens nothing but this door', async () => {
    const answer = await new ApiClient(server.baseUrl).call('GET', '/api/v1/auth/me', undefined, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expectRefusal('rest', answer, 401, 'auth.api_key.missing');
  });

  it('a cookie is never read here: a signed-in browser is nobody', async () => {
    expectRefusal('cookie', await rpc(admin, 'tools/list'), 401, 'auth.api_key.missing');
  });

  it('keys of other kinds and a workspace header are refused', async () => {
    const serving = (await admin.data('POST', '/api/v1/auth/api-keys', { name: 'serving', kind: 'endpoint' })).key;
    const endpoint = ApiClient.withKey(server.baseUrl, serving);
    expectRefusal('endpoint key', await rpc(endpoint, 'ping'), 403, 'endpoint.key_kind_refused', {
      reason: 'endpoint_key_off_surface',
    });
    expectRefusal('header', await rpc(agent, 'ping', undefined, { 'DP-Workspace': 'default' }), 400, 'workspace.header_forbidden'); // prettier-ignore
  });

  it('a page of somebody else’s is refused by its Origin, ours is not', async () => {
    const foreign = await rpc(agent, 'ping', undefined, { Origin: 'https://evil.example' });
    expectRefusal('origin', foreign, 403, 'auth.csrf.invalid', { reason: 'origin' });
    expect((await rpc(agent, 'ping', undefined, { Origin: server.baseUrl })).status).toBe(200);
    expect((await rpc(agent, 'ping', undefined, { Origin: 'null' })).status).toBe(403);
  });

  it('a revoked key is nobody at once', async () => {
    const created = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'short-lived' });
    const client = ApiClient.withKey(server.baseUrl, created.key);
    expect((await rpc(client, 'ping')).status).toBe(200);
    await admin.data('DELETE', `/api/v1/auth/api-keys/${created.api_key?.id ?? created.id}`);
    expectRefusal('revoked', await rpc(client, 'ping'), 401, 'auth.api_key.invalid');
  });
});

describe('the official client', () => {
  it.each([false, true])('connects, lists and calls, with the key as a bearer: %s', async (bearer) => {
    const client = await officialClient(server.baseUrl, key, bearer);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('pipelines_list');
    const result = await client.callTool({ name: 'pipelines_list', arguments: {} });
    expect([result.isError, result.structuredContent]).toEqual([false, { items: [] }]);
    expect(result._meta).toEqual({ correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    await expect(client.callTool({ name: 'pipelines_lst', arguments: {} })).rejects.toThrow('Did you mean “pipelines_list”?');
    await client.close();
  }); // prettier-ignore
});

describe('arguments', () => {
  const ID = '01900000-0000-7000-8000-000000000000';
  it.each([
    [{ pid: 'x' }, '“id” is required', 'has no argument “pid”'],
    [{ id: 7 }, '“id” must be a text; you sent a number.'],
    [{ id: 'sales/daily/orders' }, '“id” must be a UUID: Id of the pipeline (a UUID), as pipelines_list gives it beside the name.'],
    [{ id: ID, version: '1' }, '“version” must be a whole number; you sent a text.'],
    [{ id: ID, version: 1.5 }, '“version” must be a whole number'],
    [{ id: ID, version: 0 }, '“version” must be at least 1.'],
    [{ id: ID, version: null }, '“version” is null. Leave it out instead.'],
    [{ id: ID, versoin: 1 }, 'Did you mean “version”?'],
    [{ id: ['x'] }, '“id” must be a text; you sent a list.'],
    ['x', '“arguments” must be an object; you sent a text.'],
    [['x'], '“arguments” must be an object; you sent a list.'],
    [{ __proto__x: 1, constructor: 2, id: ID }, 'has no argument “constructor”'],
  ])('%j: the message says what to change', async (args, ...sentences) => {
    const { status, rpcError } = await callTool(agent, 'pipelines_get', args);
    expect([status, rpcError?.code]).toEqual([200, '-32602']);
    for (const sentence of [...sentences, ...(typeof args === 'object' && !Array.isArray(args) ? ['pipelines_get takes: id, version?.'] : [])]) {
      expect(rpcError?.message).toContain(sentence);
    }
  }); // prettier-ignore

  it.each([
    ['semantics_record', { scope: 'DATASOURCE', datasource: 'x', kind: 'unit', fact: 'amounts are cents', refs: ['orders.amount'] }, '“refs[0]” must be an object. “refs” is: What it is about: {schema?, table, column?}'],
    ['datasources_preview_rows', { name: 'x', table: 'y', order_by: ['day'] }, '“order_by[0]” must be an object. “order_by” is: Columns to sort by, in order: {column, direction?: ASC|DESC}.'],
    ['datasources_preview_rows', { name: 'x', table: 'y', order_by: [{ direction: 'ASC' }] }, '“order_by[0]” must have “column”. “order_by” is: '],
    ['pipelines_create', { name: 'a/b', display_name: 'x', nodes: ['read'] }, '“nodes[0]” must be an object. “nodes” is: The nodes of the graph: {id, type: DQL'],
  ])('%s: what is wrong inside an argument is told with its whole form', async (name, args, sentence) => {
    expect((await callTool(agent, name, args)).rpcError?.message).toContain(sentence);
  }); // prettier-ignore

  it.each(['pipelines_release', 'pipeline_promote', 'api_key_create', 'users_list', 'workspace_add_member', 'semantics_verify', 'datasource_grant'])(
    '%s: who looks for what only people do is told so, not sent to another tool', async (name) => {
      const { rpcError } = await callTool(agent, name, {});
      expect([rpcError?.code, rpcError?.message]).toEqual(['-32602', expect.stringMatching(/^There is no tool “\w+”\. Releasing, promoting, .* are for people, in the console: tell the user what is ready\.$/)]);
    },
  ); // prettier-ignore

  it('a list of a million wrong items costs one sentence', async () => {
    const nodes = Array.from({ length: 400_000 }, () => 1);
    const { rpcError } = await callTool(agent, 'pipelines_create', { name: 'a/b', display_name: 'x', nodes });
    expect(rpcError?.code).toBe('-32602');
    expect(rpcError?.message).toContain('“nodes[0]” must be an object.');
    expect(rpcError?.message.length).toBeLessThan(1000);
  });

  it('a missing name and an unknown tool are −32602', async () => {
    for (const params of [{}, { name: 7 }, { name: 'nope' }, { name: 'toString' }]) {
      const answer = toolAnswer(await rpc(agent, 'tools/call', params));
      expect([params, answer.rpcError?.code ?? answer.text]).toEqual([params, '-32602']);
    }
  });

  it('refuses as every other door does, in the result', async () => {
    const id = '01900000-0000-7000-8000-000000000000';
    const answer = await callTool(agent, 'pipelines_get', { id });
    const rest = errorOf(await agent.call('GET', `/api/v1/pipelines/${id}`));
    const { correlation_id, ...told } = answer.value.error;
    expect([answer.isError, told, typeof correlation_id]).toEqual([true, rest, 'string']);
  });
});

describe('what is refused behind the door', () => {
  /** The denials of one key since the last look. */
  async function denials(of: string): Promise<string[]> {
    const rows = await server.test.database.query<{ details: string }>(
      `SELECT details_json AS details FROM audit_log WHERE event = 'auth.scope.denied' AND key_id = $1 ORDER BY id`,
      [of.slice(0, 16)],
    );
    return rows.map(({ details }) => {
      const { operation, axis, required, held } = JSON.parse(details) as Record<string, unknown>;
      expect([required, held]).not.toContain(undefined);
      return `${String(operation)} ${String(axis)}`;
    });
  }
  const minted = async (body: object): Promise<string> =>
    (await admin.data('POST', '/api/v1/auth/api-keys', { name: 'denied', ...body })).key;

  it('leaves one row of a denial at every door, whether the guard or a service judged it', async () => {
    const reader = await minted({ scopes: ['read'] });
    const client = ApiClient.withKey(server.baseUrl, reader);
    // The guard admits the list of one's own keys; that of all keys the service judges by its argument.
    expect((await client.call('GET', '/api/v1/auth/api-keys?all=true')).status).toBe(403);
    expect(await denials(reader)).toEqual(['api_key.manage session']);
    const query = '{ apiKeys(all: true) { totalCount } }';
    const answer = await client.call('POST', '/graphql', { query });
    expect(answer.body.errors[0].extensions.code).toBe('auth.session.required');
    expect(await denials(reader)).toEqual(Array(2).fill('api_key.manage session'));
    expect((await callTool(client, 'pipelines_execute', { pipeline_id: 'x' })).code).toBe('auth.scope.insufficient');
    expect((await denials(reader)).slice(2)).toEqual(['pipeline.execute scope']);
  });

  it('leaves a row of a key off its surface, which no operation is found for', async () => {
    const off = await minted({ kind: 'server' });
    const client = ApiClient.withKey(server.baseUrl, off);
    for (const path of ['/api/v1/pipelines', '/api/v1/nothing'])
      expect([path, (await client.call('GET', path)).status]).toEqual([path, 403]);
    expect((await rpc(client, 'tools/list')).status).toBe(403);
    expect(await denials(off)).toEqual(['GET /api/v1/pipelines kind', 'GET /api/v1/nothing kind', 'POST /mcp kind']);
  });

  it('leaves none of a request whose fault is its body', async () => {
    const rows = () => server.test.database.query(`SELECT id FROM audit_log WHERE event = 'auth.scope.denied'`);
    const before = (await rows()).length;
    const answer = await admin.call('POST', '/api/v1/auth/api-keys', { name: 'x', kind: 'endpoint', scopes: ['read'] });
    expect([answer.status, answer.body.error.code]).toEqual([403, 'endpoint.key_kind_refused']);
    expect((await rows()).length).toBe(before);
  });
});
