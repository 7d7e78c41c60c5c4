import type { ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import { bytesOf, floatOf, storableMoment, storableText } from '../cell-value.js';
import type { TypedParameters } from './client.js';

/** One column's cells as typed parameters of an INSERT, and about how many bytes each takes in its packet. */
export interface CellParameter {
  parameter(row: number): unknown;
  bytes(row: number): number;
}

const ENGINE = 'MySQL';
const FIXED_BYTES = 12;

/** Exact numbers, dates and times travel as text that the column's own type reads; NaN and infinities have none. */
export function cellParameter(vector: ColumnVector, column: string, types: TypedParameters): CellParameter {
  const { type, value, bytes } = formOf(vector, column);
  const make = types[type]!;
  const nothing = make(null);
  return {
    parameter: (row) => (vector.nulls[row] === 1 ? nothing : make(value(row))),
    bytes: (row) => (vector.nulls[row] === 1 ? 1 : (bytes?.(row) ?? FIXED_BYTES)),
  };
}

interface Form {
  type: string;
  value: (row: number) => unknown;
  bytes?: (row: number) => number;
}

function formOf(vector: ColumnVector, column: string): Form {
  switch (vector.layout) {
    case 'null':
      return { type: 'VAR_STRING', value: () => null };
    case 'boolean':
      return { type: 'TINY', value: (row) => vector.data[row] ?? 0 };
    case 'int32':
      return { type: 'LONG', value: (row) => vector.data[row] ?? 0 };
    case 'int64':
      return { type: 'LONGLONG', value: (row) => vector.data[row] ?? 0n };
    case 'float32':
    case 'float64':
      return { type: 'DOUBLE', value: floatOf(vector, { column, engine: ENGINE }) };
    case 'decimal64':
    case 'decimal_text': {
      const value = storableText(vector, column, ENGINE);
      return { type: 'NEWDECIMAL', value, bytes: (row) => value(row).length + 3 };
    }
    case 'date':
      return { type: 'VAR_STRING', value: storableText(vector, column, ENGINE) };
    case 'timestamp':
      return { type: 'VAR_STRING', value: storableMoment(vector, column, ENGINE), bytes: () => 32 };
    case 'time':
      return { type: 'VAR_STRING', value: cellText(vector), bytes: () => 20 };
    case 'string':
    case 'utf8': {
      const text = cellText(vector);
      return { type: 'VAR_STRING', value: text, bytes: (row) => Buffer.byteLength(text(row)) + 9 };
    }
    case 'binary': {
      const { data } = vector;
      return {
        type: 'BLOB',
        value: bytesOf(vector),
        bytes: (row) => (data[row]?.length ?? 0) + 9,
      };
    }
  }
}
