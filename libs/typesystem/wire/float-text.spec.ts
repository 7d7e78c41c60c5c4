import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { float32Text } from './float-text.js';

const bits = new Int32Array(1);
const float = new Float32Array(bits.buffer);

/** Decimal digits of a text without sign, point, exponent and zeros around. */
function digits(text: string): number {
  return text
    .replace(/e.*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '').length;
}

describe('float32 text', () => {
  it('gives the value back and no text of one digit less does, for every power of two and its neighbours', () => {
    for (let exponent = 0; exponent < 255; exponent++) {
      for (const offset of [-2, -1, 0, 1, 2]) {
        bits[0] = (exponent << 23) + offset;
        const value = float[0]!;
        if (!Number.isFinite(value) || value === 0) continue;
        const text = float32Text(value);
        expect(Math.fround(Number(text))).toBe(value);
        expect(hasShorter(value, digits(text))).toBe(false);
      }
    }
  });

  it('gives any value back', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Math.fround(Number(float32Text(value))) + 0).toBe(value + 0);
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    [1.1, '1.1'],
    [16777216, '16777216'],
    [1e-45, '1e-45'],
    [3.4028234663852886e38, '3.4028235e+38'],
    [0.3, '0.3'],
  ])('%d is %s', (value, text) => expect(float32Text(Math.fround(value))).toBe(text));
});

/** Whether one of the two decimals around the value with one digit less reads back as it. */
function hasShorter(value: number, count: number): boolean {
  if (count < 2) return false;
  const [mantissa = '', exponent = '0'] = value.toExponential(count - 2).split('e');
  const nearest = BigInt(mantissa.replace('.', ''));
  return [nearest - 1n, nearest, nearest + 1n].some(
    (candidate) => Math.fround(Number(`${candidate}e${Number(exponent) - (count - 2)}`)) === value,
  );
}
