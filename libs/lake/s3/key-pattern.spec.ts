import { describe, expect, it } from '@jest/globals';

import { keyMatcher } from './key-pattern.js';

describe('a pattern of keys', () => {
  it.each([
    ['t/**/*.parquet', ['t/a.parquet', 't/x=1/a.parquet', 't/x=1/y=2/a.parquet'], ['t/a.csv', 'u/a.parquet', 't/x/']],
    ['t/*/a.parquet', ['t/x/a.parquet'], ['t/a.parquet', 't/x/y/a.parquet']],
    ['t/part-?.parquet', ['t/part-1.parquet', 't/part-é.parquet'], ['t/part-12.parquet', 't/part-.parquet']],
    ['t/[a-c2]*[!0-9].p', ['t/ax.p', 't/2abcx.p'], ['t/dx.p', 't/a1.p', 't/a.p']],
    ['t/*ab*ab.p', ['t/abab.p', 't/xabyabab.p'], ['t/ab.p', 't/abx.p']],
    ['**', ['a', 'a/b/c'], []],
    ['**/y/**/z', ['y/z', 'a/y/b/y/z'], ['y', 'z', 'a/y/b']],
    ['t/(a|b)+{c,d}@!^$.p', ['t/(a|b)+{c,d}@!^$.p'], ['t/a.p', 't/(a|b)+c@!^$.p']],
    ['t/*.p', ['t/.hidden.p', 't/💾.p'], ['t/a.p/x']],
    ['t/[x', ['t/[x'], ['t/x']],
  ])('%s', (pattern, matching, other) => {
    const matches = keyMatcher(pattern);
    expect(matching.filter((key) => !matches(key))).toEqual([]);
    expect(other.filter((key) => matches(key))).toEqual([]);
  });

  it('of many stars is judged for the longest key: whoever registers a table must not stop the server', () => {
    const stars = 't/' + '*a'.repeat(500) + '*b.parquet';
    expect(keyMatcher(stars)('t/' + 'a'.repeat(1000))).toBe(false);
    expect(keyMatcher(stars)('t/' + 'a'.repeat(1000) + 'b.parquet')).toBe(true);
    const trees = '**/a/'.repeat(200) + 'b';
    expect(keyMatcher(trees)('a/'.repeat(500))).toBe(false);
  });
});
