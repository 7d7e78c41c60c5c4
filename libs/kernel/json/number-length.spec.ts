import { describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { writtenOutLength } from './number-length.js';

/** The token with its exponent written out, by moving the point digit by digit. */
function writtenOut(token: string): string {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  let [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  for (let moves = Number(exponent); moves > 0; moves--) {
    whole += fraction[0] ?? '0';
    fraction = fraction.slice(1);
  }
  for (let moves = Number(exponent); moves < 0; moves++) {
    fraction = (whole.at(-1) ?? '0') + fraction;
    whole = whole.slice(0, -1);
  }
  return `${sign}${whole || '0'}${fraction ? `.${fraction}` : ''}`;
}

describe('writtenOutLength', () => {
  it.each([
    ['1e3', 4],
    ['-1.25E+1', 5],
    ['1e-3', 5],
    ['12.5e-1', 4],
    ['0', 1],
  ])('is the length of %s written out: %i', (token, length) => expect(writtenOutLength(token)).toBe(length));

  it('agrees with writing the number out', () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,8})$/);
    const fraction = fc.stringMatching(/^(\.\d{1,6})?$/);
    fc.assert(
      fc.property(fc.boolean(), digits, fraction, fc.integer({ min: -40, max: 40 }), (minus, whole, part, exponent) => {
        const token = `${minus ? '-' : ''}${whole}${part}e${exponent}`;
        expect([token, writtenOutLength(token)]).toEqual([token, writtenOut(token).length]);
      }),
    );
  });
});
