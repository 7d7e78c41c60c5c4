import { describe, expect, it } from '@jest/globals';
import { isCommonPassword } from './common-passwords.js';
import { isStorable, policyViolation } from './password-policy.js';

const ada = { email: 'ada.lovelace@example.org', displayName: 'Ada Lovelace Byron' };

describe('the password policy', () => {
  it.each([
    ['', 'too_short'],
    ['elevenchars', 'too_short'],
    ['😀'.repeat(11), 'too_short'],
    ['x1'.repeat(65), 'too_long'],
    ['ilovelacesokay', 'contains_identity'],
    ['xx-ADA.LOVELACE-yy', 'contains_identity'],
    ['grumpyBYRONpoet', 'contains_identity'],
  ])('%j is refused as %s', (password, reason) => {
    expect(policyViolation(password, ada)).toBe(reason);
  });

  it.each([
    'password1234',
    'Password123!',
    'P@ssw0rd2024!',
    'passwordpassword',
    'qwertyuiop123',
    '1qaz2wsx3edc',
    '1qaz2wsx3edc4rfv',
    '123456789012',
    '987654321098',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    'iloveyou2024',
    'Welcome2024!!',
    'adminadmin123',
    'letmein.letmein',
    'Liverpool2005',
    'summer2025!!!!',
    'Superman-Batman1',
    '!!!!!!!!!!!!!!!!',
    'abcdefghijklm',
    'ｐａｓｓｗｏｒｄ１２３４',
  ])('%j is among those everybody tries', (password) => {
    expect(policyViolation(password, ada)).toBe('common');
  });

  it.each([
    'correct horse battery staple',
    'Zürich näht gern Kissen',
    'velvet-gravel-onion-51',
    'kJ8#mPq2vX9z',
    '        7 spaces        ',
    '密码是一个很长的句子没有人知道',
    'mud🌋 puddle tram',
  ])('%j is accepted: no rule about composition, no trimming', (password) => {
    expect(policyViolation(password, ada)).toBeUndefined();
  });

  it('does not take short parts of a name as an identity, they stand in innocent words', () => {
    expect(policyViolation('canada-geese-waddle', ada)).toBeUndefined();
  });

  it('covers well over ten thousand passwords of permitted length', () => {
    const stems = [
      'password',
      'welcome',
      'sunshine',
      'football',
      'superman',
      'princess',
      'iloveyou',
      'qwerty',
      'dragon',
      'monkey',
    ];
    const dresses = Array.from(
      { length: 1200 },
      (_, n) => `${1900 + (n % 150)}${'!.-_#*?+'[n % 8]}${'!'.repeat((n % 5) + 1)}`,
    );
    const tried = new Set(stems.flatMap((stem) => dresses.flatMap((dress) => [stem + dress, dress + stem])));
    const accepted = [...tried].filter((password) => !isCommonPassword(password));
    expect(tried.size).toBeGreaterThan(10_000);
    expect(accepted).toEqual([]);
  });

  it('answers hostile input quickly: the decomposition has no exponential case', () => {
    const almost = 'me'.repeat(63) + '\u0001x';
    expect(policyViolation(almost, ada)).toBeDefined();
    expect(isStorable('x'.repeat(100_000))).toBe(false);
    expect(isStorable('😀'.repeat(128))).toBe(true);
  });
});
