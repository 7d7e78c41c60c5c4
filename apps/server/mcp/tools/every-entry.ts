import type { Listing, OffsetPage } from '#libs/kernel';

/** Most entries of a list that has no pages over MCP. */
const MOST = 2000;

/** Reads a list page by page to its end: an answer that leaves some out would look like all there is. */
export async function everyEntry<T>(pageSize: number, read: (page: OffsetPage) => Promise<Listing<T>>): Promise<T[]> {
  const entries: T[] = [];
  for (let total = 1; entries.length < Math.min(total, MOST);) {
    const page = await read({ offset: entries.length, limit: pageSize });
    if (page.items.length === 0) break;
    entries.push(...page.items);
    total = page.total;
  }
  return entries;
}
