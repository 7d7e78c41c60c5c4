import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DIALECTS, type Dialect } from '../canonical-type.js';
import { lexSql } from './lex-sql.js';
import { MARKER_CLOSE, MARKER_OPEN, findUnterminated, type SqlTokenKind } from './sql-token.js';

/** `kind text` of each token that is not whitespace. */
function shape(dialect: Dialect, sql: string): string[] {
  return lexSql(dialect, sql)
    .filter(({ kind }) => kind !== 'whitespace')
    .map(({ kind, text }) => `${kind} ${text}`);
}

/** The distinct names a text binds with `:name`, in order of first use. */
function bindNames(dialect: Dialect, sql: string): string[] {
  const binds = lexSql(dialect, sql).filter(({ kind }) => kind === 'bind');
  return [...new Set(binds.map(({ text }) => text.slice(1)))];
}

/** Pieces of SQL at which lexers go wrong. */
const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      "'",
      "''",
      '"',
      '`',
      '[',
      ']',
      ']]',
      '--',
      '-',
      '#',
      '//',
      '/*',
      '*/',
      '/*!',
      '$',
      '$$',
      '$tag$',
      '$1',
      '?',
      '@',
      '@dp_1',
      ':',
      '::',
      ':=',
      ':x',
      ':X',
      ':1',
      "E'",
      "e'\\''",
      "N'",
      "q'[",
      "]'",
      "nq'",
      "U&'",
      'U&"',
      "X'",
      '\\',
      "\\'",
      '\n',
      '\r',
      ' ',
      '\u00a0',
      '\t',
      '1',
      '1.5e3',
      '.5',
      '0x1F',
      '1E',
      'a',
      'select',
      'é',
      '😀',
      '\ud800',
      ';',
      '(',
      ')',
      ',',
      '.',
      '\0',
      MARKER_OPEN,
      MARKER_CLOSE,
      `${MARKER_OPEN}3${MARKER_CLOSE}`,
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
  { maxLength: 40 },
);

describe('the SQL lexer', () => {
  it.each(DIALECTS)('covers every text of %s without gaps and never throws', (dialect) => {
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        const tokens = lexSql(dialect, text);
        expect(tokens.map((token) => token.text).join('')).toBe(text);
        let at = 0;
        for (const [index, token] of tokens.entries()) {
          expect(token.start).toBe(at);
          expect(token.end).toBeGreaterThan(at);
          at = token.end;
          if (token.unterminated) expect(index).toBe(tokens.length - 1);
        }
      }),
      { numRuns: 1500 },
    );
  });

  it.each<[Dialect, string, string[]]>([
    ['POSTGRES', 'a::text', []],
    ['POSTGRES', 'x:=1', []],
    ['POSTGRES', 'arr[1:2]', []],
    ['POSTGRES', 'arr[lo:hi]', []],
    ['POSTGRES', ':a::text', ['a']],
    ['POSTGRES', ':a+:b-:a', ['a', 'b']],
    ['POSTGRES', 'x=:a', ['a']],
    ['POSTGRES', '(:a)', ['a']],
    ['POSTGRES', ':a:b', ['a']],
    ['POSTGRES', ':A :aB :a$b :aé', []],
    ['POSTGRES', `:${'k'.repeat(63)} :${'l'.repeat(64)}`, ['k'.repeat(63)]],
    ['POSTGRES', ':__b1__', ['__b1__']],
    ['POSTGRES', '\':a\' ":b" -- :c\n /* :d /* :e */ :f */ $$ :g $$ $t$ :h $$ :i $t$ :j', ['j']],
    ['POSTGRES', "E'\\':a' :b", ['b']],
    ['POSTGRES', "'\\' :a, ':b'", ['a']],
    ['POSTGRES', "E'x'\n  '\\' :a' :b", ['b']],
    ['POSTGRES', "E'x' -- c\n'\\' :a' :b", ['b']],
    ['POSTGRES', "E'x' '\\' :a", ['a']],
    ['POSTGRES', "1E'\\':a' :b", ['b']],
    ['POSTGRES', 'a$$b :a', ['a']],
    ['POSTGRES', '-- x\r:a', ['a']],
    ['POSTGRES', "U&'\\' :a", ['a']],
    ['MYSQL', '\'\\\':a\' "\\":b" `:c` # :d\n -- :e\n :f', ['f']],
    ['MYSQL', '5--:a', ['a']],
    ['MYSQL', '/* /* */ :a /* */', ['a']],
    ['MYSQL', '-- x\r:a', []],
    ['MYSQL', '$$ :a $$', ['a']],
    ['SQLITE', '[:a]] :b `:c` ":d" \'\\\' :e', ['b', 'e']],
    ['MSSQL', '[:a]]:b] :c /* /* :d */ :e */', ['c']],
    ['ORACLE', "q'[:a']' q'{it's :b}' Q'!:c!' nq'<:d>' q'':e'' :f", ['f']],
    ['ORACLE', "q'[' ]' :a", ['a']],
    ['DUCKDB', '$$:a$$ /* /* */ :b */ :c', ['c']],
    ['H2', '// :a\n :b', ['b']],
  ])('%s binds in %j: %j', (dialect, sql, names) => expect(bindNames(dialect, sql)).toEqual(names));

  it.each<[Dialect, string, string[]]>([
    [
      'POSTGRES',
      "SELECT 'it''s' || N'x'",
      ['word SELECT', "string 'it''s'", 'punctuation |', 'punctuation |', "string N'x'"],
    ],
    ['POSTGRES', 'a ? b', ['word a', 'punctuation ?', 'word b']],
    ['POSTGRES', '$1', ['native_placeholder $1']],
    ['POSTGRES', 'U&"d\\0061t"', ['quoted_identifier U&"d\\0061t"']],
    ['POSTGRES', '1.5e-3.2', ['number 1.5e-3', 'number .2']],
    ['POSTGRES', 't.5 .5', ['word t', 'punctuation .', 'number 5', 'number .5']],
    ['POSTGRES', "x'1F' b'01' 0x1Fg", ["string x'1F'", "string b'01'", 'number 0x1F', 'word g']],
    ['MYSQL', '? "a""b"', ['native_placeholder ?', 'string "a""b"']],
    [
      'SQLITE',
      '?12 @a $b :C',
      ['native_placeholder ?12', 'native_placeholder @a', 'native_placeholder $b', 'native_placeholder :C'],
    ],
    ['DUCKDB', '? $2 $name', ['native_placeholder ?', 'native_placeholder $2', 'native_placeholder $name']],
    [
      'MSSQL',
      '@DP_1 @x #tmp [a]]b]',
      ['native_placeholder @DP_1', 'punctuation @', 'word x', 'word #tmp', 'quoted_identifier [a]]b]'],
    ],
    ['ORACLE', ':1 :NAME a#b', ['native_placeholder :1', 'native_placeholder :NAME', 'word a#b']],
    ['MYSQL', '/*!50000 x */', ['comment /*!50000 x */']],
  ])('%s reads %j', (dialect, sql, tokens) => expect(shape(dialect, sql)).toEqual(tokens));

  it.each<[Dialect, string, SqlTokenKind]>([
    ['POSTGRES', "'abc", 'string'],
    ['POSTGRES', "E'abc\\'", 'string'],
    ['POSTGRES', '"abc', 'quoted_identifier'],
    ['POSTGRES', '/* /* */', 'comment'],
    ['POSTGRES', '/*/', 'comment'],
    ['POSTGRES', '$a$ $b$', 'dollar_string'],
    ['MYSQL', '`a', 'quoted_identifier'],
    ['MSSQL', '[a]]', 'quoted_identifier'],
    ['ORACLE', "q'[abc'", 'string'],
    ['ORACLE', "q'", 'string'],
  ])('%s: %j does not end, as a %s', (dialect, sql, kind) => {
    expect(findUnterminated(lexSql(dialect, sql))).toMatchObject({ kind, end: sql.length });
  });

  it('knows where a literal ends by its dialect: a literal misread is code misread', () => {
    const sql = "'a\\' OR 1=1 --'";
    expect(shape('POSTGRES', sql)[0]).toBe("string 'a\\'");
    expect(shape('MYSQL', sql)).toEqual([`string ${sql}`]);
  });

  it('keeps markers inside literals and makes them tokens of their own in code, even beside a word', () => {
    const bind = `${MARKER_OPEN}7${MARKER_CLOSE}`;
    expect(shape('POSTGRES', `'%${bind}%' a${bind}b "${bind}" ${MARKER_OPEN} x`)).toEqual([
      `string '%${bind}%'`,
      'word a',
      `marker ${bind}`,
      'word b',
      `quoted_identifier "${bind}"`,
      `marker ${MARKER_OPEN}`,
      'word x',
    ]);
  });
});

describe('the cost of lexing', () => {
  const patterns = [
    "'",
    '"',
    '`',
    '[',
    '$',
    '$a',
    '$a$',
    '$a$ab',
    '/*',
    '/*/',
    '*/',
    '--',
    '--\n',
    '-',
    ':',
    ':a',
    '@',
    '@a',
    "E'a'\n",
    "E'a'\n-- \n",
    "q'",
    "q'[",
    '1',
    '1.',
    '1e',
    '1e+',
    '.',
    '.1',
    '_',
    'a$',
    'é',
    '#',
    '//',
    '?',
    '0x',
    MARKER_OPEN,
    MARKER_CLOSE,
    '\\',
    "\\'",
    ' ',
    '\n',
    '$é',
    "U&'",
  ];

  /** Reads of single characters plus characters passed over by searches. */
  function countReads(work: () => void): number {
    const { charCodeAt, indexOf } = String.prototype;
    let reads = 0;
    String.prototype.charCodeAt = function (this: string, at: number) {
      reads++;
      return charCodeAt.call(this, at);
    };
    String.prototype.indexOf = function (this: string, searched: string, from = 0) {
      const found = indexOf.call(this, searched, from);
      reads += (found < 0 ? this.length : found) - from + searched.length;
      return found;
    };
    try {
      work();
    } finally {
      String.prototype.charCodeAt = charCodeAt;
      String.prototype.indexOf = indexOf;
    }
    return reads;
  }

  it.each(DIALECTS)(
    'is linear in 100,000 characters of any pattern for %s: hostile text must not stop a server',
    (dialect) => {
      for (const pattern of patterns) {
        const text = pattern.repeat(Math.ceil(100_000 / pattern.length));
        const reads = countReads(() => lexSql(dialect, text));
        if (reads > 12 * text.length) throw new TypeError(`${JSON.stringify(pattern)}: ${reads} reads`);
      }
    },
  );
});
