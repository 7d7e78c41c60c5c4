import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { stringify } from 'lossless-json';
import type { Answer } from '../fixtures/api-client.js';
import { oneNodePipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { describeWithProgram } from '../fixtures/programs.js';

type Body = Record<string, unknown>;
const node = (id: string, more: Body = {}): Body => ({
  ...{ id, type: 'DQL', source: 'tempdb', template: { id: 'hostile/one.sql', version: 1 } },
  ...{ output: { target: 'tempdb', table: `t_${id}` }, ...more },
});
const pipeline = (more: Body = {}): Body => ({
  ...{ name: 'hostile/document', display_name: 'H', description: '', parameters: {}, nodes: [node('a')], ...more },
});
const ring = (size: number): Body[] =>
  Array.from({ length: size }, (_, at) => node(`n${at}`, { depends_on: [`n${(at + 1) % size}`] }));
const text = (body: Body): string => stringify(body) as string;
const V = 'pipeline.validation';
/** What is no document at all has the code of every malformed request; its reason says which. */
const MALFORMED = 'pipeline.execution.invalid_parameter_type';

/** Name, body as it is sent, and the code of the answer. */
const DOCUMENTS: [string, string, string, number][] = [
  ['20,000 lists deep', text(pipeline()).replace('"H"', '['.repeat(20_000)), MALFORMED, 400],
  ['a key twice', text(pipeline()).replace('{', '{"name":"hostile/other",'), MALFORMED, 400],
  ['a number of 10,000 digits', text(pipeline()).replace('"H"', '9'.repeat(10_000)), MALFORMED, 400],
  ['an exponent of a million', text(pipeline()).replace('"H"', '1e1000000'), MALFORMED, 400],
  ['U+0000', text(pipeline({ description: 'a\u0000b' })), MALFORMED, 400],
  ['half a character', text(pipeline()).replace('"H"', '"\\ud800"'), MALFORMED, 400],
  ['three megabytes', text(pipeline({ description: 'x'.repeat(3 << 20) })), 'request.body_too_large', 413],
  ['1,001 nodes', text(pipeline({ nodes: ring(1001) })), `${V}.pipeline_too_large`, 400],
  ['no node', text(pipeline({ nodes: [] })), `${V}.empty_pipeline`, 400],
  ['nodes that are an object', text(pipeline({ nodes: { a: 1 } })), 'pipeline.execution.invalid_parameter_type', 400],
  ['a node that is a number', text(pipeline({ nodes: [7] })), 'pipeline.execution.invalid_parameter_type', 400],
  ['a type of another kind', text(pipeline({ nodes: [node('a', { type: 7 })] })), `${V}.type_invalid`, 400],
  ['a node that waits for itself', text(pipeline({ nodes: ring(1) })), `${V}.cycle_detected`, 400],
  ['a ring of 1,000 nodes', text(pipeline({ nodes: ring(1000) })), `${V}.cycle_detected`, 400],
  ['a path that climbs', text(pipeline({ name: 'hostile/../../etc' })), `${V}.name_invalid`, 400],
  ['a name that reads backwards', text(pipeline({ name: 'hostile/\u202egpj' })), `${V}.name_invalid`, 400],
  [
    'a name of 100,000 characters',
    text(pipeline({ name: `hostile/${'a'.repeat(100_000)}` })),
    `${V}.name_invalid`,
    400,
  ],
  ['an id that is SQL', text(pipeline({ nodes: [node('a"; DROP TABLE t')] })), `${V}.invalid_identifier`, 400],
  [
    'a table that ends its quotes',
    text(pipeline({ nodes: [node('a', { output: { target: 'tempdb', table: 'x" AS SELECT 1' } })] })),
    ...([`${V}.invalid_identifier`, 400] as const),
  ],
  [
    'a parameter __proto__',
    text(pipeline()).replace('"parameters":{}', '"parameters":{"__proto__":{"type":"STRING"}}'),
    `${V}.parameter_name_invalid`,
    400,
  ],
];

/** Templates that parse, and what stops them when they are tried. */
const RUNAWAYS: [string, string][] = [
  ['loops for ever', 'SELECT 1 <#list 1.. as i></#list>'],
  ['loops in loops', 'SELECT 1 <#list 1..90000 as i><#list 1..90000 as j></#list></#list>'],
  ['calls itself', '<#macro m><@m/></#macro>SELECT 1 <@m/>'],
  ['prints without end', 'SELECT 1 <#list 1..99999 as i>${"x"?left_pad(1000)}</#list>'],
  ['doubles a text', '<#assign s = "xxxxxxxxxxxxxxxx"><#list 1..60 as i><#assign s = s + s></#list>SELECT 1'],
  ['doubles a sequence', '<#assign s = [1, 2]><#list 1..60 as i><#assign s = s + s></#list>SELECT 1'],
  ['doubles a number', '<#assign n = 9999999><#list 1..60 as i><#assign n = n * n></#list>SELECT 1'],
  ['searches for ever', 'SELECT 1 <#if ("a"?left_pad(40, "a") + "!")?matches("(a+)+b")>x</#if>'],
];

/** Values of a wrong form, for one parameter of each type. */
const VALUES: [type: string, sent: string][] = [
  ...(['"5"', '5.0', '1e3', '2147483648', 'true', '[1]', '{}'] as const).map(
    (sent) => ['INTEGER', sent] as [string, string],
  ),
  ...(['5', '"5.0"', '"9223372036854775808"', '"0x10"'] as const).map(
    (sent) => ['BIGINTEGER', sent] as [string, string],
  ),
  ...(['1e5', '"1e5"', '"+1"', '" 1"'] as const).map((sent) => ['BIGDECIMAL', sent] as [string, string]),
  ...(['"true"', '1', '"1"'] as const).map((sent) => ['BOOLEAN', sent] as [string, string]),
  ...(['5', '["a"]'] as const).map((sent) => ['STRING', sent] as [string, string]),
  ...(['"AP8"', '"_-8="', '"A==="'] as const).map((sent) => ['BINARY', sent] as [string, string]),
  ...(['"2026-02-29"', '"2026-2-1"', '20260201', '"0000-01-01"'] as const).map(
    (sent) => ['DATE', sent] as [string, string],
  ),
  ...(['"24:00:00"', '"10:00:00.1234567"', '"1000"'] as const).map((sent) => ['TIME', sent] as [string, string]),
  ...(['"2026-01-01T00:00:00"', '"2026-01-01"', '"2026-01-01T00:00:00+19:00"'] as const).map(
    (sent) => ['TIMESTAMP', sent] as [string, string],
  ),
];

describeWithProgram('redis-server', 'hostile documents, templates and parameters, from outside', (redis) => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, env: { DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '2000' } });
    await releasedTemplate(deployment.author, { id: 'hostile/one.sql', dialect: 'DUCKDB', body: 'SELECT 1 AS one' });
  }, 90_000);

  afterAll(() => deployment?.stop());

  /** A request that does not come to an end fails the test; how long it took is not judged. */
  const post = (path: string, raw: string): Promise<Answer> =>
    deployment.author.call('POST', path, undefined, { raw, signal: AbortSignal.timeout(30_000) });
  const stored = async (): Promise<unknown> =>
    (
      await deployment.metadata(`SELECT (SELECT count(*) FROM pipelines) AS p, (SELECT count(*) FROM pipeline_versions) AS v,
        (SELECT count(*) FROM pipeline_executions) AS e, (SELECT count(*) FROM templates) AS t`)
    )[0];
  /** The server has not been troubled: it answers at once what it answered before. */
  const stillServes = async (): Promise<void> => {
    expect((await deployment.author.call('GET', '/api/v1/pipelines?limit=1')).status).toBe(200);
    const lines = deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    expect(lines).toEqual([]);
  };

  it.each(DOCUMENTS)(
    'refuses a document with %s, by its code, in a short answer, and stores nothing',
    async (...row) => {
      const [, body, code, status] = row;
      const before = await stored();
      const answer = await post('/api/v1/pipelines', body);
      expect([answer.status, answer.body.error.code]).toEqual([status, code]);
      expect(answer.text.length).toBeLessThan(200_000);
      expect(answer.text).not.toMatch(/a{100}|\u202e/);
      expect(await stored()).toEqual(before);
      await stillServes();
    },
  );

  it.each(RUNAWAYS)(
    'refuses a pipeline whose template %s, names the guard, and goes on serving',
    async (name, body) => {
      const id = `hostile/${name.replaceAll(' ', '_')}.sql`;
      await releasedTemplate(deployment.author, { id, dialect: 'DUCKDB', body });
      const before = await stored();
      const answer = await post(
        '/api/v1/pipelines',
        text(pipeline({ nodes: [node('a', { template: { id, version: 1 } })] })),
      );
      expect([answer.status, answer.body.error.code]).toEqual([400, `${V}.template_render_failed`]);
      const [{ details }] = answer.body.error.details.failures;
      expect(details.guard ?? details.reason ?? answer.body.error.message).toMatch(
        /max-|timeout|number_too_large|too large/,
      );
      const preview = await post('/api/v1/templates/render', text({ name: id, context: {} }));
      expect([preview.status, preview.body.error.code]).toEqual([400, `${V}.template_render_failed`]);
      expect(await stored()).toEqual(before);
      await stillServes();
    },
  );

  it('refuses every value of a wrong form, all of them in one answer, before there is a run', async () => {
    const declared = Object.fromEntries(
      VALUES.map(([type], at) => [`p${at}`, { type, required: true, ...(type === 'BIGDECIMAL' ? { scale: 2 } : {}) }]),
    );
    const id = await oneNodePipeline(deployment.author, {
      ...{
        name: 'hostile/parameters',
        source: 'tempdb',
        dialect: 'DUCKDB',
        sql: 'SELECT 1 AS one',
        parameters: declared,
      },
    });
    const before = await stored();
    const sent = VALUES.map(([, value], at) => `"p${at}":${value}`).join();
    const answer = await post(`/api/v1/pipelines/${id}/execute`, `{"parameters":{${sent}}}`);
    expect(answer.status).toBe(400);
    const { failures } = answer.body.error.details;
    expect(failures.map(({ path }: Body) => path)).toEqual(VALUES.map((_, at) => `parameters.p${at}`));
    expect(new Set(failures.map(({ code }: Body) => code))).toEqual(
      new Set(['pipeline.execution.invalid_parameter_type', 'pipeline.execution.parameter_constraint_violation']),
    );
    expect(await stored()).toEqual(before);
    await stillServes();
  });
});
