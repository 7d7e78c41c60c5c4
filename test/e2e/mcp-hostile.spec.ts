import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { catalogue } from '#libs/kernel';
import { Checksum } from '../fixtures/matrix-scene.js';
import { callTool, rpc } from '../fixtures/mcp.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { describeWithProgram } from '../fixtures/programs.js';

interface Schema {
  type?: string;
  enum?: unknown[];
  anyOf?: unknown[];
  items?: Schema;
}

/** Texts that mean something to a shell, a database, a path, a terminal or a parser, and here must mean nothing. */
const HOSTILE = [
  "'; DROP TABLE orders; --",
  '../../../etc/passwd',
  '${7*7}<#assign x=1>:name',
  '\u001b[31m\u202e\u200b\ufeffé\u{1F680}',
  '%00%2f\\',
  'x'.repeat(60_000),
  '',
];

/** A value of the kind a schema asks for, made of one text. */
function filled(schema: Schema, text: string): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return [text];
  switch (schema.type) {
    case 'integer':
      return 1;
    case 'boolean':
      return false;
    case 'array':
      return [schema.items?.type === 'string' ? text : { id: text, name: text, table: text, column: text }];
    case 'object':
      return { [text.slice(0, 100) || 'k']: text };
    default:
      return text;
  }
}

describeWithProgram('redis-server', 'hostile texts', (redis) => {
  let scene: McpScene;
  let checksum: Checksum;
  let tools: { name: string; inputSchema: { properties: Record<string, Schema>; required?: string[] } }[];

  beforeAll(async () => {
    scene = await McpScene.start({ redis });
    checksum = await Checksum.open(scene.deployment.database.superuserUrl);
    tools = (await rpc(scene.agent, 'tools/list')).body.result.tools;
  }, 120_000);

  afterAll(async () => {
    await checksum?.close();
    const failures = scene?.deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await scene?.stop();
    expect(failures).toEqual([]);
  });

  it('in every argument of every tool: a catalogued refusal or a sentence, never a failure, and nothing is stored', async () => {
    const before = await checksum.now();
    for (const { name, inputSchema } of tools) {
      const { properties } = inputSchema;
      if (Object.keys(properties).length === 0) continue;
      for (const text of HOSTILE) {
        const args = Object.fromEntries(Object.entries(properties).map(([argument, schema]) => [argument, filled(schema, text)]));
        const answer = await callTool(scene.agent, name, args);
        const shown = [name, text.slice(0, 30)];
        expect([...shown, answer.status]).toEqual([...shown, 200]);
        if (answer.rpcError) expect([...shown, answer.rpcError.code]).toEqual([...shown, '-32602']);
        if (answer.isError) expect([...shown, Object.hasOwn(catalogue, answer.code ?? '')]).toEqual([...shown, true]);
        // What is echoed is a name at most: an answer is no way to send a megabyte to whoever reads the log.
        if (text.length > 1000 && (answer.isError || answer.rpcError)) expect([...shown, answer.text.length < 20_000]).toEqual([...shown, true]);
      }
    }
    expect(await checksum.now()).toBe(before);
    expect((await scene.tool('sql_probe', { name: 'shop', sql: 'SELECT count(*) FROM orders' })).rows).toEqual([['3']]);
  }, 120_000);

  it('of the wrong shape in every argument: one sentence that names it', async () => {
    const wrong: Record<string, unknown> = { string: 7, integer: 'x', boolean: 'true', array: 'x', object: [1] };
    for (const { name, inputSchema } of tools) {
      for (const [argument, schema] of Object.entries(inputSchema.properties)) {
        const { rpcError } = await callTool(scene.agent, name, { [argument]: schema.anyOf ? 7 : wrong[schema.type as string] });
        expect([name, argument, rpcError?.code, rpcError?.message.includes(`“${argument}”`)]).toEqual([name, argument, '-32602', true]);
      }
    }
  }, 120_000);

  it('as names of resources, prompts and cursors: refused as what they are', async () => {
    for (const text of HOSTILE) {
      expect((await rpc(scene.agent, 'resources/read', { uri: `datapipelines://templates/${text}` })).body.error.code.valueOf()).toBe(-32002);
      for (const [method, params] of [['resources/list', { cursor: text }], ['prompts/get', { name: text }], ['tools/call', { name: text }]] as const) {
        expect([method, String((await rpc(scene.agent, method, params)).body.error.code)]).toEqual([method, '-32602']);
      }
    }
  });
}); // prettier-ignore
