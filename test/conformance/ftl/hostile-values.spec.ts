import { describe, expect, it } from '@jest/globals';
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
];

describe('a negative number behind a minus opens no comment', () => {
  it.each(MEETINGS)('%s', (_how, template) => {
    const outcome = sql(template, MINUS_FIVE);
    if (!outcome.ok) throw new TypeError(outcome.problem.message);
    expect(lexSql('POSTGRES', outcome.namedSql).filter(({ kind }) => kind === 'comment')).toEqual([]);
    expect(outcome.namedSql).toMatch(/a- -[15]/);
  });

  it('and leaves alone what the author wrote', () => {
    expect(bound('a -<#compress>- note</#compress>\n').sql).toContain('a -- note');
    expect(bound('${"2026" + "-" + "01"}').sql).toBe('2026-01');
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
