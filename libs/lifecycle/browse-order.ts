import { keysetItems, KeysetOrder, type KeysetListing, type KeysetPage, type SortKey } from '#libs/kernel/pure';
import { keysetStatement, type Selection } from './browse.js';
import type { Statement } from './statements.js';

/** What a list may be ordered by; equal stamps stand by name. */
export type OrderField = 'name' | 'created_at' | 'updated_at';

export interface BrowseOrder {
  field: OrderField;
  descending: boolean;
}

/** What of a row tells its place. */
export interface Placed {
  name: string;
  /** In the database's form, with microseconds. */
  createdAt: string;
  updatedAt: string;
}

/** The place of a row in an order, as `after` and `before` take it back. */
export function placeIn({ field }: BrowseOrder, row: Placed): string {
  if (field === 'name') return row.name;
  return KeysetOrder.place(field === 'created_at' ? row.createdAt : row.updatedAt, row.name);
}

/**
 * One page in an order. Reads one row more than asked, which tells whether there are more. 400 `graphql.cursor_invalid`
 * for a place that is none of this order.
 */
export function orderedStatement(
  selection: Selection,
  { field, descending }: BrowseOrder,
  page: KeysetPage,
): Statement {
  const name: SortKey = { sql: 'e.name COLLATE "C"', kind: 'text', descending };
  const keys: SortKey[] = field === 'name' ? [name] : [{ sql: `e.${field}`, kind: 'timestamptz', descending }, name];
  return keysetStatement(selection, page, new KeysetOrder(...keys));
}

/** The rows of `orderedStatement` in list order, each with its place. */
export function orderedItems<T extends Placed>(
  rows: readonly T[],
  order: BrowseOrder,
  page: KeysetPage,
): KeysetListing<{ row: T; cursor: string }> {
  const { items, ...more } = keysetItems(rows, page);
  return { items: items.map((row) => ({ row, cursor: placeIn(order, row) })), ...more };
}
