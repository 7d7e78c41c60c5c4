import { PenstockError } from '#libs/kernel/pure';
import type { Column } from '../canonical-type.js';
import type { WireIssues } from '../wire/wire-issues.js';
import { ByteWriter } from './byte-writer.js';
import { cellBytes } from './cell-bytes.js';
import type { ColumnBatch } from './column-batch.js';

/** Rows as UTF-8 JSON arrays, a line feed between two (it stands nowhere else). Good until the encoder is used again. */
export interface EncodedRows {
  bytes: Uint8Array;
  /** Offset behind each row; the next row begins one byte further. */
  ends: Uint32Array;
}

/**
 * Encodes batches for the result store (contract 02 §6.4): the hot path of storing. Values without a wire form are
 * null and counted by column in `issues`. One encoder per result, whose rows are written over by the next batch: memory
 * of this size that is made anew for each costs more than the writing.
 */
export class RowEncoder {
  readonly #columns: readonly Column[];
  readonly #out = new ByteWriter(FIRST_BYTES);
  #ends = new Uint32Array(0);

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
  }

  /** @throws PenstockError `internal` when the batch has another number of columns than the result. */
  encode({ rowCount, vectors }: ColumnBatch, issues?: WireIssues): EncodedRows {
    if (vectors.length !== this.#columns.length) {
      throw new PenstockError('internal', {
        message: `A batch of ${vectors.length} columns came for a result of ${this.#columns.length}.`,
      });
    }
    const out = this.#out;
    out.at = 0;
    const cells = vectors.map((vector) => cellBytes(vector, out));
    const nulls = vectors.map((vector) => vector.nulls);
    if (this.#ends.length < rowCount) this.#ends = new Uint32Array(rowCount);
    const ends = this.#ends.subarray(0, rowCount);
    for (let row = 0; row < rowCount; row++) {
      out.reserve(2);
      if (row > 0) out.byte(LINE_FEED);
      out.byte(OPEN);
      for (let ordinal = 0; ordinal < cells.length; ordinal++) {
        if (ordinal > 0) {
          out.reserve(1);
          out.byte(COMMA);
        }
        if (nulls[ordinal]![row] === 1) out.ascii(NULL);
        else if (!cells[ordinal]!(row)) {
          out.ascii(NULL);
          issues?.add(ordinal);
        }
      }
      out.reserve(1);
      out.byte(CLOSE);
      ends[row] = out.at;
    }
    return { bytes: out.bytes.subarray(0, out.at), ends };
  }
}

/** Most results are a few rows. */
const FIRST_BYTES = 4 * 1024;

const LINE_FEED = 10;
const COMMA = 44;
const OPEN = 91;
const CLOSE = 93;
const NULL = 'null';

const DECODER = new TextDecoder();

/** Each row of a batch as one JSON array text, in column order; the text of `RowEncoder`. */
export function encodeBatchRows(columns: readonly Column[], batch: ColumnBatch, issues?: WireIssues): string[] {
  if (batch.rowCount === 0) return [];
  return DECODER.decode(new RowEncoder(columns).encode(batch, issues).bytes).split('\n');
}
