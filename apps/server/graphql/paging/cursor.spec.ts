import { describe, expect, it } from '@jest/globals';
import { Cursors } from './cursor.js';

const code = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'accepted';
};

describe('Cursors', () => {
  const cursors = new Cursors('pipelines', { q: 'a', status: undefined });

  it.each(['finance/daily', '', 'ünïcode 🚰', '2026-01-02T03:04:05.123456Z~id', '"[]\\'])('gives %p back', (key) => {
    expect(cursors.decode(cursors.encode(key))).toBe(key);
    expect(cursors.encode(key)).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it('refuses the cursor of another list or another filter, which would point to the wrong place', () => {
    const cursor = cursors.encode('a');
    expect(code(() => new Cursors('templates', { q: 'a' }).decode(cursor))).toBe('graphql.cursor_invalid');
    expect(code(() => new Cursors('pipelines', { q: 'b' }).decode(cursor))).toBe('graphql.cursor_invalid');
    expect(new Cursors('pipelines', { q: 'a' }).decode(cursor)).toBe('a');
  });

  it.each(['', '!', 'bm9wZQ', 'W10', 'x'.repeat(5000), Buffer.from('["h",1]').toString('base64url'), 'null', '\u0000'])(
    'refuses the broken cursor %p without failing inside',
    (cursor) => expect(code(() => cursors.decode(cursor))).toBe('graphql.cursor_invalid'),
  );

  it('leaves out what is not asked for', () => {
    expect(cursors.page({ first: 3, after: null })).toEqual({ first: 3 });
    expect(cursors.page({ last: 0, before: cursors.encode('k') })).toEqual({ last: 0, before: 'k' });
  });
});
