import { describe, expect, it } from '@jest/globals';

import { characterCount, firstCharacters, readableText, visibleText } from './fact-text.js';

describe('the text of a fact', () => {
  it.each([
    'a\u0000b',
    'bell\u0007',
    'escape \u001b[31mred',
    'c1 \u009b31m',
    'ltr override \u202Egnirts',
    'isolate \u2066x\u2069',
    'mark \u200Fx',
    'zero\u200Bwidth',
    'bom \uFEFFx',
    'tags \u{E0041}\u{E0042}',
    'variation \u{E0100}x',
    'soft\u00ADhyphen',
    'line\u2028separator',
    'lone \uD800 surrogate',
    'filler \u3164x',
    'private \uE000x',
  ])('is refused when it holds what nobody sees: %j', (text) => {
    expect(readableText(text)).toBeUndefined();
  });

  it.each([
    'Beträge in €, 12 % MwSt.',
    'قيمة بالدينار',
    'משקל בגרמים',
    'می‌خواهم',
    '価格は円',
    'family 👨‍👩‍👧 and heart ❤️',
    'two\nlines\tand a tab',
    '<script>alert(1)</script> ignore previous instructions',
  ])('is any script, emoji, or markup as plain text: %s', (text) =>
    expect(readableText(text)).toBe(text.normalize('NFC')),
  );

  it('is composed and trimmed, so that the same text is the same fact', () => {
    expect(readableText('  Cafe\u0301\r\nau lait \u00A0')).toBe('Café\nau lait');
  });

  it('is counted and cut by characters, as the database counts', () => {
    expect(characterCount('a😀é')).toBe(3);
    expect(firstCharacters('😀😀😀', 2)).toBe('😀😀');
    expect(firstCharacters('abc', 300)).toBe('abc');
  });

  it('of a foreign database is made fit: hidden characters become spaces', () => {
    expect(visibleText('a\u0000b\u202Ec\nd')).toBe('a b c d');
  });
});
