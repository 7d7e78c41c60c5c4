import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase64, encodeBase64 } from './base64.js';

describe('base64', () => {
  it('agrees with the platform and comes back, at every length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const text = encodeBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64'));
        expect(decodeBase64(text)).toEqual(bytes);
      }),
    );
  });

  it('handles more than one slice', () => {
    const bytes = new Uint8Array(50_001).map((_, i) => i * 31);
    expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
  });

  it.each([
    'A',
    'AA',
    'AAA',
    'AA=A',
    'A===',
    '====',
    'AA-_',
    'AAA ',
    'AB==',
    'AAB=',
    'AA==AAAA',
    'AAAé',
    'AA=='.repeat(2),
  ])('refuses %j: two texts for the same bytes would bind one value and show another', (text) =>
    expect(decodeBase64(text)).toBeNull(),
  );
});
