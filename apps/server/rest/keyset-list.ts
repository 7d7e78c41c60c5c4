import type { KeysetListing, Listing, OffsetPage } from '#libs/kernel';
import type { Cursors } from '../graphql/paging/cursor.js';
import { listBody } from '../http/input.js';

/** A row of a list and its place there. */
interface Placed<T> {
  execution: T;
  cursor: string;
}

/** The list shape of a page by position, with the cursor that reads on behind it (03 §2). */
export function placedListBody<T>(page: OffsetPage, { items, total }: Listing<Placed<T>>, cursors: Cursors) {
  const body = listBody(page, { items: items.map(({ execution }) => execution), total });
  const { pagination } = body;
  return { ...body, pagination: { ...pagination, next_cursor: nextCursor(items, pagination.has_more, cursors) } };
}

/** The list shape of a page by key; it has no position. */
export function keysetBody<T>(
  limit: number,
  { items, hasNext, total }: KeysetListing<Placed<T>> & { total: number },
  cursors: Cursors,
) {
  return {
    items: items.map(({ execution }) => execution),
    pagination: { limit, total, has_more: hasNext, next_cursor: nextCursor(items, hasNext, cursors) },
  };
}

function nextCursor(items: readonly Placed<unknown>[], more: boolean, cursors: Cursors): string | null {
  const last = more ? items.at(-1) : undefined;
  return last ? cursors.encode(last.cursor) : null;
}
