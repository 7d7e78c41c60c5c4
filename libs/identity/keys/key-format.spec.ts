import { describe, expect, it } from '@jest/globals';
import { oneTimePassword } from '../passwords/one-time-password.js';
import { isKeyId, keyIdOf, mintKey } from './key-format.js';

describe('API keys on paper', () => {
  it('mints 65 characters whose first part is the id', () => {
    const { id, key } = mintKey();
    expect(key).toMatch(/^dpk_[A-Z2-7]{12}\.[A-Z2-7]{48}$/);
    expect(key).toHaveLength(65);
    expect(keyIdOf(key)).toBe(id);
    expect(isKeyId(id)).toBe(true);
    expect(isKeyId(key)).toBe(false);
  });

  it('uses the whole alphabet evenly, since a bias would shorten the secret', () => {
    const symbols = Array.from({ length: 400 }, () => mintKey().key.slice(17)).join('');
    const counts = new Map<string, number>();
    for (const symbol of symbols) counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
    expect(counts.size).toBe(32);
    const expected = symbols.length / 32;
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.3);
  });

  it.each([
    '',
    'dpk_',
    'dpk_aaaaaaaaaaaa.' + 'A'.repeat(48),
    'dpk_AAAAAAAAAAAA.' + 'A'.repeat(47),
    'dpk_AAAAAAAAAAAA.' + 'A'.repeat(49),
    'dpk_AAAAAAAAAAA1.' + 'A'.repeat(48),
    ' dpk_AAAAAAAAAAAA.' + 'A'.repeat(48),
    'dpk_AAAAAAAAAAAA.' + 'A'.repeat(48) + '\n',
    'dpk_AAAAAAAAAAAA.' + 'A'.repeat(100_000),
  ])('refuses %j before any I/O', (presented) => {
    expect(keyIdOf(presented)).toBeUndefined();
  });

  it('makes one-time passwords a person can type', () => {
    const made = new Set(Array.from({ length: 200 }, oneTimePassword));
    expect(made.size).toBe(200);
    for (const password of made) expect(password).toMatch(/^[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}$/);
  });
});
