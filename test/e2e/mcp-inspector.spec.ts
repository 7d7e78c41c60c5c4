import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../fixtures/keeper-state.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { describeWithProgram } from '../fixtures/programs.js';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const INSPECTOR = join(root, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

describeWithProgram('redis-server', 'the inspector of the protocol', (redis) => {
  let scene: McpScene;

  beforeAll(async () => {
    scene = await McpScene.start({ redis });
    const template = { id: 'test/orders.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body: 'SELECT id FROM orders ORDER BY id' };
    await scene.tool('templates_create', { ...template, confirm_new_root: true });
  }, 120_000);

  afterAll(async () => {
    const failures = scene?.deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await scene?.stop();
    expect(failures).toEqual([]);
  });

  /** Runs its command line as somebody would, in a home of its own. */
  const inspect = (args: readonly string[], key = scene.key): Promise<Ended> =>
    new Promise((resolve) => {
      const url = new URL('/mcp', scene.deployment.server.baseUrl).href;
      const line = [INSPECTOR, '--cli', url, '--transport', 'http', '--header', `DP-API-Key: ${key}`, ...args];
      const env = { PATH: process.env['PATH'], HOME: scene.deployment.files, NO_COLOR: '1' };
      const options = { env, timeout: 30_000, killSignal: 'SIGKILL' as const, maxBuffer: 8 * 1024 * 1024 };
      execFile(process.execPath, line, options, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
        resolve({ code, stdout, stderr });
      });
    });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- results of every method
  const answer = async (...args: string[]): Promise<any> => {
    const { code, stdout, stderr } = await inspect(args);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  };

  it('lists every tool, and finds nothing in their schemas that a client stumbles over', async () => {
    const { code, stdout, stderr } = await inspect(['--method', 'tools/list', '--strict']);
    expect([code, stderr]).toEqual([0, '']);
    const { tools } = JSON.parse(stdout) as { tools: { name: string; inputSchema: object; outputSchema?: object }[] };
    expect(tools).toHaveLength(41);
    expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
  });

  it('calls tools: a result, a refusal, and a call that was not understood are three different things', async () => {
    const [listed, probed, refused, wrong] = await Promise.all([
      answer('--method', 'tools/call', '--tool-name', 'datasources_list'),
      answer('--method', 'tools/call', '--tool-name', 'sql_probe', '--tool-arg', 'name=shop', 'sql=SELECT max(id) AS most FROM orders'),
      inspect(['--method', 'tools/call', '--tool-name', 'datasources_get', '--tool-arg', 'name=nowhere']),
      inspect(['--method', 'tools/call', '--tool-name', 'datasources_get', '--tool-arg', 'nam=shop']),
    ]);
    expect([listed.isError, listed.structuredContent.items[0].name]).toEqual([false, 'shop']);
    expect(probed.structuredContent.rows).toEqual([['9223372036854775807']]);
    expect(refused.code).not.toBe(0);
    expect(`${refused.stdout}${refused.stderr}`).toContain('datasource.not_found');
    expect(wrong.code).not.toBe(0);
    expect(`${wrong.stdout}${wrong.stderr}`).toContain('Did you mean “name”?');
  });

  it('lists resources, their templates and prompts, and reads each kind', async () => {
    const [{ resources }, { resourceTemplates }, { prompts }] = await Promise.all([
      answer('--method', 'resources/list'),
      answer('--method', 'resources/templates/list'),
      answer('--method', 'prompts/list'),
    ]);
    expect(resourceTemplates.length).toBeGreaterThan(5);
    expect(prompts.map(({ name }: { name: string }) => name)).toContain('create_pipeline_for_question');
    const first = new Map<string, string>(resources.toReversed().map(({ uri }: { uri: string }) => [/^datapipelines:..([a-z]+)/.exec(uri)?.[1], uri]));
    expect([...first.keys()].sort()).toEqual(['datasources', 'docs', 'templates']);
    const [doc, template, prompt] = await Promise.all([
      answer('--method', 'resources/read', '--uri', first.get('docs') as string),
      answer('--method', 'resources/read', '--uri', first.get('templates') as string),
      answer('--method', 'prompts/get', '--prompt-name', 'create_pipeline_for_question', '--prompt-args', 'question=How much was sold?'),
    ]);
    expect(doc.contents[0].text).toContain('# ');
    expect(JSON.parse(template.contents[0].text).id).toBe('test/orders.sql');
    expect(prompt.messages[0].content.text).toContain('How much was sold?');
  });

  it('takes a key that is none for a server that asks for one, not for a server that is broken', async () => {
    const { code, stdout, stderr } = await inspect(['--method', 'tools/list', '--stored-auth-only'], 'dpk_none.none');
    expect([code === 0, stdout, stderr]).toEqual([false, '', expect.stringContaining('auth_required')]);
  });

  it('runs by the line of the page about connecting, as it stands there', async () => {
    const document = readFileSync(join(root, 'docs/mcp.md'), 'utf8');
    const line = /```\n(npx @modelcontextprotocol\/inspector [^]*?)```/.exec(document)?.[1] ?? '';
    const here = line.replace('http://localhost:8080', scene.deployment.server.baseUrl);
    const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: scene.deployment.files, PENSTOCK_API_KEY: scene.key, npm_config_offline: 'true' };
    const { stdout } = await promisify(execFile)('/bin/bash', ['-c', here], { cwd: root, env, maxBuffer: 8 * 1024 * 1024 });
    expect((JSON.parse(stdout) as { tools: unknown[] }).tools).toHaveLength(41);
  });
}); // prettier-ignore
