import { PenstockError } from '#libs/kernel';
import {
  createVector,
  describeType,
  float64Text,
  type Column,
  type ColumnVector,
  type SqliteStorageClass,
} from '#libs/typesystem';

import type { SqliteValue } from './protocol.js';

export function storageClassOf(value: SqliteValue): SqliteStorageClass {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return 'real';
  return typeof value === 'string' ? 'text' : 'blob';
}

/** Whole numbers a double holds exactly. */
const EXACT = 2n ** 53n;

/** Puts one value where it fits its column's type; false when it does not (01 §6.3). */
function put(vector: ColumnVector, row: number, value: NonNullable<SqliteValue>): boolean {
  switch (vector.layout) {
    case 'int32': {
      if (typeof value !== 'bigint' || BigInt.asIntN(32, value) !== value) return false;
      vector.data[row] = Number(value);
      return true;
    }
    case 'int64':
      if (typeof value !== 'bigint') return false;
      vector.data[row] = value;
      return true;
    case 'float64':
      if (typeof value === 'bigint' && value <= EXACT && value >= -EXACT) vector.data[row] = Number(value);
      else if (typeof value === 'number') vector.data[row] = value;
      else return false;
      return true;
    case 'string':
      if (typeof value === 'string') vector.data[row] = value;
      else if (typeof value === 'bigint') vector.data[row] = value.toString();
      else if (typeof value === 'number') vector.data[row] = float64Text(value);
      else return false;
      return true;
    case 'binary':
      if (!(value instanceof Uint8Array)) return false;
      vector.data[row] = value;
      return true;
    default:
      return false;
  }
}

/** One column of a batch. @throws `pipeline.staging.value_overflow` naming the column and the row (from 1) */
export function columnVector(column: Column, values: readonly SqliteValue[], rowsBefore: number): ColumnVector {
  const vector = createVector(column, values.length);
  values.forEach((value, row) => {
    if (value === null) vector.nulls[row] = 1;
    else if (!put(vector, row, value)) {
      throw new PenstockError('pipeline.staging.value_overflow', {
        message: `Row ${rowsBefore + row + 1} of column "${column.name}" holds a value that ${describeType(column)} cannot hold. CAST it in the query.`,
        details: { column: column.name, row: rowsBefore + row + 1, type: describeType(column) },
      });
    }
  });
  return vector;
}
