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

/** The page of a list that is the same page of the list turned round. */
export function turnedPage({ first, after, last, before }: KeysetPage): KeysetPage {
  if (last !== undefined) return { first: last, ...(before === undefined ? {} : { after: before }) };
  return { last: first ?? DEFAULT_PAGE, ...(after === undefined ? {} : { before: after }) };
}

/** A listing as it stands in the list turned round. */
export function turned<T>({ items, hasNext, hasPrevious }: KeysetListing<T>): KeysetListing<T> {
  return { items: items.toReversed(), hasNext: hasPrevious, hasPrevious: hasNext };
}
