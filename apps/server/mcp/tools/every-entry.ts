import type { KeysetListing, KeysetPage } from '#libs/kernel';

/** Most entries of a list that has no pages over MCP. */
const MOST = 2000;

interface EveryEntry<T> {
  page: (page: KeysetPage) => Promise<KeysetListing<T>>;
  count: () => Promise<number>;
  /** The place of an entry, as `after` takes it back. */
  placeOf: (entry: T) => string;
}

/** Reads a list page by page to its end, or to its first 2,000 entries; `total` tells which. */
export async function everyEntry<T>(
  pageSize: number,
  { page, count, placeOf }: EveryEntry<T>,
): Promise<{ items: T[]; total: number }> {
  const items: T[] = [];
  let isWhole = false;
  for (let after: { after?: string } = {}; !isWhole && items.length < MOST;) {
    const found = await page({ first: Math.min(pageSize, MOST - items.length), ...after });
    items.push(...found.items);
    const last = found.items.at(-1);
    isWhole = !found.hasNext || last === undefined;
    if (last !== undefined) after = { after: placeOf(last) };
  }
  // Entries that came or went while the pages were read are no cut.
  return { items, total: isWhole ? items.length : Math.max(items.length, await count()) };
}
