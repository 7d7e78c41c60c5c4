import type { Listing, OffsetPage } from '#libs/kernel';

/** Most entries of a list that has no pages over MCP. */
const MOST = 2000;

/** Reads a list page by page to its end, or to its first 2,000 entries; `total` tells which. */
export async function everyEntry<T>(
  pageSize: number,
  read: (page: OffsetPage) => Promise<Listing<T>>,
): Promise<{ items: T[]; total: number }> {
  const items: T[] = [];
  let total = 1;
  while (items.length < Math.min(total, MOST)) {
    const page = await read({ offset: items.length, limit: Math.min(pageSize, MOST - items.length) });
    total = page.total;
    if (page.items.length === 0) break;
    items.push(...page.items);
  }
  // Entries that came or went while the pages were read are no cut.
  return { items, total: items.length < MOST ? items.length : total };
}
