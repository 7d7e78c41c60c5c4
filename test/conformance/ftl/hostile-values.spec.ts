import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DIALECTS, lexSql } from '#libs/typesystem';
import { bound, int, sql, text } from './rendering.js';

/** A caller who may choose the number that a range, a search or a length tells. */
const MINUS_FIVE = { n: int(-5), s: text('abc') };

/**
 * Numbers told of run-time values are text by design, so a negative one behind the author's minus must not open a
 * comment, in whatever way the two come together: it would take the rest of the line out of the statement.
 */
const MEETINGS: [string, string][] = [
  ['printed', 'a-<#list n..n as i>${i}</#list> AND own'],
  ['compressed', 'a-<#compress><#list n..n as i>${i}</#list></#compress> AND own'],
  ['attempted', 'a-<#attempt><#list n..n as i>${i}</#list><#recover>0</#attempt> AND own'],
  ['captured with a bind', '<#assign f><#list n..n as i>${i}</#list> = ${s}</#assign>a-${f} AND own'],
  ['joined with a fragment', '<#assign f>${s} = a-</#assign><#list n..n as i>${f + i}</#list> AND own'],
  ['added to text', '<#list n..n as i>${"a-" + i}</#list> AND own'],
  ['inside text', '<#list n..n as i>${"a-${i}"}</#list> AND own'],
  ['joined', '<#list n..n as i>${["a", i]?join("-")}</#list> AND own'],
  ['searched', '${"a-" + s?index_of("z")} AND own'],
  ['turned text before it is added', '<#list n..n as i>${"a-" + i?string}</#list> AND own'],
  ['turned text by ?c', '<#list n..n as i>${"a-" + i?c}</#list> AND own'],
  ['added to nothing first', '<#list n..n as i>${"a-" + ("" + i)}</#list> AND own'],
  ['quoted in text first', '<#list n..n as i><#assign t = "${i}">${"a-" + t}</#list> AND own'],
  ['captured', '<#assign t><#list n..n as i>${i}</#list></#assign>${"a-" + t} AND own'],
  [
    'given to a function',
    '<#function f p><#return "a-" + p?string></#function><#list n..n as i>${f(i)}</#list> AND own',
  ],
  ['padded', '<#list n..n as i>${i?string?left_pad(4, "a-")}</#list> AND own'],
  ['behind a filling', '${"a"?right_pad(2, "-") + (0 - 5)} AND own'],
  ['put before by a rule', '<#list n..n as i>${i?string?ensure_starts_with("a-")}</#list> AND own'],
  ['put behind by a rule', '<#list n..n as i>${"a-"?ensure_ends_with(i?string)}</#list> AND own'],
  ['replaced into text', '<#list n..n as i>${"a-z"?replace("z", i?string)}</#list> AND own'],
  ['replaced into text by a pattern', '<#list n..n as i>${"a-z"?replace("z", i?string, "r")}</#list> AND own'],
  [
    'split off',
    '<#list n..n as i><#list ("z" + i)?split("z") as p>${p?has_content?then("a-" + p, "")}</#list></#list> AND own',
  ],
  ['matched', '<#list n..n as i><#list (i + "z")?matches("-5") as p>${"a-" + p}</#list></#list> AND own'],
  ['a part of it', '<#list n..n as i>${"a-" + (i + "z")[0..1]}</#list> AND own'],
  ['a key of a hash', '<#list n..n as i><#list {i + "": 1}?keys as k>${"a-" + k}</#list></#list> AND own'],
  ['in a pattern with a minus', '<#list n..n as i>a${i?string("-0")}</#list> AND own'],
  ['by the number format', '<#setting number_format="-0"><#list n..n as i>a${i}</#list> AND own'],
  ['truncated', '<#list n..n as i>${"a-xxxxx"?truncate_c(4, i + "")?replace("x", "")}</#list> AND own'],
];

/** The minus alone, without its digits: the author's own may stand on either side of it. */
const ALONE: [string, string][] = [
  ['before the text', '<#list n..n as i>a ${(i?string)[0]}- 1</#list> AND own'],
  ['before the text, captured', '<#assign t><#list n..n as i>${(i?string)[0]}</#list></#assign>a ${t}- 1 AND own'],
  ['before a string', '<#list n..n as i>a ${(i?string)[0] + "-"} 1</#list> AND own'],
  ['between', '<#list n..n as i>a -${i?string?replace("-5", "")}- 1</#list> AND own'],
  ['between strings', '<#list n..n as i>a ${"-" + i?string?remove_beginning("-5") + "-"} 1</#list> AND own'],
  ['joined', '<#list n..n as i>a ${["-", i?string?replace("-5", ""), "-"]?join("")} 1</#list> AND own'],
  ['what is left of a replacement', '<#list n..n as i>a ${("-" + i + "-")?replace("5", "")} 1</#list> AND own'],
  ['beside a fragment', '<#list n..n as i><#assign f>${s} </#assign>a ${(f + (i?string)[0])}- 1</#list> AND own'],
  [
    'left by a trimmed fragment',
    '<#assign f><#list n..n as i>${(i?string)[0]}</#list> </#assign>a ${f?trim}- 1 AND own',
  ],
];

describe('a negative number behind a minus opens no comment', () => {
  it.each(MEETINGS)('%s', (_how, template) => {
    const outcome = sql(template, MINUS_FIVE);
    if (!outcome.ok) throw new TypeError(outcome.problem.message);
    expect(lexSql('POSTGRES', outcome.namedSql).filter(({ kind }) => kind === 'comment')).toEqual([]);
    expect(outcome.namedSql).toMatch(/a- -[15]/);
  });

  it.each(ALONE)('nor does its sign alone: %s', (_how, template) => {
    const outcome = sql(template, MINUS_FIVE);
    if (!outcome.ok) throw new TypeError(outcome.problem.message);
    expect(lexSql('POSTGRES', outcome.namedSql).filter(({ kind }) => kind === 'comment')).toEqual([]);
    expect(outcome.namedSql).toContain('- -');
  });

  it('whatever the author does to it, and in whatever order', () => {
    const piece = fc.constantFrom(
      '"-"',
      '"a"',
      '""',
      'i',
      'i?string',
      'i?c',
      '(i?string)[0]',
      '"-${i}"',
      '(i - i)',
      '" "',
    );
    const step = fc.constantFrom(
      (x: string) => `(${x})`,
      (x: string) => `(${x} + "-")`,
      (x: string) => `("-" + ${x})`,
      (x: string) => `(${x} + "")?trim`,
      (x: string) => `(${x} + "")?replace("5", "")`,
      (x: string) => `(${x} + "")?replace(" ", "-")`,
      (x: string) => `(${x} + "")?replace("(-)", "$1", "r")`,
      (x: string) => `[${x}, "-"]?join("-")`,
      (x: string) => `(${x} + "")?left_pad(4, "-a")`,
      (x: string) => `(${x} + "")?right_pad(4, "a-")`,
      (x: string) => `(${x} + "")?ensure_ends_with("-")`,
      (x: string) => `(${x} + "")?split("5")?join("")`,
      (x: string) => `(${x} + "")?upper_case?keep_before("5")`,
    );
    const expression = fc
      .tuple(piece, fc.array(fc.tuple(step, piece), { maxLength: 5 }))
      .map(([first, steps]) => steps.reduce<string>((inner, [change, next]) => `${change(inner)} + ${next}`, first));
    const around = fc.constantFrom('', '-', ' ', 'a');
    fc.assert(
      fc.property(expression, around, around, (inner, before, after) => {
        const template = `<#list n..n as i>a ${before}\${${inner}}${after} 1</#list>`;
        const [negative, positive] = [-5, 7].map((n) => bound(template, { n: int(n) }).sql);
        expect({ inner, comment: negative!.includes('--') }).toEqual({ inner, comment: positive!.includes('--') });
      }),
      { numRuns: 1500 },
    );
  });

  it('spells no word longer than a letter: more of them could be a keyword', () => {
    expect(bound('t_<#list 1..2 as i>${i?lower_abc}</#list>').sql).toBe('t_ab');
    expect(bound('a <#list n..n as i>${i?upper_abc}</#list> b', { n: int(408) })).toEqual({
      sql: 'a :__b1__ b',
      binds: ['__b1__ STRING OR'],
    });
  });

  it('and leaves alone what the author wrote', () => {
    expect(bound('a -<#compress>- note</#compress>\n').sql).toContain('a -- note');
    expect(bound('${"2026" + "-" + "01"}').sql).toBe('2026-01');
    expect(bound('${"-- rows: "}${3 + 4}\n').sql).toBe('-- rows: 7\n');
    expect(bound('${("-- rows: " + 7)?upper_case}\n').sql).toBe('-- ROWS: 7\n');
    expect(bound('${1 - 2}${-3} ${[1, 2]?join("-")} ${"a-"?trim}-\n').sql).toBe('-1-3 1-2 a--\n');
  });
});

/** Values that are SQL, template language, markers of the renderer, or placeholders. */
const HOSTILE = [
  `x'; DROP TABLE t; --`,
  `\\'; DROP TABLE t; --`,
  '"; DROP TABLE t; --',
  '`; DROP TABLE t; --',
  ']; DROP TABLE t; --',
  '$$; DROP TABLE t; $$',
  '*/ DROP TABLE t /*',
  '\uE0000\uE001',
  '${.now}<#stop>',
  ':__b1__ :s ? $1 @dp_1',
  'ʼ; DROP TABLE t; --',
  '＇; DROP TABLE t; --',
  'a\u0000b',
  '\uD800',
];

const PLACES = [
  'WHERE a = ${s}',
  "WHERE a = '${s}'",
  "WHERE a LIKE '%${s}%'",
  "WHERE a = '${s}''s'",
  'WHERE a = ${s?trim}',
  'WHERE a = ${"<" + s + ">"}',
  '<#macro m p>WHERE a = ${p}</#macro><@m s/>',
  '<#assign f>WHERE a = ${s}</#assign>${f}',
  'WHERE a IN (${s?split(";")?sql_list})',
  'WHERE a IN (${[s]?sql_list("STRING")})',
  '<#list s?split(" ") as w>OR a = ${w} </#list>',
];

describe('the statement is the same whatever the value says', () => {
  it.each(DIALECTS)('%s', (dialect) => {
    for (const place of PLACES) {
      // As many words and pieces as the hostile value has, and nothing else of it.
      for (const value of HOSTILE) {
        const tame = value.replace(/[^; ]/gu, 'x');
        const [hostile, expected] = [value, tame].map((s) => bound(place, { s: text(s) }, { dialect }).sql);
        expect({ place, value, sql: hostile }).toEqual({ place, value, sql: expected });
      }
    }
  });

  it.each(HOSTILE)('%j names no identifier', (value) => {
    for (const dialect of DIALECTS) {
      expect(bound('FROM ${s?sql_identifier}', { s: text(value) }, { dialect }).sql).toBe(
        'FAILED position not_allowed',
      );
      expect(bound('ORDER BY 1 ${s?sql_choice("asc", "desc")}', { s: text(value) }, { dialect }).sql).toBe(
        'FAILED position not_allowed',
      );
    }
  });
});

describe('a message never tells a value (contract 05 §8)', () => {
  const SECRET = { secret: text('sk_live_1'), digits: int(424242) };

  it.each([
    '${"abc"[digits]}',
    '${"abc"?string[digits]}',
    '${[{}]?sort_by(secret)?size}',
    '${[1, 2][digits..*2]?size}',
    '${secret?number}',
    '${"a"?replace("(", secret, "r")}',
    '${"a"?matches(secret + "(")?size}',
    '${"2026"?date(secret)}',
    '${5?string(secret)}',
    '<#stop secret>',
    '${secret?sql_identifier("a")}',
    '${[secret]?sql_list("DATE")}',
  ])('%s', (template) => {
    const outcome = sql(template, SECRET);
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome)).not.toMatch(/sk_live_1|424242/);
  });
});
