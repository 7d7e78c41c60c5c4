import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DIALECTS, type Dialect } from '../canonical-type.js';
import { lexSql } from './lex-sql.js';
import { MARKER_CLOSE, MARKER_OPEN, type SqlToken } from './sql-token.js';

/** What opens, closes, nests or escapes something in at least one dialect. */
const PIECES = [
  "'",
  "''",
  "\\'",
  '\\',
  '\\\\',
  '"',
  '""',
  '`',
  '``',
  '[',
  ']',
  ']]',
  '$$',
  '$a$',
  '$1',
  '$',
  "E'",
  "e'",
  "N'",
  "X'",
  "B'",
  "U&'",
  'U&"',
  "q'[",
  "q'{",
  "q'!",
  "Q'(",
  "nq'<",
  "]'",
  "}'",
  "!'",
  ")'",
  ">'",
  '--',
  '-- ',
  '-',
  '#',
  '//',
  '/*',
  '*/',
  '/*!',
  '/*+',
  '/**/',
  '\n',
  '\r',
  '\r\n',
  ' ',
  '\t',
  '\u00a0',
  '\ufeff',
  ':a',
  '::',
  ':=',
  ':1',
  ':',
  '?',
  '??',
  '?|',
  '@',
  '@dp_1',
  '@x',
  '@@y',
  '1',
  '1.5',
  '.5',
  '1e5',
  '0x1F',
  '1_000',
  'a',
  'SELECT',
  'é',
  '日本',
  '\u{1F600}',
  '_',
  'a$b',
  'a#b',
  '(',
  ')',
  ',',
  ';',
  '.',
  '\u0000',
  '%',
];
const text = fc
  .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ maxLength: 3 })), { maxLength: 24 })
  .map((parts) => parts.join(''));
const dialect = fc.constantFrom(...DIALECTS);

const kinds = (tokens: readonly SqlToken[]): string[] => tokens.map(({ kind }) => kind);

describe('the lexers take any text', () => {
  it('read a text the same whatever comes behind it, up to where the last token may still grow', () => {
    fc.assert(
      fc.property(text, text, dialect, (sql, more, of) => {
        const alone = lexSql(of, sql);
        const together = lexSql(of, sql + more);
        // Tokens that end at the seam may go on behind it; two in front of it cannot.
        for (const [i, token] of alone.slice(0, -3).entries()) expect(together[i]).toEqual(token);
      }),
      { numRuns: 3000 },
    );
  });

  it('see a bind marker in code as a token of its own, and never inside of anything else there', () => {
    fc.assert(
      fc.property(text, text, dialect, (before, after, of) => {
        const marker = `${MARKER_OPEN}0${MARKER_CLOSE}`;
        const tokens = lexSql(of, `${before} ${marker} ${after}`);
        const holder = tokens.find((token) => token.text.includes(marker))!;
        const openBefore = lexSql(of, `${before} `).at(-1)?.unterminated === true || inLineComment(of, `${before} `);
        if (openBefore) expect(holder.kind).not.toBe('marker');
        else expect([holder.kind, holder.text]).toEqual(['marker', marker]);
      }),
      { numRuns: 4000 },
    );
  });

  it('never let the content of a closed literal decide what stands behind it', () => {
    const content = text.map((inner) => inner.replace(/['\\\r\n]/g, ''));
    fc.assert(
      fc.property(content, dialect, (inner, of) => {
        expect(kinds(lexSql(of, `'${inner}' :a`))).toEqual(['string', 'whitespace', 'bind']);
        expect(kinds(lexSql(of, `-- ${inner}\n:a`)).at(-1)).toBe('bind');
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['POSTGRES', '/* a /* b */ :x */ :y', ['y']],
    ['DUCKDB', '/* a /* b */ :x */ :y', ['y']],
    ['MSSQL', '/* a /* b */ :x */ :y', ['y']],
    ['MYSQL', '/* a /* b */ :x */ :y', ['x', 'y']],
    ['ORACLE', '/* a /* b */ :x', ['x']],
    ['SQLITE', '/* a /* b */ :x', ['x']],
    ['POSTGRES', '$a$ :x $b$ $a$ :y', ['y']],
    ['POSTGRES', "E'\\' :x' :y", ['y']],
    ['POSTGRES', "'\\' :x '", ['x']],
    ['MYSQL', "'\\' :x' :y", ['y']],
    ['MYSQL', '5--1 :x', ['x']],
    ['MYSQL', '# :x\n:y', ['y']],
    ['ORACLE', "q'[ ' :x ]' :y", ['y']],
    ['ORACLE', "nq'{ }' :x", ['x']],
    ['MSSQL', '[a]] :x] :y', ['y']],
    ['SQLITE', '[a] :x', ['x']],
  ] as [Dialect, string, string[]][])('%s: the binds of %s', (of, sql, names) => {
    const tokens = lexSql(of, sql).filter(({ kind }) => kind === 'bind');
    expect(tokens.map((token) => token.text.slice(1))).toEqual(names);
  });
});

/** A line comment reaches to the end of the text without being unterminated. */
function inLineComment(of: Dialect, sql: string): boolean {
  const last = lexSql(of, sql).at(-1);
  return last?.kind === 'comment' && !last.text.startsWith('/*') && !/[\r\n]$/.test(last.text);
}
