import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { catalogue } from '#libs/kernel';
import { Checksum } from '../fixtures/matrix-scene.js';
import { ACCEPT, callTool, rpc, toolAnswer } from '../fixtures/mcp.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { describeWithProgram } from '../fixtures/programs.js';

interface Schema {
  type?: string;
  enum?: unknown[];
  pattern?: string;
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

/** Tools that hold slots of a person, of which there are few: one after the other, so that each is really judged. */
const SLOTTED = /^(sql_probe|datasources_|pipelines_execute|pipelines_run_checks|semantics_record|lake_tables_)/;

/** Tool by tool, in lanes side by side. */
async function eachTool<T extends { name: string }>(
  tools: readonly T[],
  work: (tool: T) => Promise<void>,
): Promise<void> {
  const free = tools.filter(({ name }) => !SLOTTED.test(name)).values();
  const lane = async (lined: Iterable<T>): Promise<void> => {
    for (const tool of lined) await work(tool);
  };
  await Promise.all([lane(tools.filter(({ name }) => SLOTTED.test(name))), lane(free), lane(free)]);
}

/** Tools that find nothing and say so in a result. */
const READS = new Set(['pipelines_list', 'templates_list', 'executions_list', 'datasources_list']);

/** A value of the kind a schema asks for, made of one text. */
function filled(schema: Schema, text: string): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return [text];
  // What is no id goes no further; one of nothing lets the service see the rest.
  if (schema.pattern) return '01900000-0000-7000-8000-000000000000';
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
    await eachTool(tools, async ({ name, inputSchema }) => {
      const { properties } = inputSchema;
      if (Object.keys(properties).length === 0) return;
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
    });
    expect(await checksum.now()).toBe(before);
    expect((await scene.tool('sql_probe', { name: 'shop', sql: 'SELECT count(*) FROM orders' })).rows).toEqual([['3']]);
  }, 120_000);

  it('and whole numbers beyond every bound: clamped or refused, never a failure', async () => {
    const before = await checksum.now();
    await eachTool(tools, async ({ name, inputSchema }) => {
      const entries = Object.entries(inputSchema.properties);
      if (!entries.some(([, { type }]) => type === 'integer')) return;
      for (const number of [-1, 0, 2 ** 31, 2 ** 53, 1e300]) {
        const args = Object.fromEntries(entries.map(([argument, schema]) => [argument, schema.type === 'integer' ? number : filled(schema, 'nowhere')]));
        const answer = await callTool(scene.agent, name, args);
        const shown = [name, number];
        expect([...shown, answer.status, answer.rpcError?.code ?? '-32602']).toEqual([...shown, 200, '-32602']);
        if (answer.isError) expect([...shown, Object.hasOwn(catalogue, answer.code ?? '')]).toEqual([...shown, true]);
      }
    });
    expect(await checksum.now()).toBe(before);
  }, 60_000);

  it('of every wrong shape in every argument: a sentence that names it and says what it must be, and nothing is stored', async () => {
    const before = await checksum.now();
    const shapes: [kind: string, value: unknown][] = [
      ['string', 'x'], ['integer', 7], ['number', 1.5], ['integer', 1e300], ['boolean', true], ['null', null], ['array', [1]], ['array', []], ['object', { a: 1 }], ['object', {}],
    ];
    let told = 0;
    for (const { name, inputSchema } of tools) {
      const calls: [argument: string, value: unknown][] = [];
      for (const [argument, schema] of Object.entries(inputSchema.properties)) {
        const fitting = schema.anyOf ? ['string', 'array'] : [schema.type];
        for (const [kind, value] of shapes) {
          // A list of the wrong items is wrong too; an empty one may be right.
          const fits = fitting.includes(kind) && !(kind === 'array' && (value as unknown[]).length > 0);
          if (!fits) calls.push([argument, value]);
        }
      }
      const answers = await Promise.all(calls.map(([argument, value]) => callTool(scene.agent, name, { [argument]: value })));
      for (const [at, { rpcError }] of answers.entries()) {
        const [argument, value] = calls[at]!;
        const shown = [name, argument, JSON.stringify(value)];
        expect([...shown, rpcError?.code, rpcError?.message]).toEqual([...shown, '-32602', expect.stringMatching(new RegExp(`“${argument}(\\[\\d+\\])?” (must|is null|is required|has no|does not)`))]);
        expect([...shown, rpcError?.message.includes(`${name} takes`)]).toEqual([...shown, true]);
        told += 1;
      }
    }
    expect(told).toBeGreaterThan(900);
    expect(await checksum.now()).toBe(before);
  }, 120_000);

  it('huge, deep, or under names that a runtime knows: a refusal that stays small, no failure, and nothing is stored', async () => {
    const before = await checksum.now();
    const deep = (levels: number, open: string, close: string, core: string): string => open.repeat(levels) + core + close.repeat(levels);
    const HUGE = `"${'x'.repeat(1_900_000)}"`;
    const shapes: [what: string, fits: (schema: Schema) => boolean, json: string][] = [
      ['1.9 MB of text', ({ type, enum: allowed, pattern }) => type === 'string' && !allowed && !pattern, HUGE],
      ['a key of 1.9 MB', ({ type }) => type === 'object', `{${HUGE}:1}`],
      ['60 levels of objects', ({ type }) => type === 'object', deep(60, '{"a":', '}', '1')],
      ['60 levels of lists', ({ type }) => type === 'array', deep(60, '[', ']', '1')],
      ['objects in a list, 60 levels', ({ type, items }) => type === 'array' && items?.type === 'object', `[${deep(60, '{"id":', '}', '1')}]`],
      ['__proto__', ({ type }) => type === 'object', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
      ['__proto__ in a list', ({ type, items }) => type === 'array' && items?.type === 'object', '[{"__proto__":{"polluted":true},"toString":1,"hasOwnProperty":null}]'],
      ['control characters', ({ type }) => type === 'object', '{"\\u0007\\u001b[2J\\u202e":"\\u0007\\u001b[2J\\u202e"}'],
      ['100,000 members', ({ type }) => type === 'object', `{${Array.from({ length: 100_000 }, (_, at) => `"k${at}":0`).join()}}`],
      ['100,000 objects', ({ type, items }) => type === 'array' && items?.type === 'object', `[${Array.from({ length: 100_000 }, () => '{}').join()}]`],
    ];
    let sent = 0;
    await eachTool(tools, async ({ name, inputSchema }) => {
      const entries = Object.entries(inputSchema.properties);
      for (const [what, fits, json] of shapes) {
        const fitting = entries.filter(([, schema]) => fits(schema));
        if (fitting.length === 0) continue;
        // The last that fits is the one a service looks at, not the name that it is looked up by.
        const [argument] = fitting.at(-1)!;
        const members = entries.map(([each, schema]) => `${JSON.stringify(each)}:${each === argument ? json : JSON.stringify(filled(schema, 'nowhere/x'))}`);
        const raw = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{${members.join()}}}}`;
        const answer = toolAnswer(await scene.agent.call('POST', '/mcp', undefined, { raw, headers: { ...ACCEPT, 'Content-Type': 'application/json' } }));
        const shown = [name, argument, what];
        expect([...shown, answer.status, answer.rpcError?.code ?? '-32602']).toEqual([...shown, 200, '-32602']);
        expect([...shown, answer.isError !== false || READS.has(name)]).toEqual([...shown, true]);
        if (answer.isError) expect([...shown, Object.hasOwn(catalogue, answer.code ?? '')]).toEqual([...shown, true]);
        if (answer.isError !== false) expect([...shown, answer.text.length < 60_000]).toEqual([...shown, true]);
        expect([...shown, /"polluted"|\u001b\[2J/.test(answer.rpcError?.message ?? '')]).toEqual([...shown, false]);
        sent += 1;
      }
    });
    expect(sent).toBeGreaterThan(90);
    expect(await checksum.now()).toBe(before);
    expect((await scene.tool('docs_list')).length).toBeGreaterThan(5);
  }, 120_000);

  it('missing, unknown, or instead of the arguments: each is told by its name', async () => {
    await eachTool(tools, async ({ name, inputSchema }) => {
      const { properties, required = [] } = inputSchema;
      const none = await callTool(scene.agent, name, {});
      for (const argument of required) expect([name, none.rpcError?.message]).toEqual([name, expect.stringContaining(`“${argument}” is required`)]);
      const unknown = await callTool(scene.agent, name, { definitely_not: 1 });
      expect([name, unknown.rpcError?.code, unknown.rpcError?.message]).toEqual([name, '-32602', expect.stringContaining(`${name} has no argument “definitely_not”`)]);
      for (const [argument] of Object.entries(properties).slice(0, 1)) {
        const near = await callTool(scene.agent, name, { [`${argument}s`]: 'x' });
        expect([name, near.rpcError?.message]).toEqual([name, expect.stringContaining(`Did you mean “${argument}”?`)]);
      }
      for (const instead of ['x', 7, [], true, null]) {
        const { rpcError } = await callTool(scene.agent, name, instead);
        expect([name, instead, rpcError?.code, rpcError?.message]).toEqual([name, instead, '-32602', expect.stringContaining('“arguments” must be an object')]);
      }
    });
  }, 60_000);

  it('as names of resources, prompts and cursors: refused as what they are', async () => {
    for (const text of HOSTILE) {
      expect((await rpc(scene.agent, 'resources/read', { uri: `datapipelines://templates/${text}` })).body.error.code.valueOf()).toBe(-32002);
      for (const [method, params] of [['resources/list', { cursor: text }], ['prompts/get', { name: text }], ['tools/call', { name: text }]] as const) {
        expect([method, String((await rpc(scene.agent, method, params)).body.error.code)]).toEqual([method, '-32602']);
      }
    }
  });
}); // prettier-ignore
