import { float32Text, isShowableDay, isShowableTimestamp, type ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';
import { DriverFailure } from '../driver-failure.js';
import type { TypedParameters } from './client.js';

/** One column's cells as typed parameters of an INSERT, and about how many bytes each takes in its packet. */
export interface CellParameter {
  parameter(row: number): unknown;
  bytes(row: number): number;
}

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
  const refuse = (shown: string): never => {
    throw new DriverFailure('other', `Column "${column}" holds ${shown}, which MySQL cannot store.`, {
      reason: 'value_unrepresentable',
    });
  };
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
    case 'float64': {
      const shortest = vector.layout === 'float32' ? (value: number) => Number(float32Text(value)) : Number;
      return {
        type: 'DOUBLE',
        value: (row) => {
          const value = vector.data[row] ?? 0;
          return Number.isFinite(value) ? shortest(value) : refuse(String(value));
        },
      };
    }
    case 'decimal64':
    case 'decimal_text': {
      const text = cellText(vector);
      const value = (row: number): string => (/^-?[0-9]/.test(text(row)) ? text(row) : refuse(text(row)));
      return { type: 'NEWDECIMAL', value, bytes: (row) => text(row).length + 3 };
    }
    case 'date': {
      const text = cellText(vector);
      const value = (row: number): string => (isShowableDay(vector.data[row] ?? 0) ? text(row) : refuse(text(row)));
      return { type: 'VAR_STRING', value };
    }
    case 'timestamp': {
      const text = cellText(vector);
      const value = (row: number): string =>
        isShowableTimestamp(vector.data[row] ?? 0n) ? text(row).replace('+00', '') : refuse(text(row));
      return { type: 'VAR_STRING', value, bytes: () => 32 };
    }
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
        value: (row) => Buffer.from(data[row] ?? []),
        bytes: (row) => (data[row]?.length ?? 0) + 9,
      };
    }
  }
}
