import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTemplate, renderSql } from '#libs/ftl';
import { parsed, problemsOf, sql } from './rendering.js';

const excerptOf = (source: string): string | undefined => {
  const [problem] = problemsOf(source);
  if (problem) return problem.excerpt;
  const outcome = sql(source);
  return outcome.ok ? undefined : outcome.problem.excerpt;
};

describe('an error shows the line and a caret under what is to blame', () => {
  it.each([
    ['a missing variable', 'SELECT 1\n FROM ${tbl.name}\nWHERE 1', ' FROM ${tbl.name}', 8],
    ['the operand of an operator', 'SELECT ${1 + 2 * "a"}', 'SELECT ${1 + 2 * "a"}', 17],
    ['a built-in nobody knows', '${"x"?nosuch}', '${"x"?nosuch}', 6],
    ['a tag that is not closed, at the end', '<#if 1 == 1>\nx', 'x', 1],
    ['a refused construct', 'a\r\nb <#include "x">\r\nc', 'b <#include "x">', 2],
    ['an HTML entity', 'a &lt; b', 'a &lt; b', 2],
    ['a value in a wrong place', 'SELECT 1\nFROM ${.now}', 'FROM ${.now}', 7],
    ['a name without a value', 'WHERE a = :nobody', 'WHERE a = :nobody', 10],
    ['a tab counts one', '\t${nope}', ' ${nope}', 3],
  ])('%s', (_what, source, line, column) => {
    expect(excerptOf(source)).toBe(`${line}\n${' '.repeat(column)}^`);
  });

  it('cuts a long line around the place', () => {
    const [line, caret] = excerptOf(`${'x'.repeat(500)}\${nope}${'y'.repeat(500)}`)!.split('\n') as [string, string];
    expect(line.length).toBeLessThanOrEqual(66);
    expect(line.startsWith('…x')).toBe(true);
    expect(line.endsWith('y…')).toBe(true);
    expect(line.slice(caret.length - 1).startsWith('nope')).toBe(true);
  });

  it('carries no control character and no half of a character, and stands under what it points at', () => {
    expect(excerptOf('a\u0007\u{1F600}${nope}')).toBe(`a\uFFFD\u{1F600}\${nope}\n${' '.repeat(5)}^`);
    expect(excerptOf('\uD800')).toBe('\uFFFD\n^');
  });

  it('names the library the place lies in, and shows that line', () => {
    const libraries = new Map([['L', { template: parsed('<#macro m>\n  ${nope}</#macro>'), imports: new Map() }]]);
    expect(sql('<@L.m/>', {}, { libraries })).toMatchObject({
      problem: { library: 'L', line: 2, excerpt: '  ${nope}</#macro>\n    ^' },
    });
  });

  it('points into the line it shows, whatever the template', () => {
    const pieces = fc.constantFrom(
      '${nope}',
      '${"a"',
      '<#if',
      '\r',
      '\r\n',
      '\n',
      '\t',
      'x'.repeat(50),
      '&lt;',
      '\u{1F600}',
      '</#if>',
      '[#',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const outcome = parseTemplate(parts.join(''));
        const context = { dialect: 'POSTGRES' as const, context: new Map(), now: '2026-01-01T00:00:00Z' };
        const rendered = outcome.ok ? renderSql(outcome.template, context) : null;
        const problem = outcome.ok ? (rendered?.ok === false ? rendered.problem : null) : outcome.problems[0]!;
        if (!problem) return;
        const [line, caret, ...more] = problem.excerpt!.split('\n');
        expect(more).toEqual([]);
        expect(caret).toMatch(/^ *\^$/);
        expect([...caret!].length).toBeLessThanOrEqual([...line!].length + 1);
      }),
      { numRuns: 1000 },
    );
  });
});
