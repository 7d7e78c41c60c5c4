import { describe, expect, it } from '@jest/globals';
import type { KeysetPage } from '#libs/kernel';
import { everyEntry } from './every-entry.js';
import { ListedEntries } from './listed-entries.js';
import { DECLARATIONS } from './tool-catalogue.js';
import { successResult } from './tool-result.js';

const tool = DECLARATIONS.find(({ name }) => name === 'datasources_list')!;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** A source of that many entries, in pages as a service gives them. */
const pages = (count: number, counted = count) => ({
  page: ({ first = 0, after }: KeysetPage) => {
    const from = after === undefined ? 0 : Number(after) + 1;
    const items = numbers(count).slice(from, from + first);
    return Promise.resolve({ items, hasNext: from + first < counted, hasPrevious: from > 0 });
  },
  count: () => Promise.resolve(counted),
  placeOf: String,
});

describe('a list', () => {
  it.each([0, 1, 199, 200, 201, 2000])('of %i entries is given whole, and says nothing of a cut', async (count) => {
    const { items, total } = await everyEntry(200, pages(count));
    expect([items, total]).toEqual([numbers(count), count]);
    const { content, structuredContent } = successResult(tool, new ListedEntries(items, total, 'look'), 'c');
    expect([content.length, structuredContent]).toEqual([1, { items }]);
  });

  it('of more ends at two thousand and says so: a model takes a bare list for all there is', async () => {
    const { items, total } = await everyEntry(300, pages(2345));
    expect([items.length, total]).toEqual([2000, 2345]);
    const list = new ListedEntries(items, total, 'list one “dialect”');
    const { content, structuredContent } = successResult(tool, list, 'c');
    expect(structuredContent).toMatchObject({ total: 2345, truncated: true });
    expect(content.map((part) => ('text' in part ? part.text : ''))).toEqual([
      JSON.stringify(items),
      'These are 2000 of 2345 entries, not all. To see others, list one “dialect”.',
    ]);
  });

  it('that loses entries while its pages are read ends, and calls that no cut', async () => {
    const { items, total } = await everyEntry(2, pages(4, 6));
    expect([items, total]).toEqual([[0, 1, 2, 3], 4]);
  });
});
