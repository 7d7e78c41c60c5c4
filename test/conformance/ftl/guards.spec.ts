import { describe, expect, it } from '@jest/globals';
import type { RenderLimits } from '#libs/ftl';
import { parsed, printed, sql, text } from './rendering.js';

/** Each template tries to use without bound what the guard bounds (contract 05 §6). */
const TRIPS: [string, string, Partial<RenderLimits>][] = [
  [
    'max-steps',
    '<#list 1..1000 as x><#list 1..1000 as y>${x * y}</#list></#list>',
    { maxSteps: 10_000, maxIterations: 1e9 },
  ],
  ['max-iterations', '<#list 1.. as x></#list>', {}],
  ['max-iterations', '<#list 1..1000 as x><#list 1..1000 as y></#list></#list>', { maxIterations: 5000 }],
  ['max-output-chars', '<#list 1..100 as x>aaaaaaaaaa</#list>', { maxOutputChars: 500 }],
  ['max-output-chars', '<#list 1..100 as x><#assign a>aaaaaaaaaa</#assign></#list>', { maxOutputChars: 500 }],
  ['max-call-depth', '<#macro m><@m/></#macro><@m/>', {}],
  ['max-call-depth', '<#function f x><#return f(x + 1)></#function>${f(1)}', {}],
  ['max-call-depth', '<#macro m><@m><#nested></@m></#macro><@m>x</@m>', {}],
  ['max-call-depth', '<#macro a><@b/></#macro><#macro b><@a/></#macro><@a/>', {}],
  ['max-string-chars', '<#assign s = "aaaaaaaaaa"><#list 1..50 as x><#assign s = s + s></#list>', {}],
  ['max-string-chars', '${"a"?left_pad(100000000)}', {}],
  ['max-string-chars', '<#assign s = "ab"?right_pad(1000)>${s?replace("", s)}', { maxStringChars: 5000 }],
  ['max-collection-items', '<#assign s = [1, 2]><#list 1..50 as x><#assign s = s + s></#list>', {}],
  ['max-collection-items', '${(1..10000000)?reverse?size}', {}],
  ['max-collection-items', '${(1..)?join(",")}', {}],
  ['max-collection-items', '${"aaaaaaaaaaaa"?split("")?size}', { maxCollectionItems: 10 }],
];

describe('guards bound what a template can use', () => {
  it.each(TRIPS)('%s: %s', (guard, template, limits) => {
    expect(sql(template, {}, { limits })).toMatchObject({ ok: false, problem: { kind: 'guard', guard } });
  });

  it('cannot be caught by attempt', () => {
    const template = '<#attempt><#list 1.. as x></#list><#recover>caught</#attempt>';
    expect(sql(template)).toMatchObject({ ok: false, problem: { guard: 'max-iterations' } });
  });

  it('stops at the deadline inside a loop, by the clock it is given', () => {
    let now = 0;
    const limits = { maxSteps: 1e9, maxIterations: 1e9, deadline: 50, clock: () => now++ };
    const outcome = sql('<#list 1..100000 as x><#assign y = x></#list>', {}, { limits });
    expect(outcome).toMatchObject({ ok: false, problem: { guard: 'render-timeout-ms' } });
    expect(now).toBeLessThan(100);
  });

  it('refuses a number of more than 1,000 digits instead of computing on', () => {
    const template = '<#assign n = 10><#list 1..20 as x><#assign n = n * n></#list>';
    expect(sql(template)).toMatchObject({ ok: false, problem: { reason: 'number_too_large' } });
  });

  it('lets deep calls of deep expressions trip the guard, never the JavaScript stack', () => {
    const body = `${'('.repeat(150)}f(x + 1)${')'.repeat(150)}`;
    const template = `<#function f x><#return ${body}></#function>\${f(1)}`;
    expect(sql(template)).toMatchObject({ ok: false, problem: { kind: 'guard', guard: 'max-call-depth' } });
    const tags = `<#macro m>${'<#if true>'.repeat(150)}<@m/>${'</#if>'.repeat(150)}</#macro><@m/>`;
    expect(sql(tags)).toMatchObject({ ok: false, problem: { kind: 'guard', guard: 'max-call-depth' } });
  });

  it('an escape nested in escapes costs steps, not memory', () => {
    const depth = 60;
    const template = `${'<#escape x as x + x>'.repeat(depth)}\${"a"}${'</#escape>'.repeat(depth)}`;
    expect(sql(template)).toMatchObject({ ok: false, problem: { kind: 'guard' } });
  });

  it('keeps 150 calls of usual bodies within the default limits', () => {
    const template = '<#function f n><#if n lte 0><#return 0><#else><#return 1 + f(n - 1)></#if></#function>${f(150)}';
    expect(printed(template)).toBe('150');
  });

  it('errors carry the macros being run, innermost first', () => {
    const template = parsed('<#macro inner a>${a.b.c}</#macro><#macro outer><@inner s/></#macro>\n <@outer/>');
    expect(template.macros).toHaveLength(2);
    const outcome = sql('<#macro inner a>${nope}</#macro>\n<#macro outer><@inner 1/></#macro><@outer/>', {
      s: text('x'),
    });
    expect(outcome).toMatchObject({
      ok: false,
      problem: { kind: 'undefined_variable', variable: 'nope', macroStack: ['inner', 'outer'], line: 1, column: 19 },
    });
  });
});
