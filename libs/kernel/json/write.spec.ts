import { describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { readJson } from './read.js';
import { ExactNumber } from './value.js';
import { canonicalJson, RawJson, writeJson } from './write.js';

describe('writeJson', () => {
  it('writes back exactly what was read', () => {
    // The same bytes must go in and out, or a hash changes between two readers of one document.
    const text = '{"b":[1.10,-0,1E+2,9007199254740993],"a":{"__proto__":"x\\n"},"é😀":null,"t":true}';
    expect(writeJson(readJson(text))).toBe(text);
  });

  it('round-trips every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = writeJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(writeJson(readJson(text))).toBe(text);
      }),
    );
  });

  it('writes big integers, exact numbers, maps and embedded JSON', () => {
    class View {
      readonly id = 1;
      readonly absent = undefined;
    }
    const rows = new RawJson('[[1.10,"9223372036854775807"]]');
    const value = { rows, n: 2n ** 64n, d: new ExactNumber('0.10'), m: new Map<string, unknown>([['k', new View()]]) };
    expect(writeJson(value)).toBe(
      '{"rows":[[1.10,"9223372036854775807"]],"n":18446744073709551616,"d":0.10,"m":{"k":{"id":1}}}',
    );
  });

  it('leaves out members that are undefined and keeps null', () => {
    // Absent optionals are omitted on the wire, null means known to be empty (03 §2).
    expect(writeJson({ a: undefined, b: null, c: 0, d: '' })).toBe('{"b":null,"c":0,"d":""}');
  });

  it.each([
    ['a date: its form is not ours to guess', new Date(0)],
    ['NaN', NaN],
    ['an infinity', -Infinity],
    ['undefined itself', undefined],
    ['undefined in an array', [undefined]],
    ['a hole in an array', new Array(1)],
    ['a function', { f: () => 1 }],
    ['a symbol', { s: Symbol('s') }],
    ['bytes', new Uint8Array(1)],
    ['a Buffer', Buffer.from('x')],
    ['an error', new RangeError('x')],
    ['a set', new Set([1])],
    ['a map with other keys', new Map([[1, 1]])],
    ['a promise', Promise.resolve(1)],
    ['a regular expression', /x/],
  ])('refuses %s', (_what, value) => {
    // JSON.stringify would write {} or null, and nobody would notice until the data is gone.
    expect(() => writeJson({ value: [value] })).toThrow(TypeError);
  });

  it('refuses a circle instead of overflowing the stack', () => {
    const circle: unknown[] = [];
    circle.push({ circle });
    expect(() => writeJson(circle)).toThrow(/nested too deeply/);
  });

  it('ignores toJSON: what is written is what is there', () => {
    expect(writeJson({ toJSON: undefined, a: 1 })).toBe('{"a":1}');
    expect(() => writeJson({ toJSON: () => 'hidden' })).toThrow(TypeError);
  });

  it('writes lone surrogates as escapes, so that the text is UTF-8 in any case', () => {
    expect(writeJson('\uD800')).toBe('"\\ud800"');
  });
});

describe('canonicalJson', () => {
  it('sorts members at every level by UTF-16 units, keeps arrays in order', () => {
    expect(canonicalJson(readJson('{"b":[{"z":1,"a":2}],"a":0,"é":0,"A":0,"😀":0,"\uFB33":0}'))).toBe(
      '{"A":0,"a":0,"b":[{"a":2,"z":1}],"é":0,"😀":0,"\uFB33":0}',
    );
  });

  it('is the same for every order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(object));
      }),
    );
  });

  it('tells numbers apart by their text', () => {
    // Through doubles …992 and …993 would be one request, and the second caller would get the first one’s run.
    expect(canonicalJson(readJson('[9007199254740993]'))).not.toBe(canonicalJson(readJson('[9007199254740992]')));
    expect(canonicalJson(readJson('[1.0]'))).not.toBe(canonicalJson(readJson('[1]')));
  });
});
