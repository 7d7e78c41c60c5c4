import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DatabaseFailure } from '#libs/persistence';
import type { Answer, ApiClient } from '../fixtures/api-client.js';
import { ApiClient as Client } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';
import { ACCEPT, callTool, rpc } from '../fixtures/mcp.js';
import { expectRefusal } from '../fixtures/refusals.js';

/*
 * Every error of the protocol, its whole body: the code, a sentence that says what to change, and beside what helps the
 * caller only the id that names the call in the log.
 */

let server: LocalServer;
let agent: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start();
  const admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
  const { key } = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'agent', scopes: ['author'] });
  agent = Client.withKey(server.baseUrl, key);
}, 90_000);

afterAll(async () => await server?.stop());

const send = (raw: string, headers: Record<string, string> = {}): Promise<Answer> =>
  agent.call('POST', '/mcp', undefined, {
    raw,
    headers: { ...ACCEPT, 'Content-Type': 'application/json', ...headers },
  });
const body = (answer: Answer): unknown => JSON.parse(answer.text);
/** The whole of an error, under the correlation id of this answer. */
const errorBody = (answer: Answer, id: unknown, code: number, message: unknown, data: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, data: { ...data, correlation_id: answer.headers.get('DP-Correlation-Id') } },
});
const request = (more: string): string => `{"jsonrpc":"2.0","id":"r",${more}}`;
const introduced = (params: object): string => request(`"method":"initialize","params":${JSON.stringify(params)}`);
const CLIENT = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };

describe('a body that is no message', () => {
  it.each([
    [
      '{',
      null,
      -32700,
      expect.stringMatching(/^The body is no JSON text that is read here: .*\(line 1, column 2\)$/),
      { reason: 'malformed_json', line: 1, column: 2 },
    ],
    [
      '',
      null,
      -32700,
      expect.stringMatching(/^The body is no JSON text/),
      { reason: 'malformed_json', line: 1, column: 1 },
    ],
    ['[]', null, -32600, 'The batch is empty. Send at least one message.', {}],
    [
      JSON.stringify(Array.from({ length: 21 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
      null,
      -32600,
      'A batch holds at most 20 messages; this one has 21.',
      {},
    ],
    [
      `[${request('"method":"ping"')},${request('"method":"ping"')}]`,
      null,
      -32600,
      'Two messages of the batch have the same “id”.',
      {},
    ],
    ['7', null, -32600, 'A message is a JSON object with “jsonrpc”.', {}],
    ['[[]]', null, -32600, 'A message is a JSON object with “jsonrpc”.', {}],
    ['{"id":"r","method":"ping"}', 'r', -32600, '“jsonrpc” must be "2.0".', {}],
    ['{"jsonrpc":2.0,"id":7,"method":"ping"}', 7, -32600, '“jsonrpc” must be "2.0".', {}],
    [
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      null,
      -32600,
      '“id” must be a text or a whole number; leave it out only of a notification.',
      {},
    ],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600, expect.stringContaining('“id” must be'), {}],
    [
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
      null,
      -32600,
      expect.stringContaining('“id” must be'),
      {},
    ],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', null, -32600, expect.stringContaining('“id” must be'), {}],
    [request('"method":7'), 'r', -32600, '“method” is required, as a text.', {}],
    ['{"jsonrpc":"2.0","id":"r"}', 'r', -32600, '“method” is required, as a text.', {}],
    [request('"method":"ping","params":[1]'), 'r', -32600, '“params” must be an object.', {}],
    [request('"method":"ping","params":null'), 'r', -32600, '“params” must be an object.', {}],
    [request('"method":"ping","params":{"_meta":7}'), 'r', -32600, '“params._meta” must be an object.', {}],
    [
      request('"method":"ping","params":{"_meta":{"progressToken":{}}}'),
      'r',
      -32600,
      '“params._meta.progressToken” must be a text or a whole number.',
      {},
    ],
    [
      request('"method":"ping","argu\\u001b[31mments":{}'),
      'r',
      -32600,
      'A message has no member “argu\uFFFD[31mments”. Leave it out.',
      {},
    ],
    [
      `[${introduced(CLIENT)},{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
      null,
      -32600,
      '“initialize” is sent by itself, not in a batch.',
      {},
    ],
  ])('%.60s says what to change', async (raw, id, code, message, data) => {
    const answer = await send(raw);
    expect([answer.status, body(answer)]).toEqual([400, errorBody(answer, id, code, message, data)]);
  });

  it.each([
    [{}, '“protocolVersion” must be a text.'],
    [{ ...CLIENT, protocolVersion: 7 }, '“protocolVersion” must be a text.'],
    [{ ...CLIENT, capabilities: [] }, '“capabilities” must be an object.'],
    [{ ...CLIENT, clientInfo: { name: 'x' } }, '“clientInfo” must be an object with the texts “name” and “version”.'],
    [{ ...CLIENT, clientInfo: 'x' }, '“clientInfo” must be an object with the texts “name” and “version”.'],
  ])('a client that introduces itself as %j is told how to', async (params, message) => {
    const answer = await send(introduced(params));
    const told = expect.stringMatching(
      new RegExp(`^${message} initialize takes: protocolVersion, .*; capabilities, .*; clientInfo, .*\\.$`),
    );
    expect([answer.status, body(answer)]).toEqual([200, errorBody(answer, 'r', -32602, told)]);
  });

  it.each<[string, Record<string, string>, number, unknown]>([
    [
      'Accept',
      { Accept: 'application/json' },
      406,
      'Send “Accept: application/json, text/event-stream”: an answer may be either.',
    ],
    ['Content-Type', { 'Content-Type': 'text/plain' }, 415, 'Send “Content-Type: application/json”.'],
    [
      'MCP-Protocol-Version',
      { 'MCP-Protocol-Version': '1999-01-01' },
      400,
      expect.stringMatching(
        /^“MCP-Protocol-Version: 1999-01-01” is not spoken here\. Send the version that initialize answered: .*2025-06-18/,
      ),
    ],
  ])('a wrong header %s is told by its name', async (_name, headers, status, message) => {
    const answer = await send(request('"method":"ping"'), headers);
    expect([answer.status, body(answer)]).toEqual([status, errorBody(answer, null, -32000, message)]);
  });

  it('a client that introduces itself may send any version in the header: nothing is agreed yet', async () => {
    expect((await send(introduced(CLIENT), { 'MCP-Protocol-Version': '1999-01-01' })).status).toBe(200);
  });
});

describe('a request that cannot be answered', () => {
  it.each<[string, unknown, number, unknown, object]>([
    ['no/such', undefined, -32601, 'There is no method “no/such” here.', {}],
    ['no\u001b[31m\u202esuch', undefined, -32601, 'There is no method “no\uFFFD[31m\uFFFDsuch” here.', {}],
    ['x'.repeat(9000), undefined, -32601, `There is no method “${'x'.repeat(64)}” here.`, {}],
    ['tools/call', undefined, -32602, '“name” is required, as a text.', {}],
    [
      'tools/call',
      { name: 'datasource_list' },
      -32602,
      'There is no tool “datasource_list”. Did you mean “datasources_list”?',
      { tool: 'datasource_list' },
    ],
    [
      'tools/call',
      { name: 'docs_get', arguments: { nam: 'x' } },
      -32602,
      expect.stringContaining('Did you mean “name”?'),
      { tool: 'docs_get', problems: expect.any(Array) },
    ],
    ['tools/list', { cursor: 'x' }, -32602, '“cursor” is none of this list. Leave it out: there is one page.', {}],
    [
      'resources/list',
      { cursor: 'x' },
      -32602,
      '“cursor” is none of this list. Send the nextCursor of the page before, or none.',
      {},
    ],
    ['resources/read', {}, -32602, '“uri” is required, as a text.', {}],
    [
      'resources/read',
      { uri: 'file:///etc/passwd' },
      -32002,
      'There is no such resource.',
      { uri: 'file:///etc/passwd' },
    ],
    [
      'prompts/get',
      { name: 'nope' },
      -32602,
      expect.stringMatching(/^There is no such prompt\. There are: analyze_pipeline, .*\.$/),
      {},
    ],
  ])('%.40s %j', async (method, params, code, message, data) => {
    const answer = await rpc(agent, method, params);
    expect([answer.status, body(answer)]).toEqual([200, errorBody(answer, 1, code, message, data)]);
  });

  it('a notice that a call is given up does not leave the call of the same body without its answer', async () => {
    const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'docs_list', arguments: {} } };
    const given = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
    for (const batch of [
      [call, given],
      [given, call],
    ]) {
      const answer = body(await send(JSON.stringify(batch))) as { id: number; result: { isError: boolean } };
      expect([answer.id, answer.result.isError]).toEqual([5, false]);
    }
  });

  it('what a client says of tasks is passed over by a server that offers none; answers to nothing go nowhere', async () => {
    const tasked = await rpc(agent, 'tools/call', { name: 'docs_list', arguments: {}, task: { ttl: 5 } });
    expect(tasked.body.result.isError).toBe(false);
    for (const raw of [
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"result":7}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
    ]) {
      expect((await send(raw)).status).toBe(202);
    }
  });
});

describe('a failure of the server', () => {
  const PLANTED = 'planted: connection string postgres://u:secret@db/x';
  let mend = (): void => undefined;
  afterEach(() => mend());

  /** Statements that read `table` fail as no catalogued refusal does. */
  const failing = (table: string, failure: () => Error): void => {
    const { database } = server.test;
    const query = database.query.bind(database);
    database.query = (sql, params) =>
      new RegExp(`\\b${table}\\b`).test(sql) ? Promise.reject(failure()) : query(sql, params);
    mend = () => void (database.query = query);
  };

  it.each<[string, string, object]>([
    ['pipelines', 'tools/call', { name: 'pipelines_list', arguments: {} }],
    ['pipelines', 'resources/list', {}],
    ['pipelines', 'resources/read', { uri: 'datapipelines://pipelines/01900000-0000-7000-8000-000000000000' }],
    ['pipeline_executions', 'resources/list', {}],
  ])('in %s, met by %s %j: −32603 with the correlation id and nothing else', async (table, method, params) => {
    failing(table, () => new TypeError(PLANTED));
    const before = server.errors.length;
    const answer = await rpc(agent, method, params);
    expect([answer.status, body(answer)]).toEqual([200, errorBody(answer, 1, -32603, 'The server failed to answer.')]);
    // The log has what the answer has not, under the same id.
    const [logged, ...more] = server.errors.slice(before);
    expect([logged?.fields?.['correlation_id'], more]).toEqual([answer.headers.get('DP-Correlation-Id'), []]);
    expect((logged?.fields?.['error'] as Error).message).toBe(PLANTED);
    // And the audit trail knows that it failed, if it was an act of one kind.
    const [trail] = await server.test.database.query<{ outcome: string | null; text: string }>(
      `SELECT details_json->>'outcome' AS outcome, details_json::text AS text FROM audit_log
        WHERE details_json->>'correlation_id' = $1 AND event IN ('mcp.tool.called', 'mcp.resource.read')`,
      [answer.headers.get('DP-Correlation-Id')],
    );
    expect([trail?.outcome, /planted/.test(trail?.text ?? '')]).toEqual([
      method === 'resources/list' ? undefined : 'failed',
      false,
    ]);
    mend();
    expect((await rpc(agent, 'ping')).body.result).toEqual({});
  });

  it('that is a database away is told as such, so that a client comes again', async () => {
    failing('pipelines', () => new DatabaseFailure(PLANTED, 'ECONNREFUSED', undefined, undefined, 'SELECT 1', true));
    const listed = await rpc(agent, 'resources/list');
    const told = { code: 'server.unavailable', details: { retry_after_seconds: 2 } };
    expect(body(listed)).toEqual(errorBody(listed, 1, -32603, expect.stringMatching(/^[A-Z].*\.$/), told));
    const called = await callTool(agent, 'pipelines_list');
    expect([called.isError, called.code, called.text.includes('planted')]).toEqual([true, 'server.unavailable', false]);
  });

  it('in one call of a batch leaves the others their answers', async () => {
    failing('pipelines', () => new TypeError(PLANTED));
    const call = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: {} },
    });
    const answer = await send(
      JSON.stringify([call(1, 'docs_list'), call(2, 'pipelines_list'), call(3, 'calculators_list')]),
    );
    const told = body(answer) as { id: number; error?: { code: number }; result?: object }[];
    expect(told.map(({ id, error }) => [id, error?.code]).sort()).toEqual([
      [1, undefined],
      [2, -32603],
      [3, undefined],
    ]);
    expect(answer.text).not.toContain('planted');
  });
});

describe('a call that asks to be held to a task', () => {
  it('is never run without the policy of that task: none is known here, and nothing is done or said', async () => {
    const calls = async () =>
      Number((await server.test.database.query<{ n: string }>(`SELECT count(*) AS n FROM audit_log WHERE event LIKE 'mcp.%'`))[0]?.n);
    const before = await calls();
    for (const [method, params] of [['initialize', CLIENT], ['tools/list', {}], ['tools/call', { name: 'docs_list', arguments: {} }], ['resources/list', {}], ['ping', {}]] as const) {
      for (const task of ['01900000-0000-7000-8000-000000000000', 'x'.repeat(500), "' OR true --"]) {
        const answer = await rpc(agent, method, params, { 'DP-Task-Id': task });
        expectRefusal(method, answer, 404, 'playbook.not_found', { task_id: task.slice(0, 64) });
        expect(answer.text).toContain('leave the header out');
      }
    }
    expect(await calls()).toBe(before);
    expect((await callTool(agent, 'docs_list')).isError).toBe(false);
  });

  it('nobody without a key learns whether a task is known', async () => {
    const anyone = new Client(server.baseUrl);
    expectRefusal('no key', await rpc(anyone, 'ping', {}, { 'DP-Task-Id': 'x' }), 401, 'auth.api_key.missing');
  });
}); // prettier-ignore
