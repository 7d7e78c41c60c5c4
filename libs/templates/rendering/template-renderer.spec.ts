import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { loadConfiguration } from '#libs/kernel';
import type { ContextValue } from '#libs/ftl';
import type { PinnedTemplate, TemplateClosure } from '../pinned-template.js';
import { TemplateRenderer } from './template-renderer.js';

const root = new URL('../../../', import.meta.url);
/** The sources instead of the built script. */
const SCRIPT = {
  url: fileURLToPath(new URL('libs/templates/rendering/render-worker.ts', root)),
  execArgv: ['--no-warnings', '--import', fileURLToPath(new URL('test/fixtures/typescript.mjs', root))],
};

function pinned(body: string, over: Partial<PinnedTemplate> = {}): PinnedTemplate {
  return {
    templateId: '',
    name: 'a/t.sql',
    version: 1,
    status: 'DRAFT',
    dialect: 'POSTGRES',
    isLibrary: false,
    bodyHash: `hash of ${body}`,
    body,
    imports: [],
    ...over,
  };
}
const alone = (body: string): TemplateClosure => ({ template: pinned(body), libraries: new Map() });
const text = (value: string): ContextValue => ({ type: { type: 'STRING' }, value, origin: 'parameter' });
const values = (context: [string, ContextValue][] = []) => ({
  dialect: 'POSTGRES' as const,
  context: new Map(context),
  now: '2026-01-01T00:00:00.000000Z',
});

const SLOW = '<#list 0..<90000 as i><#list [1] as j></#list></#list>';

describe.each([
  ['inline', { DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline' }],
  ['worker', {}],
])('rendering (%s)', (isolation, environment) => {
  let renderer: TemplateRenderer;
  beforeAll(() => {
    renderer = TemplateRenderer.withWorker(loadConfiguration(environment), SCRIPT);
  });
  afterAll(() => renderer.onModuleDestroy());

  it('binds values, and hands exact ones through unchanged', async () => {
    const context: [string, ContextValue][] = [
      ['region', text("x' OR '1'='1")],
      [
        'amount',
        {
          type: { type: 'BIGDECIMAL', scale: 2 },
          value: { unscaled: 12345678901234567890n, scale: 2 },
          origin: 'parameter',
        },
      ],
      ['raw', { type: { type: 'BINARY' }, value: new Uint8Array([0, 255]), origin: 'parameter' }],
    ];
    const outcome = await renderer.render(alone('SELECT :amount, :raw WHERE r = ${region}'), values(context));
    expect(outcome).toMatchObject({ ok: true, namedSql: 'SELECT :amount, :raw WHERE r = :region' });
    if (!outcome.ok) return;
    const bound = new Map(outcome.binds.map((bind) => [bind.name, bind.value]));
    expect(bound.get('amount')).toEqual({ unscaled: 12345678901234567890n, scale: 2 });
    expect([...(bound.get('raw') as Uint8Array)]).toEqual([0, 255]);
    expect(bound.get('region')).toBe("x' OR '1'='1");
  });

  it('reaches libraries of libraries by alias, and fails closed when one is gone', async () => {
    const inner = pinned('<#macro one>1</#macro>', { name: 'l/inner', isLibrary: true });
    const outer = pinned('<#macro two><@I.one/>, 2</#macro>', {
      name: 'l/outer',
      isLibrary: true,
      imports: [{ id: 'l/inner', version: 1, alias: 'I' }],
    });
    const template = pinned('SELECT <@O.two/>', { imports: [{ id: 'l/outer', version: 1, alias: 'O' }] });
    const whole = {
      template,
      libraries: new Map([
        ['l/outer@1', outer],
        ['l/inner@1', inner],
      ]),
    };
    expect(await renderer.render(whole, values())).toMatchObject({ ok: true, namedSql: 'SELECT 1, 2' });
    const broken = await renderer.render({ template, libraries: new Map([['l/outer@1', outer]]) }, values());
    expect(broken).toMatchObject({ ok: false, problem: { kind: 'render_error' } });
  });

  it('tells trees apart by hash, because a draft is overwritten under its number', async () => {
    expect(await renderer.render(alone('SELECT 1'), values())).toMatchObject({ namedSql: 'SELECT 1' });
    expect(await renderer.render(alone('SELECT 2'), values())).toMatchObject({ namedSql: 'SELECT 2' });
  });

  it('answers every failure with a tagged outcome', async () => {
    expect(await renderer.render(alone('SELECT ${nope}'), values())).toMatchObject({
      ok: false,
      problem: { kind: 'undefined_variable', variable: 'nope', line: 1 },
    });
    expect(await renderer.inspect('<#if>')).toMatchObject({ ok: false, problems: [{ code: 'syntax_error' }] });
    expect(await renderer.inspect('<#macro m>1</#macro>')).toEqual({ ok: true, isLibrary: true });
  });

  it('rejects with the caller’s own reason when the caller gave up', async () => {
    const reason = new TypeError('gave up');
    await expect(renderer.render(alone('SELECT 1'), values(), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it(`stops at its deadline (${isolation})`, async () => {
    const hasty = TemplateRenderer.withWorker(
      loadConfiguration({
        ...environment,
        DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '10',
        DATAPIPELINES_TEMPLATES_MAX_ITERATIONS: '1000000000',
        DATAPIPELINES_TEMPLATES_MAX_STEPS: '1000000000',
      }),
      SCRIPT,
    );
    const outcome = await hasty.render(alone(SLOW.repeat(50)), values());
    expect(outcome).toMatchObject({ ok: false, problem: { kind: 'guard', guard: 'render-timeout-ms' } });
    await hasty.onModuleDestroy();
  });
});

describe('the cache of parsed templates', () => {
  it.each([
    ['0', 'kept: none', ['b', 'd']],
    ['1', 'kept: the last one only', ['b', 'd']],
    ['2', 'kept: both', ['a', 'c']],
  ])('keeps as many trees as cache-size says (%s, %s)', async (size, _kept, [first, second]) => {
    const renderer = TemplateRenderer.withWorker(
      loadConfiguration({
        DATAPIPELINES_TEMPLATES_CACHE_SIZE: size,
        DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline',
      }),
      SCRIPT,
    );
    // Two bodies under one hash, which never happens: what is printed tells whether the tree was read anew.
    const printing = async (name: string, body: string) => {
      const template = pinned(`\${'${body}'?lower_case}`, { name, bodyHash: name });
      const outcome = await renderer.render({ template, libraries: new Map() }, values());
      return outcome.ok ? outcome.namedSql : outcome.problem.kind;
    };
    expect([await printing('l/one', 'A'), await printing('l/two', 'C')]).toEqual(['a', 'c']);
    expect([await printing('l/one', 'B'), await printing('l/two', 'D')]).toEqual([first, second]);
    if (size === '1') expect(await printing('l/two', 'E')).toBe('d');
    await renderer.onModuleDestroy();
  });
});

describe('worker threads', () => {
  it('replaces a thread that was stopped, and goes on rendering', async () => {
    const renderer = TemplateRenderer.withWorker(
      loadConfiguration({
        DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '1500',
        DATAPIPELINES_TEMPLATES_MAX_STRING_CHARS: '1048576',
      }),
      SCRIPT,
    );
    // A pattern that backtracks for ages: no step counter sees it, only the end of its thread.
    const catastrophe = alone(`<#assign s = "${'a'.repeat(40)}!">\${s?matches("(a+)+b")?string("y","n")}`);
    const stopped = await renderer.render(catastrophe, values());
    expect(stopped).toMatchObject({ ok: false, problem: { guard: 'render-timeout-ms' } });
    const next = await Promise.all(Array.from({ length: 20 }, () => renderer.render(alone('SELECT 1'), values())));
    expect(next.every(({ ok }) => ok)).toBe(true);
    await renderer.onModuleDestroy();
  });

  const catastrophe = (): TemplateClosure =>
    alone(`<#assign s = "${'a'.repeat(40)}!">\${s?matches("(a+)+b")?string("y","n")}`);

  it.each([
    ['a loop without end', 'max-iterations', '<#list 1.. as x></#list>'],
    ['a macro that calls itself', 'max-call-depth', '<#macro m><@m/></#macro><@m/>'],
    ['a text that doubles', 'max-string-chars', '<#assign s = "ab"><#list 1..60 as x><#assign s = s + s></#list>'],
    ['a list that doubles', 'max-collection-items', '<#assign s = [1]><#list 1..60 as x><#assign s = s + s></#list>'],
    ['output without end', 'max-output-chars', '<#list 1..99999 as x>${"a"?left_pad(1000)}</#list>'],
    [
      'work without end',
      'max-steps',
      '<#list 1..300 as x><#list 1..300 as y>${(x * y + x - y) * (x + y) - x * (y + 1)}</#list></#list>'.repeat(2),
    ],
  ])('%s trips its guard, and the same thread renders on', async (_what, guard, body) => {
    const renderer = TemplateRenderer.withWorker(
      loadConfiguration({ DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '20000' }),
      SCRIPT,
    );
    const stopped = await renderer.render(alone(body), values());
    expect(stopped).toMatchObject({ ok: false, problem: { kind: 'guard', guard } });
    expect(await renderer.render(alone('SELECT ${1 + 1}'), values())).toMatchObject({ ok: true, namedSql: 'SELECT 2' });
    await renderer.onModuleDestroy();
  });

  it('ends a render that takes more memory than one may, and not the process', async () => {
    const renderer = TemplateRenderer.withWorker(
      loadConfiguration({ DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '20000' }),
      SCRIPT,
    );
    const greedy = '<#assign l = []><#list 1..3000 as i><#assign l = l + ["a"?left_pad(1000000, i + "b")]></#list>';
    const stopped = await renderer.render(alone(greedy), values());
    expect(stopped).toMatchObject({ ok: false, problem: { message: expect.stringContaining('memory') } });
    expect(await renderer.render(alone('SELECT ${1 + 1}'), values())).toMatchObject({ ok: true });
    await renderer.onModuleDestroy();
  });

  it('says when too many wait, and takes the next once they are gone', async () => {
    const renderer = TemplateRenderer.withWorker(
      loadConfiguration({ DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '4000' }),
      SCRIPT,
    );
    const outcomes = await Promise.all(Array.from({ length: 1100 }, () => renderer.render(catastrophe(), values())));
    const guards = new Set(outcomes.map((outcome) => (outcome.ok ? 'rendered' : outcome.problem.guard)));
    expect(guards).toEqual(new Set(['render-timeout-ms', 'capacity']));
    expect(await renderer.render(alone('SELECT ${1 + 1}'), values())).toMatchObject({ ok: true });
    await renderer.onModuleDestroy();
  });

  it('never takes a scan that was stopped for one that found nothing', async () => {
    const renderer = TemplateRenderer.withWorker(
      loadConfiguration({ DATAPIPELINES_TEMPLATES_RENDER_TIMEOUT_MS: '4000' }),
      SCRIPT,
    );
    const busy = Array.from({ length: 16 }, () => renderer.render(catastrophe(), values()));
    const found = await renderer.scan(alone('${region}'), { parameters: new Set(['region']) });
    expect(found).toBeNull();
    await Promise.all(busy);
    expect(await renderer.scan(alone('${region}'), { parameters: new Set(['region']) })).toHaveLength(1);
    await renderer.onModuleDestroy();
  });

  it('aborts a render under way', async () => {
    const renderer = TemplateRenderer.withWorker(loadConfiguration({}), SCRIPT);
    const catastrophe = alone(`<#assign s = "${'a'.repeat(40)}!">\${s?matches("(a+)+b")?string("y","n")}`);
    const controller = new AbortController();
    const reason = new TypeError('cancelled');
    setTimeout(() => controller.abort(reason), 800);
    await expect(renderer.render(catastrophe, values(), controller.signal)).rejects.toBe(reason);
    await renderer.onModuleDestroy();
  });
});
