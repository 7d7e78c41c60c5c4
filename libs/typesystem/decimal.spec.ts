import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  compareDecimals,
  formatDecimal,
  measureDecimal,
  parseDecimal,
  parseNumberToken,
  rescaleDecimal,
  trimDecimal,
} from './decimal.js';

const decimals = fc.record({
  unscaled: fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  scale: fc.nat({ max: 40 }),
});

describe('exact decimals', () => {
  it('come back from their text with value and scale, because hashes and wire texts depend on both', () => {
    fc.assert(fc.property(decimals, (value) => expect(parseDecimal(formatDecimal(value))).toEqual(value)));
  });

  it.each(['', '-', '.', '1.', '.5', '+1', '1e3', ' 1', '1 ', '--1', '1.2.3', '0x10', '1_000', '１', 'NaN', '1,5'])(
    'refuse %j: only plain decimal text is exact in every dialect',
    (text) => expect(parseDecimal(text)).toBeNull(),
  );

  it('keep a sign and leading zeros where the digits begin behind the point', () => {
    expect(formatDecimal({ unscaled: -5n, scale: 3 })).toBe('-0.005');
    expect(formatDecimal({ unscaled: 0n, scale: 2 })).toBe('0.00');
  });

  it('are never rounded by a change of scale', () => {
    fc.assert(
      fc.property(decimals, fc.nat({ max: 60 }), (value, scale) => {
        const scaled = rescaleDecimal(value, scale);
        if (scaled) expect(compareDecimals(scaled, value)).toBe(0);
        else expect(trimDecimal(value).scale).toBeGreaterThan(scale);
      }),
    );
  });

  it('compare by value, so that 1.0 equals 1 in checks', () => {
    expect(compareDecimals({ unscaled: 10n, scale: 1 }, { unscaled: 1n, scale: 0 })).toBe(0);
    expect(compareDecimals({ unscaled: -1n, scale: 3 }, { unscaled: 0n, scale: 0 })).toBe(-1);
    expect(compareDecimals({ unscaled: 1001n, scale: 3 }, { unscaled: 1n, scale: 0 })).toBe(1);
  });

  it.each([
    ['0', 0, 0],
    ['0.050', 0, 2],
    ['120.00', 3, 0],
    ['-9.99', 1, 2],
  ])('%s needs %i integer and %i fraction digits of a column', (text, integer, fraction) => {
    expect(measureDecimal(parseDecimal(text)!)).toEqual({ integer, fraction });
  });
});

describe('JSON number tokens', () => {
  it.each([
    ['1e2', '100'],
    ['1.50', '1.50'],
    ['-12.5E-3', '-0.0125'],
    ['1E+1', '10'],
    ['0.1e1', '1'],
  ])('%s is read exactly as %s', (token, text) => expect(formatDecimal(parseNumberToken(token)!)).toBe(text));

  it.each(['1e131000', '1e-131000', '1e99999999999', `1${'0'.repeat(1000)}`, '1e1001', '1e-1001'])(
    'a token that is huge written out is refused before it is written out: %s',
    (token) => expect(parseNumberToken(token)).toBeNull(),
  );

  it.each(['01', '+1', '1.', '.1', '1e', 'Infinity', '-', ''])('%j is no number token', (token) =>
    expect(parseNumberToken(token)).toBeNull(),
  );
});
