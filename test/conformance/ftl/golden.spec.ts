import { describe, expect, it } from '@jest/globals';
import {
  bool,
  bound,
  date,
  decimal,
  int,
  parsed,
  printed,
  problemsOf,
  sql,
  text,
  value,
  type TestContext,
} from './rendering.js';

const lines = (template: string): string => template.replaceAll('⏎', '\n');

const h = {
  origin: 'parameter' as const,
  fields: new Map([
    ['b', int(1)],
    ['a', int(2)],
  ]),
};

/** Contract 05 §17: what the language prints. Where a row agrees with FreeMarker, an existing template keeps its SQL. */
const PRINTED: [string, string, TestContext, string][] = [
  [
    'G1',
    '${b} ${i} ${b + 1} ${b * 2} ${i?c} ${b?c}',
    { b: decimal(1250n, 2), i: int(1000) },
    '12.50 1000 13.50 25.00 1000 12.5',
  ],
  ['G2', '${10/4?int} ${(10/4)?int} ${7 % 3} ${0.1 + 0.2} ${2 * 3.50}', {}, '2.5 2 1 0.3 7.00'],
  ['G3', 'SELECT a⏎  <#if x>⏎  , b⏎  </#if>⏎FROM t', { x: bool(true) }, 'SELECT a⏎    , b⏎FROM t'],
  [
    'G4',
    '<#assign cols = ["id","name","qty"]>SELECT <#list cols as c>${c}<#sep>, </#list> FROM t',
    {},
    'SELECT id, name, qty FROM t',
  ],
  ['G5', '<#list []>(<#items as x>${x}</#items>)<#else>1 = 0</#list>', {}, '1 = 0'],
  [
    'G6',
    '<#macro f col op="=">${col} ${op} <#nested></#macro>WHERE <@f col="a">1</@f> AND <@f "b" ">=">2</@>',
    {},
    'WHERE a = 1 AND b >= 2',
  ],
  [
    'G7',
    '<#function q n><#if n lte 1><#return 1></#if><#return n * q(n - 1)></#function>${q(25)}',
    {},
    '15511210043330985984000000',
  ],
  [
    'G8',
    '<#assign n = 1><#macro m><#local n = 2><#assign n = 3>${n}</#macro><@m/>${n}<#list [9] as n>${n}</#list>${n}',
    {},
    '2393',
  ],
  ['G9', '<#list h?keys?sort as k>${k}=${h[k]};</#list>${h?size}', { h }, 'a=2;b=1;2'],
  [
    'G10',
    '${nope!"d"}|${(a.b.c)!"e"}|${nope!}|${nope?has_content?string}|${v!"x" + "y"}',
    { v: text('V') },
    'd|e||false|V',
  ],
  ['G11', '<#switch 2><#case 1>a<#case 2>b<#case 3>c<#break><#default>d</#switch>', {}, 'bc'],
  [
    'G12',
    '${"a,b;c"?split("[,;]","r")?join("+")} ${"Foo"?replace("o","0")} ${" x "?trim} ${"abc"[1..]} ${"abc"?cap_first}',
    {},
    'a+b+c F00 x bc Abc',
  ],
  [
    'G13',
    '${[3,1,2]?sort?reverse?join("-")} ${[1,2,3,4]?filter(n -> n % 2 == 0)?map(n -> n * 10)?join(",")} ${(1..<4)?size}',
    {},
    '3-2-1 20,40 3',
  ],
  [
    'G14',
    '${1234567.891?string(",##0.00")} ${2.5?string("0")} ${3.5?string("0")} ${7?string("000")}',
    {},
    '1,234,567.89 2 4 007',
  ],
  [
    'G15',
    '${"2026-03-01"?date.iso?string("yyyy/MM/dd")} ${"2026-03-01T05:06:07Z"?datetime.iso?string("HH:mm")}',
    {},
    '2026/03/01 05:06',
  ],
  ['G16', '<#attempt>x${nope}y<#recover>r</#attempt>,<#noparse>${z}</#noparse>,a<#-- c -->b', {}, 'r,${z},ab'],
  ['G17', 'a <#t>⏎ b<#t>⏎c⏎<#if true>  ⏎  d⏎</#if>⏎', {}, 'a bc⏎  d⏎'],
];

describe('golden cases of contract 05 §17', () => {
  it.each(PRINTED)('%s prints as written there', (_id, template, context, expected) => {
    expect(printed(lines(template), context)).toBe(lines(expected));
  });

  it('E1 blames the missing variable at its own place', () => {
    const outcome = sql(lines('SELECT 1⏎ FROM ${tbl.name}'));
    expect(outcome).toMatchObject({
      ok: false,
      problem: { kind: 'undefined_variable', variable: 'tbl', line: 2, column: 9 },
    });
  });

  it('E2 reports an unclosed tag where the template ends', () => {
    const [problem] = problemsOf(lines('<#if 1 == 1>⏎x'));
    expect(problem).toMatchObject({ code: 'syntax_error', line: 2, message: expect.stringContaining('Unclosed #if') });
  });

  it('E3 reports an unknown built-in at its name, with the known ones', () => {
    const [problem] = problemsOf('${"x"?nosuch}');
    expect(problem).toMatchObject({
      code: 'syntax_error',
      line: 1,
      column: 7,
      message: expect.stringContaining('nosuch'),
    });
    expect(problem!.details['known']).toContain('upper_case');
  });

  it('E4 takes no string for a boolean', () => {
    const outcome = sql('<#if "true">x</#if>');
    expect(outcome).toMatchObject({
      ok: false,
      problem: { line: 1, column: 6, message: expect.stringContaining('boolean') },
    });
  });

  it('E5 names the parameter a macro does not have', () => {
    const outcome = sql('<#macro m a>${a}</#macro><@m b=1/>');
    expect(outcome).toMatchObject({ ok: false, problem: { message: expect.stringMatching(/has no parameter b/) } });
  });

  it('B1 leaves :name as it is and binds each name once', () => {
    const template = 'WHERE r = :region AND d >= :d0 AND r2 = :region';
    expect(bound(template, { region: text('EU'), d0: date('2026-01-01') })).toEqual({
      sql: template,
      binds: ['region STRING EU', 'd0 DATE 2026-01-01'],
    });
  });

  it('B2 binds quoted macro arguments of a library under their own keys', () => {
    const library = parsed("<#macro rng c a b>${c} BETWEEN '${a}' AND '${b}'</#macro>");
    const libraries = new Map([['L', { template: library, imports: new Map() }]]);
    const context = { d0: date('2026-01-01'), d1: date('2026-02-01') };
    expect(bound('<@L.rng c="d" a=d0 b=d1/>', context, { libraries })).toEqual({
      sql: 'd BETWEEN :d0 AND :d1',
      binds: ['d0 DATE 2026-01-01', 'd1 DATE 2026-02-01'],
    });
  });

  it('B3 binds a hostile value raw, alone and inside a pattern', () => {
    expect(bound("<#assign t = region>WHERE r = '${t}' OR n LIKE '%${t}%'", { region: text("x' OR '1'='1") })).toEqual({
      sql: 'WHERE r = :region OR n LIKE :__b1__',
      binds: ["region STRING x' OR '1'='1", "__b1__ STRING %x' OR '1'='1%"],
    });
  });

  it('B4 refuses a value as sort item', () => {
    expect(bound('<#assign t = s>SELECT 1 FROM t ORDER BY ${t}', { s: text('a') }).sql).toBe(
      'FAILED position bind_in_structure',
    );
    expect(bound('<#assign t = s>ORDER BY ${t}', { s: text('a') }).sql).toBe('FAILED position bind_in_structure');
  });

  it('B5 prints checked identifiers and choices only', () => {
    const template = 'ORDER BY ${s?sql_identifier("qty","price")} ${d?sql_choice("ASC","DESC")}';
    expect(bound(template, { s: text('price'), d: text('desc') })).toEqual({ sql: 'ORDER BY "price" DESC', binds: [] });
    expect(bound(template, { s: text('id'), d: text('desc') }).sql).toBe('FAILED position not_allowed');
  });

  it('B6 binds every item of a list', () => {
    expect(bound('x IN (${[a, b]?sql_list})', { a: int(1), b: int(2) })).toEqual({
      sql: 'x IN (:a, :b)',
      binds: ['a INTEGER 1', 'b INTEGER 2'],
    });
  });

  it('B7 makes an empty list a query without rows', () => {
    expect(bound('x NOT IN (${[]?sql_list("INTEGER")})').sql).toBe(
      'x NOT IN (SELECT CAST(NULL AS integer) WHERE 1 = 0)',
    );
  });

  it('B8 takes a colon in literals, casts and comments for text', () => {
    const template = "note = 'at 10:30' AND t > :ts::timestamptz -- :no";
    expect(bound(template, { ts: value('TIMESTAMP', 0n) })).toEqual({ sql: template, binds: ['ts TIMESTAMP 0'] });
  });

  it('B9 refuses a placeholder of the driver', () => {
    expect(bound('WHERE a = ? AND b = :b', { b: int(1) }, { dialect: 'MYSQL' }).sql).toBe(
      'FAILED position native_placeholder',
    );
  });

  it('B10 takes the literal prefix into the typed placeholder', () => {
    expect(bound("WHERE d = DATE '${current_date}'", { current_date: date('2026-08-05') })).toEqual({
      sql: 'WHERE d = :current_date',
      binds: ['current_date DATE 2026-08-05'],
    });
  });
});
