import { parseDecimal, rescaleDecimal, type ColumnVector } from '#libs/typesystem';

import { DriverFailure } from './driver-failure.js';

/** A value that is none of its column's type: the driver and its metadata disagree. */
export function misfit(column: string): DriverFailure {
  return new DriverFailure('other', `The server sent a value that column "${column}" does not declare.`, {
    reason: 'value_misfit',
  });
}

/** Puts exact digits into a decimal vector of either layout. @throws DriverFailure */
export function putDecimal(text: string, vector: ColumnVector, row: number, column: string): void {
  if (vector.layout === 'decimal_text') {
    if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw misfit(column);
    vector.data[row] = text;
    return;
  }
  const value = vector.layout === 'decimal64' ? parseDecimal(text) : null;
  const scaled = value && rescaleDecimal(value, vector.type.scale ?? 0);
  if (!scaled || vector.layout !== 'decimal64') throw misfit(column);
  vector.data[row] = scaled.unscaled;
}

/** Puts a value of any other layout; `microseconds` for times and timestamps, days for dates. @throws DriverFailure */
export function putPlain(value: unknown, vector: ColumnVector, row: number, column: string): number {
  switch (vector.layout) {
    case 'boolean':
      if (typeof value !== 'boolean' && typeof value !== 'number') throw misfit(column);
      vector.data[row] = value ? 1 : 0;
      return 1;
    case 'int32':
    case 'date':
      if (typeof value !== 'number' || !Number.isInteger(value)) throw misfit(column);
      vector.data[row] = value;
      return 4;
    case 'int64':
    case 'time':
    case 'timestamp':
      if (typeof value !== 'bigint') throw misfit(column);
      vector.data[row] = value;
      return 8;
    case 'float32':
    case 'float64':
      if (typeof value !== 'number') throw misfit(column);
      vector.data[row] = value;
      return 8;
    case 'string':
      if (typeof value !== 'string') throw misfit(column);
      vector.data[row] = value;
      return value.length * 2;
    case 'binary':
      if (!(value instanceof Uint8Array)) throw misfit(column);
      // A copy: the driver's chunk is used again.
      vector.data[row] = new Uint8Array(value);
      return value.length;
    case 'decimal64':
    case 'decimal_text':
      if (typeof value !== 'string') throw misfit(column);
      putDecimal(value, vector, row, column);
      return value.length;
    case 'utf8':
    case 'null':
      throw misfit(column);
  }
}
