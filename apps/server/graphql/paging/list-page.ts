import type { KeysetListing, KeysetPage } from '#libs/kernel';
import { DEFAULT_PAGE } from '../limits/operation-gate.js';

/** The page of a list that is the same page of the list turned round. */
export function turnedPage({ first, after, last, before }: KeysetPage): KeysetPage {
  if (last !== undefined) return { first: last, ...(before === undefined ? {} : { after: before }) };
  return { last: first ?? DEFAULT_PAGE, ...(after === undefined ? {} : { before: after }) };
}

/** A listing as it stands in the list turned round. */
export function turned<T>({ items, hasNext, hasPrevious }: KeysetListing<T>): KeysetListing<T> {
  return { items: items.toReversed(), hasNext: hasPrevious, hasPrevious: hasNext };
}
