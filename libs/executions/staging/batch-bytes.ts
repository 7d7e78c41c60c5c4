import type { ColumnBatch, ColumnVector } from '#libs/typesystem';

/** Size of a batch's values in memory, in bytes: what `bytes_out` counts for rows that have no wire form. */
export function batchBytes({ vectors, rowCount }: ColumnBatch): number {
  return vectors.reduce((sum, vector) => sum + vectorBytes(vector, rowCount), 0);
}

function vectorBytes(vector: ColumnVector, rows: number): number {
  switch (vector.layout) {
    case 'null':
      return 0;
    case 'string':
    case 'decimal_text': {
      let bytes = 0;
      for (let row = 0; row < rows; row++) if (!vector.nulls[row]) bytes += vector.data[row]!.length;
      return bytes;
    }
    case 'utf8':
      return vector.data.size;
    case 'binary': {
      let bytes = 0;
      for (let row = 0; row < rows; row++) if (!vector.nulls[row]) bytes += vector.data[row]!.byteLength;
      return bytes;
    }
    default:
      return rows * vector.data.BYTES_PER_ELEMENT;
  }
}
