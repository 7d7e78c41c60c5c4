import { float32Text, isShowableDay, isShowableTimestamp, type ColumnVector } from '#libs/typesystem';

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
  const value = vector.layout === 'binary' ? bytesOf(vector) : storableText(vector, column, engine);
  return (row) => (nulls[row] === 1 ? null : value(row));
}

type TextVector = Exclude<ColumnVector, { layout: 'binary' }>;
type Of<Layout extends ColumnVector['layout']> = Extract<ColumnVector, { layout: Layout }>;

/**
 * Texts of rows that are not NULL. Refuses numbers that are none, and days and moments outside the years 1 to 9999, naming
 * the column and the engine.
 */
export function storableText(vector: TextVector, column: string, engine: string): (row: number) => string {
  const text = cellText(vector);
  const holds = storable(vector);
  return (row) => {
    const shown = text(row);
    return holds(row, shown) ? shown : refuse(column, shown, engine);
  };
}

/** As {@link storableText} for engines whose moments have no zone: they are in UTC. */
export function storableMoment(vector: TextVector, column: string, engine: string): (row: number) => string {
  const text = storableText(vector, column, engine);
  return (row) => text(row).replace('+00', '');
}

/** The double nearest to what is shown of a float; NaN and infinities are refused where `finite` is asked for. */
export function floatOf(
  vector: Of<'float32'> | Of<'float64'>,
  finite?: { column: string; engine: string },
): (row: number) => number {
  const shortest = vector.layout === 'float32' ? (value: number) => Number(float32Text(value)) : Number;
  return (row) => {
    const value = vector.data[row] ?? 0;
    if (finite && !Number.isFinite(value)) return refuse(finite.column, String(value), finite.engine);
    return shortest(value);
  };
}

export function bytesOf({ data }: Of<'binary'>): (row: number) => Buffer {
  return (row) => Buffer.from(data[row] ?? []);
}

function refuse(column: string, shown: string, engine: string): never {
  throw new DriverFailure('other', `Column "${column}" holds ${shown}, which ${engine} cannot store.`, {
    reason: 'value_unrepresentable',
  });
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
