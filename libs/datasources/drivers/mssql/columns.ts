import { mapMssqlField, type Column, type ColumnVector } from '#libs/typesystem';

import type { MappingWarning } from '../driver.js';
import { misfit, putPlain } from '../put-value.js';
import type { PushedColumn } from '../pushed-rows.js';
import type { ColumnMetadata } from './client.js';

/** Dates carry what lies below a millisecond as a fraction of a second. */
type PreciseDate = Date & { nanosecondsDelta?: number };

const DAY_MS = 86_400_000;
const TICKS_PER_SECOND = 1e7;

/** One result column: what it is to the reader of the cursor, and how its values are copied. */
export class ResultColumn implements PushedColumn {
  readonly column: Column;
  readonly warning: MappingWarning | undefined;

  constructor({ colName, type, dataLength, precision, scale, udtInfo }: ColumnMetadata) {
    const { type: canonical, warning } = mapMssqlField({ type: type.name, length: dataLength, precision, scale });
    const sourceType = udtInfo?.typeName ?? type.name;
    this.column = { name: colName, ...canonical, sourceType };
    this.warning = warning && { code: warning, column: colName, source_type: sourceType };
  }

  put(value: unknown, vector: ColumnVector, row: number): number {
    return putPlain(this.#canonical(value, vector), vector, row, this.column.name);
  }

  #canonical(value: unknown, { layout }: ColumnVector): unknown {
    switch (layout) {
      case 'int64':
        return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value;
      case 'date':
        return this.#date(value).getTime() / DAY_MS;
      case 'time':
      case 'timestamp':
        return micros(this.#date(value));
      case 'string':
        return Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : String(value);
      default:
        return value;
    }
  }

  #date(value: unknown): PreciseDate {
    if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
    throw misfit(this.column.name);
  }
}

/** Epoch microseconds; 100-nanosecond ticks are cut. */
function micros(value: PreciseDate): bigint {
  const ticks = Math.round((value.nanosecondsDelta ?? 0) * TICKS_PER_SECOND);
  return BigInt(value.getTime()) * 1000n + BigInt(Math.floor(ticks / 10));
}
