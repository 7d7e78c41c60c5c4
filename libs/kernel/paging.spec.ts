import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pageOfList } from './paging.js';

const identity = (row: string): string => row;

describe('pageOfList', () => {
  it('walks a list both ways without a gap or a repeat, and knows where it ends', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), fc.integer({ min: 1, max: 5 }), (given, size) => {
        const rows = given.toSorted((left, right) => (left < right ? -1 : 1));
        const forwards: string[] = [];
        for (let after: string | undefined, more = true; more;) {
          const page = pageOfList(rows, identity, { first: size, after });
          forwards.push(...page.items);
          expect(page.hasPrevious).toBe(after !== undefined);
          more = page.hasNext;
          after = page.items.at(-1);
        }
        const backwards: string[] = [];
        for (let before: string | undefined, more = true; more;) {
          const page = pageOfList(rows, identity, { last: size, before });
          backwards.unshift(...page.items);
          more = page.hasPrevious;
          before = page.items[0];
        }
        expect([forwards, backwards]).toEqual([rows, rows]);
      }),
    );
  });

  it('gives nothing where nothing is asked for', () => {
    expect(pageOfList(['a'], identity, { first: 0 })).toEqual({ items: [], hasNext: true, hasPrevious: false });
    expect(pageOfList(['a'], identity, { last: 0 })).toEqual({ items: [], hasNext: false, hasPrevious: true });
  });
});
