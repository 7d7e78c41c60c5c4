import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../fixtures/eventually.js';
import { findProgram } from '../fixtures/installed-program.js';
import { root } from '../fixtures/keeper-state.js';
import { callTool, rpc, toolData } from '../fixtures/mcp.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { addPerson, emailOf, PASSWORD } from '../fixtures/people.js';
import { describeWithProgram } from '../fixtures/programs.js';

const document = readFileSync(join(root, 'docs/mcp.md'), 'utf8');

describe('the page about connecting', () => {
  it('has blocks that parse and point to the door', () => {
    const blocks = [...document.matchAll(/```json\n([^]*?)```/g)].map(([, json]) => json!);
    expect(blocks).toHaveLength(3);
    for (const json of blocks) {
      JSON.parse(json);
      expect(json).toContain('http://localhost:8080/mcp');
      expect(json).toMatch(/DP-API-Key/);
    }
  });
});

describeWithProgram('redis-server', 'clients of two servers', (redis) => {
  let scene: McpScene;
  let servers: string[];
  let slow: string;

  beforeAll(async () => {
    scene = await McpScene.start({ redis, servers: 2, env: { DATAPIPELINES_SSE_MAX_STREAMS_PER_USER: '3' } });
    servers = scene.deployment.servers.map(({ baseUrl }) => baseUrl);
    const body = 'SELECT pg_sleep(60)::text AS slept';
    await scene.tool('templates_create', { id: 'test/slow.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body });
    slow = (await scene.tool('pipelines_create', {
      name: 'test/slow', display_name: 'Slow', nodes: [{ id: 'sleep', type: 'DQL', source: 'shop', template: { id: 'test/slow.sql', version: 1 } }],
    })).id;
    await scene.tool('templates_create', { id: 'test/quick.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body: 'SELECT id FROM orders ORDER BY id' });
  }, 120_000);

  afterAll(async () => {
    const failures = scene?.deployment.servers.flatMap(({ output }) => output.split('\n')).filter((line) => /"level":"(error|fatal)"/.test(line));
    await scene?.stop();
    expect(failures).toEqual([]);
  });

  it('the official client works through a balancer that sends every request to the next server', async () => {
    let turn = 0;
    const seen = new Set<string>();
    const balanced: typeof fetch = (input, init) => {
      const server = servers[turn++ % servers.length] as string;
      seen.add(server);
      return fetch(String(input).replace(servers[0] as string, server), init);
    };
    const client = new Client({ name: 'balanced', version: '1.0.0' });
    const options = { requestInit: { headers: { 'DP-API-Key': scene.key } }, fetch: balanced };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', servers[0]), options) as Transport);
    await client.listTools();
    const created = await client.callTool({ name: 'pipelines_create', arguments: {
      name: 'test/quick', display_name: 'Quick', nodes: [{ id: 'read', type: 'DQL', source: 'shop', template: { id: 'test/quick.sql', version: 1 } }],
    } });
    const { id } = created.structuredContent as { id: string };
    const run = { name: 'pipelines_execute', arguments: { id, idempotency_key: 'across' } };
    const [one, two] = await Promise.all([client.callTool(run), client.callTool(run)]);
    const facts = [one, two].map((result) => result.structuredContent as { execution_id: string; total_rows: number });
    expect(facts[0]?.execution_id).toBe(facts[1]?.execution_id);
    expect(facts.map(({ total_rows }) => total_rows)).toEqual([3, 3]);
    const told: string[] = [];
    const third = await client.callTool(run, undefined, { onprogress: ({ message }) => told.push(message ?? '') });
    expect([(third.structuredContent as { replayed: boolean }).replayed, told.some((message) => message.startsWith('Node read completed'))]).toEqual([true, true]);
    expect(seen.size).toBe(2);
    await client.close();
  });

  it('a run started through one server is cancelled by the same key through the other', async () => {
    const [first, second] = servers.map((server) => scene.agent.on(server));
    const waiting = callTool(first!, 'pipelines_execute', { id: slow });
    const running = await eventually('the run shows', async () => (await toolData(second!, 'executions_list', { pipeline_id: slow, status: 'RUNNING' }))[0]);
    expect(await toolData(second!, 'executions_cancel', { execution_id: running.execution_id })).toMatchObject({ cancel_requested: true });
    const { isError, code, value } = await waiting;
    expect([isError, code, value.status, value.error.details.reason]).toEqual([true, 'pipeline.execution.aborted', 'ABORTED', 'cancelled']);
  });

  it('calls that attach to one run are counted as streams over all servers, and give them back', async () => {
    const [first, second] = servers.map((server) => scene.agent.on(server));
    const run = { id: slow, idempotency_key: 'crowd' };
    const waiting = [callTool(first!, 'pipelines_execute', run)];
    const running = await eventually('the run shows', async () => (await toolData(second!, 'executions_list', { pipeline_id: slow, status: 'RUNNING' }))[0]);
    const codes: (string | undefined)[] = [];
    for (let at = 0; at < 7; at++) {
      const call = callTool([first, second][at % 2]!, 'pipelines_execute', run);
      waiting.push(call);
      void call.then(({ code }) => codes.push(code));
    }
    await eventually('four are sent away', () => Promise.resolve(codes.length === 4));
    expect(codes).toEqual(Array.from({ length: 4 }, () => 'rate_limit.exceeded'));
    await toolData(first!, 'executions_cancel', { execution_id: running.execution_id });
    const ends = (await Promise.all(waiting)).map(({ code }) => code).filter((code) => code !== 'rate_limit.exceeded');
    expect(ends).toEqual(Array.from({ length: 4 }, () => 'pipeline.execution.aborted'));
    const again = await Promise.all([1, 2, 3].map(() => callTool(second!, 'pipelines_execute', run)));
    expect(again.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'pipeline.execution.aborted'));
  });

  it('a client that takes 405 for a reason to ask again, and again, spends nobody’s budget', async () => {
    const remaining = async () => Number((await rpc(scene.agent, 'ping')).headers.get('RateLimit-Remaining'));
    const before = await remaining();
    for (let at = 0; at < 200; at++) {
      const { status, headers } = await scene.agent.call('GET', '/mcp', undefined, { headers: { Accept: 'text/event-stream' } });
      expect([status, headers.get('Allow'), headers.get('RateLimit-Limit')]).toEqual([405, 'POST, OPTIONS', null]);
    }
    // A new minute may begin meanwhile, which gives and never takes.
    expect(await remaining()).toBeGreaterThanOrEqual(before - 1);
  });

  it('a client of the older transport is told 405 at once instead of waiting for a stream', async () => {
    const client = new Client({ name: 'older', version: '1.0.0' });
    const headers = { 'DP-API-Key': scene.key };
    const transport = new SSEClientTransport(new URL('/mcp', servers[0]), { requestInit: { headers }, eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...headers, Accept: 'text/event-stream' } }) } });
    await expect(client.connect(transport as Transport)).rejects.toThrow(/405/);
    // And what it falls back to works.
    expect((await rpc(scene.agent, 'ping')).body.result).toEqual({});
  });

  it('the curl lines of the page run as they stand', async () => {
    const curl = findProgram('curl');
    const bash = '/bin/bash';
    const lines = [...document.matchAll(/```\n(curl [^]*?)```/g)].map(([, line]) => line!).filter((line) => line.includes('/mcp"'));
    expect([curl === undefined, lines.length]).toEqual([false, 2]);
    for (const line of lines) {
      const env = { PATH: process.env['PATH'], PENSTOCK_URL: servers[0], PENSTOCK_API_KEY: scene.key };
      const { stdout } = await promisify(execFile)(bash, ['-c', line], { env });
      expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: '2.0', result: {} });
    }
  });

  describe('the blocks of the page, each as the client that it is for reads it', () => {
    const HERE = 'http://localhost:8080';
    const blockOf = (heading: string): string => {
      const [, block] = new RegExp(`### ${heading}\\n[^]*?\`\`\`(?:json)?\\n([^]*?)\`\`\``).exec(document) ?? [];
      if (block === undefined) throw new TypeError(`no block under ${heading}`);
      return block;
    };
    /** Lists the tools as a client would that has just been told this address and this header. */
    const toolsAt = async (url: string, headers: Record<string, string>): Promise<number> => {
      expect(url.startsWith(`${HERE}/`)).toBe(true);
      const client = new Client({ name: 'reader of the page', version: '1.0.0' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url.replace(HERE, servers[0]!)), { requestInit: { headers } }) as Transport);
      const { tools } = await client.listTools();
      await client.close();
      return tools.length;
    };
    const header = (line: string): Record<string, string> => ({ [line.slice(0, line.indexOf(':'))]: line.slice(line.indexOf(':') + 1).trim() });
    const bash = async (script: string, env: Record<string, string>): Promise<string> => {
      const folder = scene.deployment.files;
      const options = { cwd: root, env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, NO_COLOR: '1', ...env } };
      return (await promisify(execFile)('/bin/bash', ['-c', script], options)).stdout;
    };

    it('Claude Code: its command names the transport, the address and the header; the first page has the same line', async () => {
      const line = blockOf('Claude Code');
      expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(line);
      const program = join(scene.deployment.files, 'claude');
      writeFileSync(program, `#!${process.execPath}\nconsole.log(JSON.stringify(process.argv.slice(2)));\n`, { mode: 0o755 });
      const [mcp, add, flag, transport, name, url, more, value] = JSON.parse(await bash(line, { PENSTOCK_API_KEY: scene.key })) as string[];
      expect([mcp, add, flag, transport, name, more]).toEqual(['mcp', 'add', '--transport', 'http', 'penstock', '--header']);
      expect(await toolsAt(url!, header(value!))).toBe(41);
    });

    it('Claude Desktop: the bridge gets the address and a header that it fills from its environment', async () => {
      const { command, args, env } = JSON.parse(blockOf('Claude Desktop')).mcpServers.penstock as { command: string; args: string[]; env: Record<string, string> };
      const [yes, bridge, url, flag, value] = args;
      expect([command, yes, bridge, flag, Object.keys(env)]).toEqual(['npx', '-y', 'mcp-remote', '--header', ['PENSTOCK_API_KEY']]);
      // The bridge splits its header at the first colon, and clients on Windows break arguments at blanks.
      expect(value).not.toMatch(/\s/);
      expect(await toolsAt(url!, header(value!.replace('${PENSTOCK_API_KEY}', scene.key)))).toBe(41);
    });

    it.each([
      ['Cursor', 'mcpServers', '${env:PENSTOCK_API_KEY}'],
      ['VS Code', 'servers', '${input:penstock-key}'],
    ])('%s: address and header, the key asked for and not written down', async (heading, servers_, place) => {
      const settings = JSON.parse(blockOf(heading)) as Record<string, { penstock: { url: string; headers: Record<string, string> } }> & { inputs?: { id: string; password: boolean }[] };
      const { url, headers } = settings[servers_]!.penstock;
      expect(headers).toEqual({ 'DP-API-Key': place });
      if (place.includes('input')) expect(settings.inputs).toEqual([expect.objectContaining({ id: 'penstock-key', password: true })]);
      expect(await toolsAt(url, { 'DP-API-Key': scene.key })).toBe(41);
    });

    it('the inspector: its line lists the tools', async () => {
      const line = blockOf('The inspector').replace(HERE, servers[0]!);
      expect(JSON.parse(await bash(line, { PENSTOCK_API_KEY: scene.key })).tools).toHaveLength(41);
    });

    it('the key: a person signs in and gets one with which the rest of the page works', async () => {
      const [, script] = /```\n(JAR=[^]*?)```/.exec(document) ?? [];
      await addPerson(scene.deployment, 'reader', { memberships: { default: { author: true } } });
      const asked = { PENSTOCK_URL: servers[0]!, EMAIL: emailOf('reader'), PASSWORD, WORKSPACE: 'default' };
      const key = (await bash(script!, asked)).trim();
      expect(key).toMatch(/^dpk_[A-Z0-9]+\.[A-Z0-9]+$/);
      expect(await toolsAt(`${HERE}/mcp`, { 'DP-API-Key': key })).toBe(41);
    });
  });

  it('a planted secret shows in no answer, whatever is asked', async () => {
    const password = new URL(scene.source.url).password;
    const secret = 'canary-7f3d9b';
    const answers: string[] = [];
    const say = async (method: string, params?: unknown) => answers.push((await rpc(scene.agent, method, params)).text);
    const call = (name: string, args: object) => say('tools/call', { name, arguments: args });
    const { admin } = scene;
    await admin.data('POST', '/api/v1/datasources', {
      name: 'canary', display_name: 'canary', dialect: 'POSTGRES', jdbc_url: 'jdbc:postgresql://127.0.0.1:1/none', credential: { kind: 'password', username: 'u', secret },
    });
    for (const name of ['canary', 'shop']) {
      await call('datasources_get', { name });
      await call('datasources_test', { name });
      await call('datasources_get_tables', { name });
      await call('sql_probe', { name, sql: 'SELECT 1' });
      await call('datasources_preview_rows', { name, table: 'orders' });
      await say('resources/read', { uri: `datapipelines://datasources/${name}` });
    }
    await call('datasources_list', {});
    await say('resources/list');
    await call('sql_probe', { name: 'shop', sql: 'SELECT :secret', parameters: { secret: { type: 'INTEGER', value: secret } } });
    await call('pipelines_execute', { id: slow, parameters: { x: 1 }, idempotency_key: `${secret} with a blank` });
    await call('executions_list', {});
    for (const [at, text] of answers.entries()) {
      expect([at, text.includes(secret), text.includes(password), /dpk_[A-Z2-7]{12}\./.test(text)]).toEqual([at, false, false, false]);
    }
    const logs = scene.deployment.servers.map(({ output }) => output).join('');
    expect([logs.includes(secret), logs.includes(scene.key)]).toEqual([false, false]);
    const rows = await scene.deployment.metadata('SELECT details_json::text AS details FROM audit_log');
    expect(rows.filter(({ details }) => String(details).includes(secret))).toEqual([]);
  });
}); // prettier-ignore
