import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';

import { ApiClient } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';
import { callTool } from '../fixtures/mcp.js';

const ENDLESS = 'SELECT count(*) AS n FROM orders, range(10000000) a, range(10000000) b';
/** What an engine like it gets, which is no lake. */
const OPERATORS_DEFAULT = 1;
jest.setTimeout(20_000);

let server: LocalServer;
let author: ApiClient;
/** A pipeline on each lake, by the lake's name: an endless node and an endless check. */
const pipelines = new Map<string, string>();

beforeAll(async () => {
  server = await LocalServer.start({
    DATAPIPELINES_EXECUTOR_NODE_QUERY_TIMEOUT_SECONDS: String(OPERATORS_DEFAULT),
    DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline',
  });
  const admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
  author = ApiClient.withKey(
    server.baseUrl,
    (await admin.data('POST', '/api/v1/auth/api-keys', { name: 'author', scopes: ['author'] })).key,
  );
  mkdirSync(join(server.files, 'lake'));
  const file = join(server.files, 'lake', 'orders.parquet');
  const files = await DuckDBInstance.create(':memory:');
  const engine = await files.connect();
  await engine.run(`COPY (SELECT 1 AS id) TO '${file}'`);
  engine.disconnectSync();
  files.closeSync();
  await author.data('POST', '/api/v1/templates', {
    ...{ id: 'lake/endless.sql', dialect: 'LAKE', display_name: 'Endless', description: '', body: ENDLESS },
  });
  for (const [name, more] of [['lake', {}], ['brief', { query_timeout_seconds: 2 }]] as const) {
    const fields = { name, display_name: name, dialect: 'LAKE', jdbc_url: 'jdbc:duckdb:', ...more };
    await admin.data('POST', '/api/v1/datasources', fields);
    const table = { namespace: 'sales', name: 'orders', format: 'parquet', location: `file://${file}` };
    await author.data('POST', `/api/v1/datasources/${name}/tables`, table);
    const node = { id: 'read', type: 'DQL', source: name, template: { id: 'lake/endless.sql', version: 1 }, output: { target: 'caller' } };
    const check = { id: 'endless', name: 'Endless', datasource: name, sql: ENDLESS, expected: { kind: 'value', value: 1 } };
    const made = await author.data('POST', '/api/v1/pipelines', {
      ...{ name: `lake/${name}`, display_name: name, description: '', parameters: {}, nodes: [node], checks: [check] },
    });
    pipelines.set(name, made.id);
  }
}, 90_000); // prettier-ignore

afterAll(async () => {
  await server?.stop();
});

/** Three minutes, and what is left of them after a wait for a connection, pass at once; other clocks go as they do. */
const MINUTES_MS = 180_000;
const WAITED_MS = 10_000;
const AT_ONCE_MS = 300;

beforeEach(() => {
  const { setTimeout: timer } = globalThis;
  const until = AbortSignal.timeout.bind(AbortSignal);
  const hurried = (ms: number): number => (ms <= MINUTES_MS && ms > MINUTES_MS - WAITED_MS ? AT_ONCE_MS : ms);
  const started = (work: () => void, ms = 0, ...rest: []): NodeJS.Timeout => timer(work, hurried(ms), ...rest);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(started as typeof setTimeout);
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => until(hurried(ms)));
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe.each([
  ['180 s where nobody says otherwise, not what the operator gives other engines', 'lake', 180],
  ['its own limit where it has one', 'brief', 2],
])('a statement on a lake may take %s', (_what, lake, seconds) => {
  it('as the node of a run', async () => {
    const run = await author.call('POST', `/api/v1/pipelines/${pipelines.get(lake)}/execute`, { parameters: {} });
    expect(run.text).toContain('"code":"pipeline.node.query_timeout"');
    expect(run.text).toContain(`"timeout_seconds":${seconds}}`);
  });

  it('as a node that is tried by itself', async () => {
    const trial = await callTool(author, 'pipelines_execute_node', { pipeline_id: pipelines.get(lake), node_id: 'read' });
    expect([trial.code, trial.value.error.message]).toEqual([
      'pipeline.node.query_timeout',
      expect.stringContaining(` ${seconds * 1000} ms`),
    ]);
  }); // prettier-ignore

  it('as a check', async () => {
    const checked = await author.data('POST', `/api/v1/pipelines/${pipelines.get(lake)}/versions/1/checks/run`);
    expect(checked.runs).toMatchObject([
      { check_id: 'endless', verdict: 'error', message: expect.stringContaining(` ${seconds * 1000} ms`) },
    ]);
  });
});
