import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'lossless-json';
import type { CanonicalValue, ColumnType } from '../canonical-type.js';
import { MAX_TIMESTAMP_MICROS, MIN_TIMESTAMP_MICROS, formatDate, MAX_DAY, MIN_DAY } from '../calendar.js';
import { coerceJson } from './coerce-json.js';
import { encodeWire } from './encode-wire.js';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const width = (digits: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: 1n - 10n ** digits, max: 10n ** digits - 1n });

/** Each type with its whole range of values. */
const typedValues: fc.Arbitrary<[ColumnType, CanonicalValue]> = fc.oneof(
  fc.boolean().map((v): [ColumnType, CanonicalValue] => [{ type: 'BOOLEAN' }, v]),
  fc.integer().map((v): [ColumnType, CanonicalValue] => [{ type: 'INTEGER' }, v]),
  int64.map((v): [ColumnType, CanonicalValue] => [{ type: 'BIGINTEGER' }, v]),
  width(15n).map((unscaled): [ColumnType, CanonicalValue] => [
    { type: 'DECIMAL', precision: 15, scale: 6 },
    { unscaled, scale: 6 },
  ]),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((v): [ColumnType, CanonicalValue] => [{ type: 'DECIMAL', precision: 15 }, v + 0]),
  fc
    .float({ noNaN: true, noDefaultInfinity: true })
    .map((v): [ColumnType, CanonicalValue] => [{ type: 'DECIMAL', precision: 7 }, v + 0]),
  width(38n).map((unscaled): [ColumnType, CanonicalValue] => [
    { type: 'BIGDECIMAL', precision: 38, scale: 10 },
    { unscaled, scale: 10 },
  ]),
  fc
    .tuple(width(60n), fc.nat({ max: 50 }))
    .map(([unscaled, scale]): [ColumnType, CanonicalValue] => [{ type: 'BIGDECIMAL' }, { unscaled, scale }]),
  fc
    .string({ unit: 'binary' })
    .filter((v) => !/\0|\p{Surrogate}/u.test(v))
    .map((v): [ColumnType, CanonicalValue] => [{ type: 'STRING' }, v]),
  fc.uint8Array().map((v): [ColumnType, CanonicalValue] => [{ type: 'BINARY' }, new Uint8Array(v)]),
  fc
    .integer({ min: MIN_DAY, max: MAX_DAY })
    .map((v): [ColumnType, CanonicalValue] => [{ type: 'DATE' }, formatDate(v)]),
  fc.nat({ max: 86_399_999_999 }).map((v): [ColumnType, CanonicalValue] => [{ type: 'TIME' }, v]),
  fc
    .bigInt({ min: MIN_TIMESTAMP_MICROS, max: MAX_TIMESTAMP_MICROS })
    .map((v): [ColumnType, CanonicalValue] => [{ type: 'TIMESTAMP' }, v]),
);

describe('the wire form of a value', () => {
  it('is taken back as the same value: what one run shows, the next run accepts', () => {
    fc.assert(
      fc.property(typedValues, ([type, value]) => {
        const read = coerceJson(type, parse(encodeWire(type, value)));
        // A float has one zero on the wire.
        expect(read).toEqual({ ok: true, value: value === 0 ? 0 : value });
      }),
      { numRuns: 3000 },
    );
  });

  it.each<[ColumnType, CanonicalValue, string]>([
    [{ type: 'TIMESTAMP' }, 1772348709000000n, '"2026-03-01T07:05:09.000000Z"'],
    [{ type: 'TIME' }, 25509000000, '"07:05:09.000000"'],
    [{ type: 'BIGINTEGER' }, 2n ** 53n + 1n, '"9007199254740993"'],
    [{ type: 'DECIMAL', precision: 10, scale: 3 }, { unscaled: 5n, scale: 1 }, '0.500'],
    [{ type: 'DECIMAL', precision: 7 }, 1.100000023841858, '1.1'],
    [{ type: 'DECIMAL', precision: 15 }, 1.100000023841858, '1.100000023841858'],
    [{ type: 'BIGDECIMAL', scale: 4 }, { unscaled: 1n, scale: 0 }, '"1.0000"'],
    [{ type: 'BIGDECIMAL', scale: 2 }, { unscaled: 12345n, scale: 4 }, '"1.2345"'],
    [{ type: 'BIGDECIMAL' }, { unscaled: 10n ** 40n, scale: 0 }, `"1${'0'.repeat(40)}"`],
    [{ type: 'BINARY' }, new Uint8Array([255]), '"/w=="'],
    [{ type: 'STRING' }, 'a"\u2028\n\ud800', '"a\\"\u2028\\n\\ud800"'],
    [{ type: 'BOOLEAN' }, false, 'false'],
    [{ type: 'NULL' }, null, 'null'],
  ])('%j %p is %s', (type, value, token) => {
    expect(encodeWire(type, value)).toBe(token);
  });

  it.each<[ColumnType, CanonicalValue]>([
    [{ type: 'DECIMAL', precision: 15 }, Number.NaN],
    [{ type: 'DECIMAL', precision: 7 }, Number.POSITIVE_INFINITY],
    [{ type: 'DATE' }, 'infinity'],
    [{ type: 'DATE' }, '0000-00-00'],
    [{ type: 'DATE' }, '0044-03-15 BC'],
    [{ type: 'DATE' }, '10000-01-01'],
    [{ type: 'TIME' }, 86_400_000_000],
    [{ type: 'TIME' }, -1],
    [{ type: 'TIMESTAMP' }, MAX_TIMESTAMP_MICROS + 1n],
    [{ type: 'TIMESTAMP' }, MIN_TIMESTAMP_MICROS - 1n],
    [{ type: 'TIMESTAMP' }, 2n ** 63n - 1n],
  ])('%j %p has none: null, counted, and the node goes on', (type, value) => {
    let counted = 0;
    expect(encodeWire(type, value, () => counted++)).toBe('null');
    expect(counted).toBe(1);
  });
});
