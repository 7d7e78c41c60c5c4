import { describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { isPenstockError, type PenstockError } from '../penstock-error.js';
import { readJson, readJsonBytes } from './read.js';
import { ExactNumber, isExactNumber, isJsonObject, type JsonValue } from './value.js';

function refusal(act: () => unknown): PenstockError {
  try {
    act();
  } catch (error) {
    if (isPenstockError(error)) return error;
    throw error;
  }
  throw new TypeError('was accepted');
}

const reasonOf = (text: string): unknown => refusal(() => readJson(text)).details['reason'];

/** What `JSON.parse` would make of it. */
function asDoubles(value: JsonValue): unknown {
  if (isExactNumber(value)) return Number(value.toString());
  if (Array.isArray(value)) return value.map(asDoubles);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, asDoubles(member)]));
}

describe('readJson', () => {
  it.each([
    '0',
    '-0',
    '0.10',
    '1.0',
    '1e3',
    '1E+3',
    '9007199254740993',
    '-9223372036854775808',
    '0.1e-7',
    '12345678901234567890.123456789',
  ])('keeps the number %s as it was written', (text) => {
    // Through a double 0.10 becomes 0.1, which changes the hash of a document, and 2^53+1 another number.
    const value = readJson(` [${text} ]`) as [ExactNumber];
    expect(isExactNumber(value[0])).toBe(true);
    expect(value[0].toString()).toBe(text);
  });

  it('reads every kind of value and all escapes', () => {
    const value = readJson(
      '{"a":[true,false,null,"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00é😀"],"":{}, "z":[ ] }',
    );
    expect(JSON.parse(JSON.stringify(value))).toEqual({
      a: [true, false, null, '"\\/\b\f\n\r\té😀é😀'],
      '': {},
      z: [],
    });
  });

  it('keeps __proto__ and constructor as ordinary keys of objects without prototype', () => {
    // A key of a request must never reach the prototype of our own objects.
    const value = readJson('{"__proto__":{"polluted":true},"constructor":1}');
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((readJson('{}') as { toString?: unknown }).toString).toBeUndefined();
  });

  it.each([
    ['', 1, 1],
    ['  \n ', 2, 2],
    ['{"a":1,}', 1, 8],
    ['[1,]', 1, 4],
    ['[1 2]', 1, 4],
    ['{"a" 1}', 1, 6],
    ['{a:1}', 1, 2],
    ["{'a':1}", 1, 2],
    ['{"a":1]', 1, 7],
    ['[1}', 1, 3],
    ['[', 1, 2],
    ['{"a"', 1, 5],
    ['"abc', 1, 5],
    ['"a\nb"', 1, 3],
    ['"\\x41"', 1, 2],
    ['"\\u12G4"', 1, 2],
    ['"\\', 1, 2],
    ['01', 1, 2],
    ['-', 1, 2],
    ['+1', 1, 1],
    ['.5', 1, 1],
    ['1.', 1, 3],
    ['1e', 1, 3],
    ['1e+', 1, 4],
    ['NaN', 1, 1],
    ['-Infinity', 1, 2],
    ['tru', 1, 1],
    ['nulll', 1, 5],
    ['1 1', 1, 3],
    ['{"a":1}\n\n  x', 3, 3],
    ['/* c */ 1', 1, 1],
    ['\uFEFF1', 1, 1],
    ['\u00a01', 1, 1],
  ])('refuses %j as malformed, pointing at line %i, column %i', (text, line, column) => {
    // Whoever wrote the document by hand needs the place, not only the verdict.
    const error = refusal(() => readJson(text, { field: 'definitionJson' }));
    expect(error.code).toBe('pipeline.execution.invalid_parameter_type');
    expect(error.status).toBe(400);
    expect(error.details).toEqual({ field: 'definitionJson', reason: 'malformed_json', line, column });
  });

  it.each([
    ['escaped U+0000', '"a\\u0000"'],
    ['raw U+0000', '"a\u0000"'],
    ['escaped U+0000 in a key', '{"\\u0000":1}'],
    ['high surrogate alone, escaped', '"\\uD83D"'],
    ['low surrogate alone, escaped', '"\\uDE00"'],
    ['two high surrogates', '"\\uD83D\\uD83D"'],
    ['high surrogate before another escape', '"\\uD83D\\n"'],
    ['high surrogate before text', '"\\uD83Dx\\uDE00"'],
    ['high escaped, low raw', '"\\uD83D\uDE00"'],
    ['high raw, low escaped', '"\uD83D\\uDE00"'],
    ['raw lone surrogate', '"\uDE00"'],
  ])('refuses %s: PostgreSQL could not store it', (_what, text) => {
    expect(reasonOf(text)).toBe('malformed_json');
  });

  it.each([
    ['{"a":1,"a":1}', 1, 8, 'a'],
    ['{"a":1,\n "b":{"c":1,"c":2}}', 2, 13, 'c'],
    ['{"é":1,"\\u00e9":2}', 1, 8, 'é'],
    ['[{"a":1},{"a":1,"__proto__":1,"__proto__":2}]', 1, 31, '__proto__'],
  ])('refuses the duplicate key in %j', (text, line, column, key) => {
    // Which of the two counts differs between parsers, so a checked document could run as another one.
    expect(refusal(() => readJson(text)).details).toEqual({
      field: 'body',
      reason: 'duplicate_key',
      line,
      column,
      key,
    });
  });

  it('allows one key in different objects', () => {
    expect(asDoubles(readJson('[{"a":1},{"a":{"a":2}}]'))).toEqual([{ a: 1 }, { a: { a: 2 } }]);
  });

  it('shows a key back clipped and without control characters', () => {
    const key = `\u0085${'k'.repeat(200)}`;
    const shown = refusal(() => readJson(JSON.stringify({ o: 0 }).replace('"o"', `"${key}":1,"${key}"`))).details[
      'key'
    ];
    expect(shown).toBe(`\uFFFD${'k'.repeat(63)}…`);
  });

  it('accepts 100 nested levels and refuses the next', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(Array.isArray(readJson(nested(100)))).toBe(true);
    expect(refusal(() => readJson(nested(101))).details).toEqual({
      field: 'body',
      reason: 'too_deep',
      line: 1,
      column: 101,
      limit: 100,
    });
    expect(reasonOf('{"a":'.repeat(101))).toBe('too_deep');
  });

  it('never answers nesting with the stack, however deep and however much is allowed', () => {
    // A recursive reader dies at some thousand levels, and with it the process.
    expect(reasonOf('['.repeat(20_000))).toBe('too_deep');
    expect(reasonOf('[{"a":'.repeat(1_000_000))).toBe('too_deep');
    const depth = 20_000;
    let value = readJson(`${'['.repeat(depth)}1${']'.repeat(depth)}`, { maxDepth: depth });
    let levels = 0;
    while (Array.isArray(value)) {
      value = value[0] as JsonValue;
      levels++;
    }
    expect(levels).toBe(depth);
  });

  it('counts a string by what it stands for, keys too', () => {
    const longest = 4 * 2 ** 20;
    expect(readJson(`"${'a'.repeat(longest)}"`)).toHaveLength(longest);
    expect(reasonOf(`"${'a'.repeat(longest + 1)}"`)).toBe('string_too_long');
    expect(readJson('"\\u0041\\u0041😀\\uD83D\\uDE00"', { maxStringChars: 6 })).toBe('AA😀😀');
    expect(refusal(() => readJson('"\\u0041\\uD83D\\uDE00"', { maxStringChars: 2 })).details['reason']).toBe(
      'string_too_long',
    );
    expect(refusal(() => readJson('{"abcd":1}', { maxStringChars: 3 })).details['reason']).toBe('string_too_long');
  });

  it.each([
    '1e1000',
    '1e131000',
    '1e-1000',
    '-1e999',
    `1${'0'.repeat(1000)}`,
    `0.${'1'.repeat(999)}`,
    `1e${'0'.repeat(2000)}1`,
    `1e${'9'.repeat(400)}`,
    '1e-99999999999999999999',
  ])('refuses the number %.20s whose digits would not fit when written out', (text) => {
    // 1e131000 is eight bytes here and 131 kB in the database.
    expect(refusal(() => readJson(`[${text}]`)).details).toEqual({
      field: 'body',
      reason: 'too_many_digits',
      line: 1,
      column: 2,
      limit: 1000,
    });
  });

  it.each(['1e999', '-1e998', '1e-998', `${'9'.repeat(1000)}`, `-0.${'1'.repeat(997)}`])(
    'accepts %.20s at the limit',
    (text) => {
      expect(String(readJson(text))).toBe(text);
    },
  );

  it('bounds hostile bodies of 10 MB', () => {
    const megabytes = 10 * 1024 * 1024;
    expect(reasonOf('1'.repeat(megabytes))).toBe('too_many_digits');
    expect(reasonOf(`"${'\\u0041'.repeat(megabytes / 6)}`)).toBe('malformed_json');
    expect(reasonOf(`"${'a'.repeat(megabytes)}"`)).toBe('string_too_long');
    expect(reasonOf(' '.repeat(megabytes))).toBe('malformed_json');
    expect(readJson(`[${'0,'.repeat(megabytes / 2)}0]`)).toHaveLength(megabytes / 2 + 1);
    expect(
      Object.keys(readJson(`{${Array.from({ length: 500_000 }, (_, i) => `"key${i}":0`).join(',')}}`) as object),
    ).toHaveLength(500_000);
  });

  it('agrees with JSON.parse on every valid text', () => {
    // The reader is our own; the runtime’s is the reference for the grammar.
    const storable = fc.json({ maxDepth: 6 }).filter((text) => !/\\u0000|\\u[dD][89a-fA-F]/.test(text));
    fc.assert(
      fc.property(storable, (text) => {
        expect(asDoubles(readJson(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse on what is malformed, for texts one edit away from valid ones', () => {
    const edit = fc.record({
      at: fc.nat(),
      cut: fc.nat(2),
      put: fc.constantFrom('', ',', ':', '"', '{', '}', '[', ']', '0', '-', '.', 'e', '\\', ' ', '\n', 'x'),
    });
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), edit, (valid, { at, cut, put }) => {
        const start = at % (valid.length + 1);
        const text = valid.slice(0, start) + put + valid.slice(start + cut);
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
          expect(reasonOf(text)).toMatch(/^(malformed_json|duplicate_key|too_many_digits)$/);
          return;
        }
        try {
          expect(asDoubles(readJson(text))).toEqual(parsed);
        } catch (error) {
          if (!isPenstockError(error)) throw error;
          // Stricter than the reference only where we mean to be.
          expect(error.details['reason']).toMatch(/^(duplicate_key|too_many_digits)$|^malformed_json$/);
          if (error.details['reason'] === 'malformed_json') expect(text).toMatch(/\\u0000|\\u[dD][89a-fA-F]/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('readJsonBytes', () => {
  const bytes = (...units: number[]) => Uint8Array.from([0x22, ...units, 0x22]);

  it('reads UTF-8, with or without a byte order mark', () => {
    expect(readJsonBytes(new TextEncoder().encode('"é😀"'))).toBe('é😀');
    expect(readJsonBytes(new TextEncoder().encode('\uFEFF"a"'))).toBe('a');
  });

  it.each([
    ['a lone continuation byte', bytes(0x80)],
    ['an overlong slash', bytes(0xc0, 0xaf)],
    ['a surrogate in UTF-8', bytes(0xed, 0xa0, 0x80)],
    ['a cut sequence', bytes(0xf0, 0x9f, 0x98)],
    ['a value beyond Unicode', bytes(0xf4, 0x90, 0x80, 0x80)],
    ['Latin-1', bytes(0xe9)],
  ])('refuses %s instead of replacing it', (_what, input) => {
    // A replacement character would be stored as if the caller had written it.
    expect(refusal(() => readJsonBytes(input, { field: 'x' })).details).toEqual({
      field: 'x',
      reason: 'malformed_json',
    });
  });
});
