import { isShowableDay, isShowableTimestamp, type ColumnVector } from '#libs/typesystem';

import { cellText } from './cell-text.js';
import { DriverFailure } from './driver-failure.js';

/**
 * How a vector's rows are bound by drivers that send values as text: exact numbers in digits, dates and moments in ISO
 * form, bytes as bytes. A value the engine has no form for is refused, never changed.
 */
export function cellValue(
  vector: ColumnVector,
  column: string,
  engine: string,
): (row: number) => string | Buffer | null {
  const { nulls } = vector;
  if (vector.layout === 'null') return () => null;
  if (vector.layout === 'binary') {
    const { data } = vector;
    return (row) => (nulls[row] === 1 ? null : Buffer.from(data[row] ?? []));
  }
  const text = cellText(vector);
  const holds = storable(vector);
  return (row) => {
    if (nulls[row] === 1) return null;
    const shown = text(row);
    if (holds(row, shown)) return shown;
    throw new DriverFailure('other', `Column "${column}" holds ${shown}, which ${engine} cannot store.`, {
      reason: 'value_unrepresentable',
    });
  };
}

function storable(vector: ColumnVector): (row: number, shown: string) => boolean {
  switch (vector.layout) {
    case 'decimal64':
    case 'decimal_text':
      return (_row, shown) => /^-?[0-9]/.test(shown);
    case 'date':
      return (row) => isShowableDay(vector.data[row] ?? 0);
    case 'timestamp':
      return (row) => isShowableTimestamp(vector.data[row] ?? 0n);
    default:
      return () => true;
  }
}
