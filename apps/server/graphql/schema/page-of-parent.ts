import { writeJson, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { Batch } from '../engine/batch.js';

/** A page below one of many parents. Parents that ask for the same page are answered by one statement. */
export interface PageOfParent<F> {
  parent: string;
  page: KeysetPage;
  filter: F;
}

type Read<F, V> = (
  principal: Principal,
  parents: readonly string[],
  page: KeysetPage,
  filter: F,
) => Promise<ReadonlyMap<string, V>>;

export function pagesOfParents<F, V = KeysetListing<unknown>>(read: Read<F, V>): Batch<PageOfParent<F>, V> {
  const nameOf = (key: PageOfParent<F>): string => `${key.parent} ${shapeOf(key)}`;
  return new Batch<PageOfParent<F>, V>(async (principal, keys) => {
    const found = new Map<string, V>();
    const groups = Map.groupBy(keys, shapeOf);
    for (const group of groups.values()) {
      const [{ page, filter }] = group as [PageOfParent<F>];
      const parents = group.map(({ parent }) => parent);
      for (const [parent, value] of await read(principal, parents, page, filter)) {
        found.set(nameOf({ parent, page, filter }), value);
      }
    }
    return found;
  }, nameOf);
}

function shapeOf<F>({ page, filter }: PageOfParent<F>): string {
  return writeJson([page, filter ?? null]);
}

export const EMPTY_PAGE = { items: [], hasNext: false, hasPrevious: false };
