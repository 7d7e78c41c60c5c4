/** A page by position, already clamped by the door (03 §2: `offset` 0.., `limit` 1..200). */
export interface OffsetPage {
  offset: number;
  limit: number;
}

/** One page and the number of rows the caller can see in all. */
export interface Listing<T> {
  items: T[];
  total: number;
}

/**
 * A page by key (03 §12): `first` with `after`, or `last` with `before`.
 * The cursors are opaque texts here; the door encodes and decodes the sort keys in them.
 */
export interface KeysetPage {
  first?: number;
  after?: string;
  last?: number;
  before?: string;
}

/** One keyset page in list order, whichever side it was asked from. */
export interface KeysetListing<T> {
  items: T[];
  hasNext: boolean;
  hasPrevious: boolean;
}
