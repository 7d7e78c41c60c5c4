import { LRUCache } from 'lru-cache';

import type { ResultColumn } from './columns.js';
import type { FieldDescription } from './messages.js';

/** Characters of statement texts that are kept. */
const MAX_KEPT_CHARS = 4 * 1024 * 1024;

/** What the server said of a statement's result, and how its columns are read. */
export interface ReadShape {
  readonly fields: readonly FieldDescription[];
  readonly columns: readonly ResultColumn[];
  /** It was few rows the last time. */
  isShort: boolean;
}

/**
 * The results of statements read lately, by their text; one for all connections of a pool. With it a statement is bound
 * without asking for its columns first; whether they are still the same is seen in the answer.
 */
export class ReadShapes {
  readonly #kept = new LRUCache<string, ReadShape>({ maxSize: MAX_KEPT_CHARS });

  get(sql: string): ReadShape | undefined {
    return this.#kept.get(sql);
  }

  keep(sql: string, shape: ReadShape): void {
    this.#kept.set(sql, shape, { size: sql.length + 1 });
  }

  forget(sql: string): void {
    this.#kept.delete(sql);
  }
}

/** Names too: a column that was renamed is another one to whoever reads the rows. */
export function sameFields(a: readonly FieldDescription[], b: readonly FieldDescription[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ name, typeOid, typeModifier }, at) => {
      const other = b[at]!;
      return name === other.name && typeOid === other.typeOid && typeModifier === other.typeModifier;
    })
  );
}
