import { LRUCache } from 'lru-cache';

import type { ResultColumn } from './columns.js';
import type { FieldDescription } from './messages.js';
import type { RowBatch } from './row-batch.js';

/** Of how many results, how many batches, each of at most so many bytes of rows, wait to be filled again. */
const SPARE = { results: 16, each: 8, bytes: 64 * 1024 };

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

  readonly #spare = new LRUCache<ReadShape, RowBatch[]>({ max: SPARE.results });

  /** A batch that an earlier read of this result is done with: making its vectors takes longer than filling them. */
  takeSpare(shape: ReadShape): RowBatch | undefined {
    return this.#spare.get(shape)?.pop();
  }

  keepSpare(shape: ReadShape, batch: RowBatch): void {
    if (!shape.isShort || batch.bytes > SPARE.bytes) return;
    const batches = this.#spare.get(shape) ?? [];
    if (batches.length >= SPARE.each) return;
    batches.push(batch);
    this.#spare.set(shape, batches);
  }

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
