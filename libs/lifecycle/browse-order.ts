import { isStamp, PenstockError, type KeysetListing, type KeysetPage } from '#libs/kernel';
import { keysetItems, selectionFrom, type Selection } from './browse.js';
import type { Statement } from './statements.js';

/** What a list may be ordered by; equal stamps stand by name. */
export type OrderField = 'name' | 'created_at' | 'updated_at';

export interface BrowseOrder {
  field: OrderField;
  descending: boolean;
}

/** What of a row tells its place. */
interface Placed {
  name: string;
  /** In the database's form, with microseconds. */
  createdAt: string;
  updatedAt: string;
}

const DEFAULT_PAGE = 50;

/** The place of a row in an order, as `after` and `before` take it back. */
export function placeIn({ field }: BrowseOrder, row: Placed): string {
  if (field === 'name') return row.name;
  return `${field === 'created_at' ? row.createdAt : row.updatedAt}~${row.name}`;
}

/**
 * One page in an order. Reads one row more than asked, which tells whether there are more. 400 `graphql.cursor_invalid`
 * for a place that is none of this order.
 */
export function orderedStatement(selection: Selection, order: BrowseOrder, page: KeysetPage): Statement {
  const backwards = page.last !== undefined;
  const descending = order.descending !== backwards;
  const direction = descending ? 'DESC' : 'ASC';
  const keys = order.field === 'name' ? ['e.name COLLATE "C"'] : [`e.${order.field}`, 'e.name COLLATE "C"'];
  const values = [...selection.values];
  const place = backwards ? page.before : page.after;
  const edge = place === undefined ? [] : edgeOf(order.field, place);
  const marks = edge.map((value, at) => `$${values.push(value)}::${at === edge.length - 1 ? 'text' : 'timestamptz'}`);
  const beyond = marks.length === 0 ? '' : `AND (${keys.join(', ')}) ${descending ? '<' : '>'} (${marks.join(', ')})`;
  const limit = values.push((page.last ?? page.first ?? DEFAULT_PAGE) + 1);
  return {
    sql: `SELECT ${selection.columns} ${selectionFrom(selection)} ${beyond}
           ORDER BY ${keys.map((key) => `${key} ${direction}`).join(', ')} LIMIT $${limit}`,
    values,
  };
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

function edgeOf(field: OrderField, place: string): string[] {
  if (field === 'name') return [place];
  const at = place.indexOf('~');
  const stamp = place.slice(0, Math.max(at, 0));
  if (!isStamp(stamp)) throw new PenstockError('graphql.cursor_invalid');
  return [stamp, place.slice(at + 1)];
}
