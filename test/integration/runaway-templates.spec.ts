import { beforeAll, describe, expect, it } from '@jest/globals';
import { TemplateRenderer } from '#libs/templates';
import { usePipelineBench } from '../fixtures/pipeline-bench.js';
import { failuresOf, refusal } from '../fixtures/pipelines.js';

const bench = usePipelineBench({ DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '1000' });

const DOUBLING = `<#assign s = "x">${'<#assign s = s + s>'.repeat(40)}`;

/** Bodies that parse, so that only rendering them shows what they do. */
const RUNAWAYS: readonly (readonly [string, string])[] = [
  ['a loop without an end in sight', 'SELECT <#list 0..<90000 as i><#list 0..<90000 as j>1</#list></#list>'],
  ['a loop over an endless range', 'SELECT <#list 1.. as i>1,</#list> 1'],
  ['a macro that calls itself', '<#macro m><@m/></#macro>SELECT <@m/>'],
  ['a function that calls itself', '<#function f x><#return f(x + 1)></#function>SELECT ${f(1)?c}'],
  ['two macros that call each other', '<#macro a><@b/></#macro><#macro b><@a/></#macro>SELECT <@a/>'],
  ['a text that doubles forty times', `${DOUBLING}SELECT 1 -- \${s}`],
  ['an output that grows without bound', 'SELECT <#list 0..<90000 as i>${"x"?left_pad(1000)}</#list>'],
  ['a text padded to a billion', 'SELECT ${"x"?left_pad(1000000000)}'],
];

/** Bodies that no save needs to render to refuse. */
const UNPARSABLE: readonly (readonly [string, string])[] = [
  ['a body longer than any may be', `SELECT ${'1,'.repeat(200_000)} 1`],
  ['tags nested a thousand deep', `${'<#if true>'.repeat(1000)}SELECT 1${'</#if>'.repeat(1000)}`],
  ['an expression nested ten thousand deep', `SELECT \${${'('.repeat(10_000)}1${')'.repeat(10_000)}}`],
  ['a hundred thousand open tags', '<#if true>'.repeat(26_000)],
  ['a hundred thousand open strings', 'SELECT ${"'.repeat(20_000)],
];

let stored: () => Promise<unknown>;
beforeAll(() => {
  stored = () =>
    bench.db.database.query(
      `SELECT (SELECT count(*) FROM templates) AS t, (SELECT count(*) FROM template_versions) AS tv,
              (SELECT count(*) FROM pipelines) AS p, (SELECT count(*) FROM pipeline_versions) AS pv,
              (SELECT count(*) FROM audit_log) AS a`,
    );
});

describe('saving a pipeline on a template that runs away', () => {
  it.each(RUNAWAYS)('stores nothing and names the guard: %s', async (_name, body) => {
    const template = { id: await bench.newTemplate({ body }), version: 1 };
    const before = await stored();
    const refused = await refusal(
      bench.authoring.create(bench.team.principal(), bench.body({ nodes: [bench.node({ template })] })),
    );
    expect(failuresOf(refused).map(({ code, path }) => [code, path])).toEqual([
      ['pipeline.validation.template_render_failed', 'nodes[0].template'],
    ]);
    expect(JSON.stringify(refused.toBody()).length).toBeLessThan(4000);
    expect(await stored()).toEqual(before);
  });

  it('keeps what an update would have replaced', async () => {
    const template = { id: await bench.newTemplate({ body: RUNAWAYS[2]![1] }), version: 1 };
    const made = await bench.authoring.create(bench.team.principal(), bench.body());
    const before = await stored();
    const body = bench.rewrite(made, { nodes: [bench.node({ template })] });
    const refused = await refusal(bench.authoring.update(bench.team.principal(), made.id, body, made.body_hash));
    expect(failuresOf(refused).map(({ code }) => code)).toEqual(['pipeline.validation.template_render_failed']);
    expect(await stored()).toEqual(before);
    expect((await bench.reading.read(bench.team.principal(), made.id)).body_hash).toBe(made.body_hash);
  });

  it('answers for twenty of them at once, each at its node', async () => {
    const template = { id: await bench.newTemplate({ body: RUNAWAYS[0]![1] }), version: 1 };
    const nodes = Array.from({ length: 20 }, (_, n) =>
      bench.node({ id: `n${n}`, template, output: { target: 'tempdb', table: `t${n}` } }),
    );
    const refused = await refusal(bench.authoring.create(bench.team.principal(), bench.body({ nodes })));
    expect(failuresOf(refused).map(({ path }) => path)).toEqual(nodes.map((_, n) => `nodes[${n}].template`));
  });
});

describe('saving a pipeline whose template could not be scanned in time', () => {
  it('refuses, because nobody knows then whether a parameter is printed into the statement', async () => {
    const template = { id: await bench.newTemplate({ body: 'SELECT <#if true>1</#if>' }), version: 1 };
    const renderer = bench.instance.get(TemplateRenderer);
    const scan = renderer.scan.bind(renderer);
    const before = await stored();
    renderer.scan = () => Promise.resolve(null);
    try {
      const refused = await refusal(
        bench.authoring.create(bench.team.principal(), bench.body({ nodes: [bench.node({ template })] })),
      );
      expect(failuresOf(refused)).toMatchObject([
        {
          code: 'pipeline.validation.template_render_failed',
          path: 'nodes[0].template',
          details: { reason: 'budget', template_id: template.id },
        },
      ]);
    } finally {
      renderer.scan = scan;
    }
    expect(await stored()).toEqual(before);
  });
});

describe('saving a template that cannot be read', () => {
  it.each(UNPARSABLE)('stores nothing, neither new nor over a draft: %s', async (_name, body) => {
    const id = await bench.newTemplate();
    const before = await stored();
    const fields = { dialect: 'POSTGRES', display_name: 'T', description: '', body };
    const refused = await refusal(bench.templates.create(bench.team.principal(), { ...fields, id: `${id}.new` }));
    expect(failuresOf(refused).map(({ code, path }) => [code, path])).toEqual([
      ['template.validation.syntax_error', 'body'],
    ]);
    expect(JSON.stringify(refused.toBody()).length).toBeLessThan(4000);
    expect(await stored()).toEqual(before);
  });
});
