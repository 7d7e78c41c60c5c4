import { describe, it, expect } from '@jest/globals';
import { folderOf, folderPathDefect, isBrowsePrefix } from './folder-path.js';

describe('folder paths', () => {
  it('takes 2–10 segments of the grammar', () => {
    for (const name of ['a/b', 'fleet/daily/idle_trucks', '0/9.sql', Array(10).fill('s').join('/')]) {
      expect(folderPathDefect(name)).toBeUndefined();
    }
  });

  it('tells a missing folder from a broken grammar, because only the first is mended by adding one', () => {
    expect(folderPathDefect('orders.sql')).toBe('folder_required');
    for (const name of ['', '/', 'a/', '/a/b', 'a//b', 'A/b', 'a/B', 'a/.b', 'a b/c', 'ä/b', '__proto__', 'a/b\n']) {
      expect(folderPathDefect(name)).toBe('grammar');
    }
    expect(folderPathDefect(Array(11).fill('s').join('/'))).toBe('grammar');
    expect(folderPathDefect(`a/${'b'.repeat(65)}`)).toBe('grammar');
    expect(folderPathDefect(Array(4).fill('b'.repeat(60)).join('/'))).toBe('grammar');
  });

  it('judges browse prefixes of 0–9 segments', () => {
    expect(isBrowsePrefix('')).toBe(true);
    expect(isBrowsePrefix('a')).toBe(true);
    expect(isBrowsePrefix(Array(9).fill('s').join('/'))).toBe(true);
    expect(isBrowsePrefix(Array(10).fill('s').join('/'))).toBe(false);
    expect(isBrowsePrefix('a/%')).toBe(false);
  });

  it('names the folder of a path', () => {
    expect(folderOf('a/b/c')).toBe('a/b');
  });
});
