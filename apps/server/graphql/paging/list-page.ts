import type { KeysetListing, KeysetPage } from '#libs/kernel';
import { DEFAULT_PAGE } from '../limits/operation-gate.js';

/**
 * A page by key of a list that is read whole anyway, because it is short: members of a workspace, bindings of a path.
 * The rows come sorted by `keyOf`, by code unit.
 */
export function pageOfList<T>(rows: readonly T[], keyOf: (row: T) => string, page: KeysetPage): KeysetListing<T> {
  const { first, after, last, before } = page;
  if (last !== undefined) {
    const upTo = before === undefined ? rows : rows.filter((row) => keyOf(row) < before);
    const items = last === 0 ? [] : upTo.slice(-last);
    return { items, hasNext: upTo.length < rows.length, hasPrevious: upTo.length > items.length };
  }
  const from = after === undefined ? rows : rows.filter((row) => keyOf(row) > after);
  const items = from.slice(0, first ?? DEFAULT_PAGE);
  return { items, hasNext: from.length > items.length, hasPrevious: from.length < rows.length };
}
