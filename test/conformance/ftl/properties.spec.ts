import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTemplate, renderSql, type RenderOutcome } from '#libs/ftl';
import { DIALECTS, lexSql, type Dialect } from '#libs/typesystem';
import { int, parsed, text, type TestContext } from './rendering.js';

const NOW = '2026-08-05T14:30:00Z';

/** Pieces a template is put together from; `s`, `u` are caller's texts, `n` a caller's number. */
const PIECES = [
  'SELECT a FROM t ',
  'WHERE a = ${s} ',
  "AND b = '${s}' ",
  "OR c LIKE '%${s}%${u}' ",
  'AND d = :s ',
  'AND n < ${n + 1} ',
  '<#assign t = s + u>AND e = ${t} ',
  '<#assign f>x = ${s} </#assign>AND (${f}) ',
  '<#list s?split(",") as p>OR p = ${p} </#list>',
  'AND x IN (${[s, u, "lit"]?sql_list}) ',
  '<#macro m p>AND q = ${p?upper_case} </#macro><@m s/>',
  "DATE '2026-01-01' ",
  '-- comment\n',
  '/* note */ ',
  "'it''s' ",
  'ORDER BY a ',
  '<#attempt>${nope}<#recover>AND r = ${s} </#attempt>',
  '${{"k": s}.k} ',
  '${s?replace("a", u)} ',
  '<#function f2 p><#return p + "!"></#function>AND g = ${f2(u)} ',
  '<#escape q as q?trim>AND h = ${s} </#escape>',
  '<#compress> AND   i = ${s} </#compress> ',
  '"quoted" ',
  '${"author"} ',
];

const hostile = fc.oneof(
  fc.constantFrom(
    "'",
    "''",
    '"',
    ';',
    '--',
    '/*',
    '*/',
    '$$',
    '\\',
    "\\'",
    ':x',
    '`',
    ']',
    '\u0000',
    '\uE000',
    '\uE001',
    '\uE0000\uE001',
    '?',
    '$1',
    "' OR '1'='1",
    '\n',
    '#',
    "q'[",
    "E'",
    '${s}',
    '<#if x>',
  ),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const value = fc.array(hostile, { maxLength: 4 }).map((parts) => parts.join(''));
const template = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));

function render(source: string, dialect: Dialect, context: TestContext): RenderOutcome {
  return renderSql(parsed(source), { dialect, now: NOW, context: new Map(Object.entries(context)) });
}

describe('the SQL text does not depend on run-time values', () => {
  it('is the same for hostile and for harmless values of the same shape', () => {
    fc.assert(
      fc.property(template, value, value, fc.integer(), fc.constantFrom(...DIALECTS), (source, s, u, n, dialect) => {
        // A split decides how many items are listed, so both values have the same number of commas.
        const harmless = s.replace(/[^,]/gu, 'x');
        const bad = render(source, dialect, { s: text(s), u: text(u), n: int(n % 1000) });
        const good = render(source, dialect, { s: text(harmless), u: text('y'), n: int(3) });
        expect(bad.ok).toBe(good.ok);
        if (bad.ok && good.ok) {
          expect(bad.namedSql).toBe(good.namedSql);
          expect(bad.binds.map(({ name, type }) => [name, type])).toEqual(
            good.binds.map(({ name, type }) => [name, type]),
          );
        } else if (!bad.ok && !good.ok) expect(bad.problem.reason).toBe(good.problem.reason);
      }),
      { numRuns: 1500 },
    );
  });

  it('binds exactly the names the statement has', () => {
    fc.assert(
      fc.property(template, value, fc.constantFrom(...DIALECTS), (source, s, dialect) => {
        const outcome = render(source, dialect, { s: text(s), u: text(s), n: int(1) });
        if (!outcome.ok) return;
        const names = lexSql(dialect, outcome.namedSql)
          .filter(({ kind }) => kind === 'bind')
          .map((token) => token.text.slice(1));
        expect(new Set(names)).toEqual(new Set(outcome.binds.map(({ name }) => name)));
      }),
      { numRuns: 500 },
    );
  });
});

const SEEDS = [
  ...PIECES,
  '<#if a gt 1>x<#elseif b??>y<#else>z</#if>',
  '<#list xs as x>${x?index}<#sep>, <#else>none</#list>',
  '<#switch x><#case 1>a<#break><#default>b</#switch>',
  '<#macro m a b=1 c...><#nested a></#macro><@m 1; q>${q}</@m>',
  '${(a.b.c)!"d" + 1?string("0.0")}',
  '${xs?filter(x -> x > 1)?map(x -> x * 2)?join(",")}',
  '<#assign a = [1, {"b": 2}], c += 3>',
  '<#t>a<#lt>\n<#rt>\r\n<#nt>',
  '#{1.5; m1M2} ${r"raw"} ${"a${b}c"}',
];
const TOKENS = [
  '<#',
  '</#',
  '>',
  '/>',
  '${',
  '}',
  '"',
  "'",
  '(',
  ')',
  '[',
  ']',
  '{',
  '?',
  '!',
  '??',
  '..',
  '->',
  '\\',
  '<@',
  '</@>',
  '<#--',
  '-->',
  ';',
  ',',
  '=',
  'as',
  'in',
  '\n',
  '&lt;',
  '&amp;&amp;',
  '\u{1F600}',
];

describe('the parser and the interpreter take anything', () => {
  const mutation = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 6 }),
    put: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 3 })),
  });
  const mutated = fc
    .tuple(fc.array(fc.constantFrom(...SEEDS), { minLength: 1, maxLength: 4 }), fc.array(mutation, { maxLength: 6 }))
    .map(([parts, mutations]) =>
      mutations.reduce((source, { at, cut, put }) => {
        const from = source.length === 0 ? 0 : at % source.length;
        return source.slice(0, from) + put + source.slice(from + cut);
      }, parts.join('')),
    );

  it('never throws and never exceeds its bounds on mutated templates', () => {
    const limits = { maxSteps: 20_000, maxIterations: 2_000, maxOutputChars: 100_000 };
    const context = new Map(Object.entries({ s: text('a,b'), u: text('u'), n: int(1) }));
    fc.assert(
      fc.property(mutated, (source) => {
        const outcome = parseTemplate(source);
        if (!outcome.ok) {
          for (const { line, column, message } of outcome.problems) {
            expect(line).toBeGreaterThan(0);
            expect(column).toBeGreaterThan(0);
            expect(message).not.toBe('');
          }
          return;
        }
        const rendered = renderSql(outcome.template, { dialect: 'POSTGRES', context, now: NOW, limits });
        if (rendered.ok) expect(rendered.stats.steps).toBeLessThanOrEqual(limits.maxSteps);
      }),
      { numRuns: 4000 },
    );
  });

  it('renders the same tree to the same output, whatever ran before', () => {
    fc.assert(
      fc.property(template, (source) => {
        const context = { s: text("a'b"), u: text('u'), n: int(1) };
        const tree = parsed(source);
        const input = { dialect: 'POSTGRES' as const, now: NOW, context: new Map(Object.entries(context)) };
        expect(renderSql(tree, input)).toEqual(renderSql(tree, input));
      }),
      { numRuns: 200 },
    );
  });
});
