import { describe, expect, it } from '@jest/globals';
import { bool, bound, date, int, text, value, type TestContext, type TestOptions } from './rendering.js';

const HOSTILE = "x'; DROP TABLE t; --";
const context: TestContext = {
  s: text(HOSTILE),
  n: int(-5),
  d: date('2026-01-02'),
  day: text('2026-01-02'),
  nothing: value('STRING', null),
  flag: bool(true),
};

const ALLOWED: [string, string, string[], TestOptions?][] = [
  ['WHERE a = ${s}', 'WHERE a = :s', [`s STRING ${HOSTILE}`]],
  ['WHERE a=${s}AND'.replace('AND', ' AND b'), 'WHERE a=:s AND b', [`s STRING ${HOSTILE}`]],
  ['f(${n}, ${n})', 'f(:n, :n)', ['n INTEGER -5']],
  ['LIMIT ${n}', 'LIMIT :n', ['n INTEGER -5']],
  ['${n + 1}', ':__b1__', ['__b1__ INTEGER -4']],
  ['a -${n}', 'a -:n', ['n INTEGER -5']],
  ["'${s}'", ':s', [`s STRING ${HOSTILE}`]],
  ["'a''b${s}'", ':__b1__', [`__b1__ STRING a'b${HOSTILE}`]],
  ["DATE '${day}'", ':__b1__', ['__b1__ DATE 2026-01-02']],
  ["date  '${d}'", ':d', ['d DATE 2026-01-02']],
  ["DATE '${day?substring(0, 4)}-05-06'", ':__b1__', ['__b1__ DATE 2026-05-06']],
  ["TIMESTAMP '${day} 10:00:00'", ':__b1__', ['__b1__ TIMESTAMP 1767348000000000']],
  ["'\\${s}'", ':__b1__', [`__b1__ STRING \\${HOSTILE}`]],
  ["'\\\\${s}'", ':__b1__', [`__b1__ STRING \\${HOSTILE}`], { dialect: 'MYSQL' }],
  ['"${s}"', ':s', [`s STRING ${HOSTILE}`], { dialect: 'MYSQL' }],
  ['SELECT EXTRACT(DAY FROM ${d})', 'SELECT EXTRACT(DAY FROM :d)', ['d DATE 2026-01-02']],
  ['SELECT 1 FROM t WHERE a IS DISTINCT FROM ${n}', 'SELECT 1 FROM t WHERE a IS DISTINCT FROM :n', ['n INTEGER -5']],
  ['SELECT a FROM t ORDER BY ${n} + a', 'SELECT a FROM t ORDER BY :n + a', ['n INTEGER -5']],
  ['SELECT a FROM t ORDER BY f(${n})', 'SELECT a FROM t ORDER BY f(:n)', ['n INTEGER -5']],
  ['SELECT a FROM t WHERE x IN (1, ${n})', 'SELECT a FROM t WHERE x IN (1, :n)', ['n INTEGER -5']],
  ['SELECT a, ${n} FROM t', 'SELECT a, :n FROM t', ['n INTEGER -5']],
  ['SELECT a FROM t JOIN u ON t.x = ${n}', 'SELECT a FROM t JOIN u ON t.x = :n', ['n INTEGER -5']],
  ['WHERE a = :s AND b = ${s}', 'WHERE a = :s AND b = :s', [`s STRING ${HOSTILE}`]],
  ['WHERE a = :nothing', 'WHERE a = :nothing', ['nothing STRING null']],
  ['WHERE a = ${flag}', 'WHERE a = :flag', ['flag BOOLEAN true']],
  ['a[1:${n}]', 'a[1: :n]', ['n INTEGER -5']],
  ["'${day}'::date", ':day::date', ['day STRING 2026-01-02']],
  ['${day}::date', ':day::date', ['day STRING 2026-01-02']],
  ['a::text = ${s} AND b[1:2] := 3', 'a::text = :s AND b[1:2] := 3', [`s STRING ${HOSTILE}`]],
];

const REFUSED: [string, string, TestOptions?][] = [
  ["E'${s}'", 'bind_in_literal'],
  ["E'a${s}'", 'bind_in_literal'],
  ["N'${s}'", 'bind_in_literal'],
  ["X'${s}'", 'bind_in_literal'],
  ["q'[${s}]'", 'bind_in_literal', { dialect: 'ORACLE' }],
  ['$$${s}$$', 'bind_in_literal'],
  ['$tag$ ${s} $tag$', 'bind_in_literal'],
  ["INTERVAL '${n} days'", 'bind_in_literal'],
  ["INTERVAL '${s}'", 'bind_in_literal'],
  ["DATE '${s}'", 'bind_in_literal'],
  ['"${s}"', 'bind_in_identifier'],
  ['"a${s}"', 'bind_in_identifier'],
  ['`${s}`', 'bind_in_identifier', { dialect: 'MYSQL' }],
  ['[${s}]', 'bind_in_identifier', { dialect: 'MSSQL' }],
  ['t_${s}', 'bind_in_identifier'],
  ['${s}_t', 'bind_in_identifier'],
  ['${s}1', 'bind_in_identifier'],
  ['t.${s}', 'bind_in_identifier'],
  ['${s}.t', 'bind_in_identifier'],
  ['${s}${s}', 'bind_in_identifier'],
  ['@${s}', 'bind_in_identifier', { dialect: 'MSSQL' }],
  ['é${s}', 'bind_in_identifier'],
  ["abc'${s}'", 'bind_in_identifier'],
  ['SELECT 1 FROM ${s}', 'bind_in_structure'],
  ["SELECT 1 FROM '${s}'", 'bind_in_structure', { dialect: 'DUCKDB' }],
  ['SELECT 1 FROM :s', 'bind_in_structure'],
  ['SELECT 1 FROM a, ${s}', 'bind_in_structure'],
  ['SELECT 1 FROM a JOIN ${s}', 'bind_in_structure'],
  ['SELECT (SELECT 1 FROM ${s})', 'bind_in_structure'],
  ['DELETE FROM ${s}', 'bind_in_structure'],
  ['INSERT INTO ${s} VALUES (1)', 'bind_in_structure'],
  ['UPDATE ${s} SET a = 1', 'bind_in_structure'],
  ['CREATE TABLE ${s} (a int)', 'bind_in_structure'],
  ['DROP VIEW ${s}', 'bind_in_structure'],
  ['SELECT 1 AS ${s}', 'bind_in_structure'],
  ['${s}(1)', 'bind_in_structure'],
  ['${s} .t', 'bind_in_structure'],
  ['SELECT 1 FROM t ORDER BY ${s}', 'bind_in_structure'],
  ['SELECT 1 FROM t ORDER BY a, ${s} DESC', 'bind_in_structure'],
  ['SELECT 1 FROM t ORDER BY ${n} DESC NULLS LAST', 'bind_in_structure'],
  ['SELECT 1 FROM t ORDER BY (${n})', 'bind_in_structure'],
  ['SELECT 1 FROM t ORDER BY :n', 'bind_in_structure'],
  ['SELECT 1 FROM t GROUP BY ${s}', 'bind_in_structure'],
  ['SELECT sum(a) OVER (PARTITION BY ${s}) FROM t', 'bind_in_structure'],
  ['-- ${s}\n', 'bind_in_comment'],
  ['/* ${s} */', 'bind_in_comment'],
  ['# ${s}\n', 'bind_in_comment', { dialect: 'MYSQL' }],
  ['/* ${s}', 'bind_in_comment'],
  ["'${s}", 'bind_in_literal'],
  ["SELECT 'open", 'unterminated'],
  ['SELECT /* open', 'unterminated'],
  ['SELECT $1', 'native_placeholder'],
  ['SELECT ?', 'native_placeholder', { dialect: 'SQLITE' }],
  ['SELECT :1 FROM dual', 'native_placeholder', { dialect: 'ORACLE' }],
  ['SELECT @dp_1', 'native_placeholder', { dialect: 'MSSQL' }],
];

describe('where a bind may stand (contract 05 §5.3)', () => {
  it.each(ALLOWED)('%s binds', (template, sql, binds, options = {}) => {
    expect(bound(template, context, options)).toEqual({ sql, binds });
  });

  it.each(REFUSED)('%s is refused: %s', (template, reason, options = {}) => {
    expect(bound(template, context, options).sql).toBe(`FAILED position ${reason}`);
  });

  it('takes a dry-render sample for a date, so that a save does not refuse what a run binds', () => {
    const sample = { ...text('sample'), sample: true };
    expect(bound("DATE '${day}'", { day: sample })).toEqual({ sql: ':__b1__', binds: ['__b1__ DATE null'] });
  });

  it('names every :name without a value, before anything is sent', () => {
    expect(bound('SELECT :a, :b, :s', { s: text('x') }).sql).toMatch(/^FAILED missing_parameter/);
    expect(bound('SELECT :__b1__, ${n + 1}', context).sql).toMatch(/^FAILED missing_parameter/);
  });
});

describe('checked built-ins (contract 05 §5.4)', () => {
  it.each([
    ['${s?sql_identifier}', { s: text('a.b.c') }, 'POSTGRES', '"a"."b"."c"'],
    ['${s?sql_identifier}', { s: text('a') }, 'MYSQL', '`a`'],
    ['${s?sql_identifier}', { s: text('a') }, 'MSSQL', '[a]'],
    ['${s?sql_identifier}', { s: text('a.b.c.d') }, 'POSTGRES', 'FAILED position not_allowed'],
    ['${s?sql_identifier}', { s: text('a"b') }, 'POSTGRES', 'FAILED position not_allowed'],
    ['${s?sql_identifier}', { s: text('') }, 'POSTGRES', 'FAILED position not_allowed'],
    ['${s?sql_identifier}', { s: text('a\n') }, 'POSTGRES', 'FAILED position not_allowed'],
    ['${s?sql_identifier}', { s: text('a'.repeat(64)) }, 'POSTGRES', 'FAILED position not_allowed'],
    ['${s?sql_choice("a","A")}', { s: text('A') }, 'POSTGRES', 'A'],
    ['${s?sql_choice("ASC")}', { s: text('asc') }, 'POSTGRES', 'ASC'],
    ['${s?sql_choice("ASC")}', { s: text('asc; drop') }, 'POSTGRES', 'FAILED position not_allowed'],
    ['${s?sql_choice("ASC")}', { s: { ...text('sample'), sample: true } }, 'POSTGRES', 'ASC'],
    ['${s?sql_identifier("id")}', { s: { ...text('sample'), sample: true } }, 'POSTGRES', '"id"'],
    ['x (${["a"]?sql_list})', {}, 'POSTGRES', 'FAILED position list_outside_in'],
    ['${["a"]?sql_list}', {}, 'POSTGRES', 'FAILED position list_outside_in'],
    ['x IN (\'${["a"]?sql_list}\')', {}, 'POSTGRES', 'FAILED position bind_in_literal'],
    ['x IN (${[]?sql_list})', {}, 'POSTGRES', 'FAILED position empty_list'],
    [
      'x IN (${[]?sql_list("STRING")})',
      {},
      'ORACLE',
      'x IN (SELECT CAST(NULL AS varchar2(4000)) FROM DUAL WHERE 1 = 0)',
    ],
    ['x IN (${[]?sql_list("DATE")})', {}, 'MYSQL', 'x IN (SELECT CAST(NULL AS date) FROM DUAL WHERE 1 = 0)'],
    ['x IN (${ids?split(",")?sql_list("INTEGER")})', { ids: text('1,x') }, 'POSTGRES', 'FAILED position not_allowed'],
  ] as const)('%s with %j on %s', (template, values, dialect, expected) => {
    expect(bound(template, values as TestContext, { dialect }).sql).toBe(expected);
  });

  it('binds the items of a split value as the declared type', () => {
    expect(bound('x in (${ids?split(",")?sql_list("INTEGER")})', { ids: text('1,22') })).toEqual({
      sql: 'x in (:__b1__, :__b2__)',
      binds: ['__b1__ INTEGER 1', '__b2__ INTEGER 22'],
    });
  });

  it("binds the author's items too, each with its own type", () => {
    expect(bound('x IN (${["a\'b", 7, 3000000000, 1.5, true]?sql_list})').binds).toEqual([
      "__b1__ STRING a'b",
      '__b2__ INTEGER 7',
      '__b3__ BIGINTEGER 3000000000',
      '__b4__ BIGDECIMAL 15e-1',
      '__b5__ BOOLEAN true',
    ]);
  });

  it('stops a list that is longer than max-list-binds', () => {
    const limits = { maxListBinds: 2 };
    expect(bound('x IN (${[1, 2, 3]?sql_list})', {}, { limits }).sql).toBe('FAILED guard list_too_long');
  });

  it('is not caught by attempt: a refusal is a refusal', () => {
    const template = '<#attempt>${s?sql_choice("a")}<#recover>fallback</#attempt>';
    expect(bound(template, { s: text('b') }).sql).toBe('FAILED position not_allowed');
  });
});
