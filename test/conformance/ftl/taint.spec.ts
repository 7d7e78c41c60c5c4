import { describe, expect, it } from '@jest/globals';
import { bound, date, decimal, int, text, value, type TestContext } from './rendering.js';

const context: TestContext = {
  s: text("it's"),
  n: int(7),
  big: value('BIGINTEGER', 9n),
  money: decimal(1250n, 2),
  d: date('2026-01-02'),
  t: value('TIME', 52_200_000_000),
  ts: value('TIMESTAMP', 1_767_348_000_000_000n),
  approx: value({ type: 'DECIMAL', precision: 15 }, 0.1),
  bytes: value('BINARY', new Uint8Array([1, 2])),
};

/** Every way a run-time value could reach the SQL text: it is bound, with the type it has got. */
const FLOWS: [string, string, string[]][] = [
  ['<#assign a = s>${a}', ':s', ["s STRING it's"]],
  ['<#macro m p>${p}</#macro><@m s/>', ':s', ["s STRING it's"]],
  ['<#function f p><#return p></#function>${f(s)}', ':s', ["s STRING it's"]],
  ['<#list [s] as p>${p}</#list>', ':s', ["s STRING it's"]],
  ['<#list {"k": s} as k, p>${p}</#list>', ':s', ["s STRING it's"]],
  ['${[s][0]}', ':s', ["s STRING it's"]],
  ['${{"a": s}.a}', ':s', ["s STRING it's"]],
  ['${s!"x"}', ':s', ["s STRING it's"]],
  ['${true?then(s, "x")}', ':s', ["s STRING it's"]],
  ['${1?switch(1, s)}', ':s', ["s STRING it's"]],
  ['${.data_model.s}', ':s', ["s STRING it's"]],
  ['${.vars["s"]}', ':s', ["s STRING it's"]],
  ['${[s]?first}', ':s', ["s STRING it's"]],
  ['<#macro m><#nested s></#macro><@m ; p>${p}</@m>', ':s', ["s STRING it's"]],
  ['${s + "!"}', ':__b1__', ["__b1__ STRING it's!"]],
  ['${"${s}!"}', ':__b1__', ["__b1__ STRING it's!"]],
  ['${s?upper_case}', ':__b1__', ["__b1__ STRING IT'S"]],
  ['${s[0..1]}', ':__b1__', ['__b1__ STRING it']],
  ['${s[0]}', ':__b1__', ['__b1__ STRING i']],
  ['${s?replace("x", "y")}', ':__b1__', ["__b1__ STRING it's"]],
  ['${"a-b"?replace("-", s)}', ':__b1__', ["__b1__ STRING ait'sb"]],
  ['${["a", s]?join(",")}', ':__b1__', ["__b1__ STRING a,it's"]],
  ['${["a", "b"]?join(s)}', ':__b1__', ["__b1__ STRING ait'sb"]],
  ['${s?split("\'")[1]}', ':__b1__', ['__b1__ STRING s']],
  ['${s?matches(".*")[0]}', ':__b1__', ["__b1__ STRING it's"]],
  ['${{s: 1}?keys[0]}', ':__b1__', ["__b1__ STRING it's"]],
  ['<#list {s: 1} as k, v>${k}</#list>', ':s', ["s STRING it's"]],
  ['${"x"?left_pad(6, s)}', ':__b1__', ["__b1__ STRING it'six"]],
  ['<#escape p as p?lower_case>${s}</#escape>', ':__b1__', ["__b1__ STRING it's"]],
  [
    '<#attempt>${[{}]?sort_by(s)?size}<#recover>${.error}</#attempt>',
    ':__b1__',
    ['__b1__ STRING ?sort_by: an item has no member of that name.'],
  ],
  ['${"it"?matches(s[0..1])[0]}', ':__b1__', ['__b1__ STRING it']],
  ['${n + 1}', ':__b1__', ['__b1__ INTEGER 8']],
  ['${n * 1000000000}', ':__b1__', ['__b1__ BIGDECIMAL 7000000000e-0']],
  ['${n / 2}', ':__b1__', ['__b1__ BIGDECIMAL 35e-1']],
  ['${n + big}', ':__b1__', ['__b1__ BIGDECIMAL 16e-0']],
  ['${money + 1}', ':__b1__', ['__b1__ DECIMAL 1350e-2']],
  ['${money * money}', ':__b1__', ['__b1__ DECIMAL 15625e-2']],
  ['${approx + 1}', ':__b1__', ['__b1__ DECIMAL 1.1']],
  ['${-n}', ':__b1__', ['__b1__ INTEGER -7']],
  ['${n?abs}', ':__b1__', ['__b1__ INTEGER 7']],
  ['${n?string}', ':__b1__', ['__b1__ STRING 7']],
  ['#{money; m3}', ':__b1__', ['__b1__ STRING 12.500']],
  ['${d}', ':d', ['d DATE 2026-01-02']],
  ['${d?date.iso}', ':__b1__', ['__b1__ DATE 2026-01-02']],
  ['${d?date.iso?string("yyyy")}', ':__b1__', ['__b1__ STRING 2026']],
  ['${d?substring(0, 4)}', ':__b1__', ['__b1__ STRING 2026']],
  ['${t}', ':t', ['t TIME 52200000000']],
  ['${ts}', ':ts', ['ts TIMESTAMP 1767348000000000']],
  ['${ts?datetime.iso}', ':__b1__', ['__b1__ TIMESTAMP 1767348000000000']],
  ['${.now}', ':__b1__', ['__b1__ TIMESTAMP 1785940200000000']],
  ['${bytes}', ':bytes', ['bytes BINARY 1,2']],
  ['${approx}', ':approx', ['approx DECIMAL 0.1']],
];

/** What the author wrote stays text; tests and lengths may read values. */
const STRUCTURE: [string, string][] = [
  ['<#assign t = "orders">FROM ${t}', 'FROM orders'],
  ['<#if n gt 5>a<#else>b</#if>', 'a'],
  ['<#if s == "x">a<#else>b</#if>', 'b'],
  ['<#list 1..3 as i>${i}</#list>', '123'],
  ['LIMIT ${s?length} OFFSET ${[1, s]?size}', 'LIMIT 4 OFFSET 2'],
  ['<#list [s, s] as p>${p?index}</#list>', '01'],
  ['${(n gt 5)?string("ASC", "DESC")}', 'ASC'],
  ['${n?switch(7, "a", "b")}', 'a'],
  ['${{"7": "col"}[n?string]}', 'col'],
  ['${s?has_content}', 'true'],
  ['${s?contains("t")}', 'true'],
  ['1 -${0 - 5}', '1 - -5'],
  ['${s?index_of("t")}', '1'],
];

describe('taint: a run-time value never becomes SQL text (contract 05 §5)', () => {
  it.each(FLOWS)('%s', (template, sql, binds) => {
    expect(bound(template, context)).toEqual({ sql, binds });
  });

  it.each(STRUCTURE)("the author's own: %s", (template, sql) => {
    expect(bound(template, context)).toEqual({ sql, binds: [] });
  });
});

it('a run-time value cannot name a parameter, which would print as text from a catch-all hash', () => {
  const template = '<#macro m a...><#list a?keys as k>${k}</#list></#macro><#assign n = m?with_args({s: 1})><@n x=1/>';
  expect(bound(template, context).sql).toMatch(/^FAILED render_error/);
});

describe('captured output with binds is a fragment', () => {
  const captured = "<#assign f>a = '${s}'</#assign>";

  it('prints, joins, trims and answers ?has_content', () => {
    expect(bound(`${captured}(\${f}) OR (\${f + " AND b"})`, context)).toEqual({
      sql: '(a = :s) OR (a = :s AND b)',
      binds: ["s STRING it's"],
    });
    expect(bound('<#assign f>  x = ${s}  </#assign>[${f?trim}]<#if f?has_content>y</#if>', context).sql).toBe(
      '[x = :s]y',
    );
    expect(bound(`${captured}\${[f, f]?join(" OR ")}`, context).sql).toBe('a = :s OR a = :s');
  });

  it.each([
    '${f?upper_case}',
    '${f?length}',
    '<#if f == "a">x</#if>',
    '${f[0]}',
    '${f?string}',
    '<#list f as x></#list>',
    '${f?is_string}',
  ])('refuses %s, which would need the text', (use) => {
    expect(bound(captured + use, context).sql).toBe('FAILED position fragment_operation');
  });

  it('is an ordinary string without binds', () => {
    expect(bound('<#assign f>abc</#assign>${f?upper_case}').sql).toBe('ABC');
  });
});
