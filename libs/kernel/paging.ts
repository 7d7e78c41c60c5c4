/**
 * A page by key (03 §12): `first` with `after`, or `last` with `before`.
 * The cursors are opaque texts here; the door encodes and decodes the sort keys in them.
 */
export interface KeysetPage {
  first?: number;
  after?: string;
  last?: number;
  before?: string;
  /** Rows passed over before the first one: how a page by position reads the same list (03 §2). */
  skip?: number;
}

/** One keyset page in list order, whichever side it was asked from. */
export interface KeysetListing<T> {
  items: T[];
  hasNext: boolean;
  hasPrevious: boolean;
}

const DEFAULT_PAGE = 50;

/** Whether a page is read from its end: `before` alone counts from there too. */
export function isBackwards({ last, before }: KeysetPage): boolean {
  return last !== undefined || before !== undefined;
}

/** How many rows a page holds at most. */
export function sizeOf(page: KeysetPage): number {
  return (isBackwards(page) ? page.last : page.first) ?? DEFAULT_PAGE;
}

/** Where a page begins, or ends when it is read backwards. */
export function edgeOf(page: KeysetPage): string | undefined {
  return isBackwards(page) ? page.before : page.after;
}

/** A page out of rows in the order they were read: one more than it holds tells whether there are others behind. */
export function keysetItems<T>(rows: readonly T[], page: KeysetPage): KeysetListing<T> {
  const size = sizeOf(page);
  const items = rows.slice(0, size);
  const more = rows.length > size;
  const entered = edgeOf(page) !== undefined;
  if (isBackwards(page)) return { items: items.reverse(), hasNext: entered, hasPrevious: more };
  return { items, hasNext: more, hasPrevious: entered || (page.skip ?? 0) > 0 };
}

/** Pages of several parents out of one statement, whose rows come in page order and at most one too many of each. */
export function keysetPages<T>(
  rows: readonly T[],
  parentOf: (row: T) => string,
  page: KeysetPage,
): Map<string, KeysetListing<T>> {
  return new Map([...Map.groupBy(rows, parentOf)].map(([parent, group]) => [parent, keysetItems(group, page)]));
}

/**
 * A page of a list that is read whole anyway, because it is short: members of a workspace, bindings of a path.
 * The rows come sorted by `placeOf`, by code unit.
 */
export function pageOfList<T>(rows: readonly T[], placeOf: (row: T) => string, page: KeysetPage): KeysetListing<T> {
  const edge = edgeOf(page);
  const size = sizeOf(page);
  if (isBackwards(page)) {
    const upTo = edge === undefined ? rows : rows.filter((row) => placeOf(row) < edge);
    const items = upTo.slice(Math.max(0, upTo.length - size));
    return { items, hasNext: upTo.length < rows.length, hasPrevious: upTo.length > items.length };
  }
  const from = (edge === undefined ? rows : rows.filter((row) => placeOf(row) > edge)).slice(page.skip ?? 0);
  const items = from.slice(0, size);
  return { items, hasNext: from.length > items.length, hasPrevious: from.length < rows.length };
}
