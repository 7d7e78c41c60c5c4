import { describe, expect, it } from '@jest/globals';
import { Utf8Texts } from './utf8-texts.js';

describe('texts of a column side by side', () => {
  const put = (texts: Utf8Texts, row: number, text: string) => {
    const bytes = Buffer.from(text);
    texts.put(row, bytes, 0, bytes.length);
  };

  it('keep every text while they grow far beyond the room they began with', () => {
    const texts = new Utf8Texts(300, 1);
    const written = Array.from({ length: 300 }, (_, row) => 'ü😀'.repeat(row % 40));
    written.forEach((text, row) => put(texts, row, text));
    expect(written.map((_, row) => texts.text(row))).toEqual(written);
    expect(texts.size).toBe(Buffer.byteLength(written.join('')));
  });

  it('take other texts from a row on when they are rewound', () => {
    const texts = new Utf8Texts(2);
    put(texts, 0, 'kept');
    put(texts, 1, 'forgotten');
    texts.rewind(1);
    put(texts, 1, 'written again');
    expect([texts.text(0), texts.text(1)]).toEqual(['kept', 'written again']);
  });

  it('refuse more than their offsets can tell, before an offset wraps', () => {
    const texts = new Utf8Texts(1);
    put(texts, 0, 'x');
    expect(() => texts.reserve(2 ** 31 - 1)).toThrow('more than 2 GiB');
    expect(texts.text(0)).toBe('x');
  });
});
