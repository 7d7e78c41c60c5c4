import { isUuid } from './ids.js';
import { edgeOf, isBackwards, sizeOf, type KeysetPage } from './paging.js';
import { PenstockError } from './penstock-error.js';
import { isStamp } from './wire-stamp.js';

/** What a place may hold of a key: a text of another kind is no cursor of ours, and the database is not asked about it. */
const KINDS = {
  text: (text: string) => !text.includes('\0'),
  uuid: isUuid,
  timestamptz: isStamp,
  int: (text: string) => /^[1-9]\d{0,8}$/.test(text),
  bigint: (text: string) => /^\d{1,18}$/.test(text),
} as const;

/** One expression of a list's order. Together the keys of an order tell every row from every other. */
export interface SortKey {
  sql: string;
  kind: keyof typeof KINDS;
  descending?: boolean;
}

/** Parts the keys of a place. The last key takes what is left, so it may hold the sign itself. */
const PART = '~';

/**
 * The order of a list, and pages by key in it (03 §12): what stands behind a place is asked for by comparing keys, so rows
 * that are added or go meanwhile neither repeat others nor hide them. The one place where such conditions are written.
 */
export class KeysetOrder {
  readonly #keys: readonly SortKey[];

  constructor(...keys: readonly SortKey[]) {
    this.#keys = keys;
  }

  /** The place of a row, from the values of its keys in the database's form. */
  static place(...values: readonly string[]): string {
    return values.join(PART);
  }

  /** `ORDER BY …`: the list's order, or its reverse for a page that is read from its end. */
  orderBy(page: KeysetPage): string {
    const backwards = isBackwards(page);
    const terms = this.#keys.map(
      ({ sql, descending = false }) => `${sql} ${descending === backwards ? 'ASC' : 'DESC'}`,
    );
    return `ORDER BY ${terms.join(', ')}`;
  }

  /**
   * The condition on rows beyond the edge of a page; its values are appended to `values`.
   *
   * @throws `graphql.cursor_invalid` for an edge that is no place in this order
   */
  beyond(page: KeysetPage, values: unknown[]): string {
    const edge = edgeOf(page);
    if (edge === undefined) return 'TRUE';
    const backwards = isBackwards(page);
    const keys = this.#parts(edge).map((part, at) => {
      const { sql, kind, descending = false } = this.#keys[at] as SortKey;
      return { sql, mark: `$${values.push(part)}::${kind}`, sign: descending === backwards ? '>' : '<' };
    });
    const [{ sign } = { sign: '>' }] = keys;
    if (keys.every((key) => key.sign === sign)) {
      // One comparison of rows can be answered from an index that has the keys in this order.
      return `(${keys.map(({ sql }) => sql).join(', ')}) ${sign} (${keys.map(({ mark }) => mark).join(', ')})`;
    }
    const cases = keys.map(({ sql, mark, sign: own }, at) => {
      const equal = keys.slice(0, at).map((key) => `${key.sql} = ${key.mark}`);
      return `(${[...equal, `${sql} ${own} ${mark}`].join(' AND ')})`;
    });
    return `(${cases.join(' OR ')})`;
  }

  /** `ORDER BY … LIMIT …`, for one row more than the page holds. */
  tail(page: KeysetPage, values: unknown[]): string {
    const limit = `LIMIT $${values.push(sizeOf(page) + 1)}`;
    const offset = page.skip === undefined ? '' : ` OFFSET $${values.push(page.skip)}`;
    return `${this.orderBy(page)} ${limit}${offset}`;
  }

  #parts(edge: string): string[] {
    const split = edge.split(PART);
    const last = this.#keys.length - 1;
    const parts = [...split.slice(0, last), split.slice(last).join(PART)];
    const fits = split.length > last && parts.every((part, at) => KINDS[(this.#keys[at] as SortKey).kind](part));
    if (!fits) throw new PenstockError('graphql.cursor_invalid');
    return parts;
  }
}
