import { mapOracleField, parseTimestampText, type Column, type ColumnVector } from '#libs/typesystem';

import type { MappingWarning } from '../driver.js';
import { misfit, putPlain } from '../put-value.js';
import type { ColumnMetadata } from './client.js';

/** Digits as the library gives them (`.5`, `-.5`, `-1e126`) in the form every number has here. */
export function plainNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', power] = /^(-?)(\d*)(?:\.(\d+))?(?:e\+?(-?\d+))?$/i.exec(text) ?? [];
  if (whole === '' && fraction === '') return text;
  if (power !== undefined && fraction === '') return `${sign}${whole}${'0'.repeat(Math.max(Number(power), 0))}`;
  return `${sign}${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Years of four digits; others are outside what any door shows, and only their side counts. */
const MOMENT = /^\s*(-?\d{4,})-(\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/;
const FAR = 2n ** 63n - 1n;

/** One result column: what it is to the reader of the cursor, and how its values are copied. */
export class ResultColumn {
  readonly column: Column;
  readonly warning: MappingWarning | undefined;

  constructor({ name, dbTypeName, precision, scale }: ColumnMetadata) {
    const { type, warning } = mapOracleField({ type: dbTypeName, precision, scale });
    this.column = { name, ...type, sourceType: dbTypeName };
    this.warning = warning && { code: warning, column: name, source_type: dbTypeName };
  }

  put(value: unknown, vector: ColumnVector, row: number): void {
    if (value === null || value === undefined) vector.nulls[row] = 1;
    else putPlain(this.#canonical(value, vector), vector, row, this.column.name);
  }

  #canonical(value: unknown, { layout }: ColumnVector): unknown {
    switch (layout) {
      case 'int32':
        return typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
      case 'int64':
        return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value;
      case 'decimal64':
      case 'decimal_text':
        return typeof value === 'string' ? plainNumber(value) : value;
      case 'float64':
        // FLOAT is a NUMBER to the protocol, and came as its digits.
        return typeof value === 'string' && value !== '' ? Number(value) : value;
      case 'timestamp':
        return this.#micros(value);
      case 'string':
        return typeof value === 'object' ? JSON.stringify(value) : String(value);
      default:
        return value;
    }
  }

  #micros(value: unknown): bigint {
    const [, year = '', rest = '', fraction = ''] = MOMENT.exec(String(value)) ?? [];
    if (rest === '') throw misfit(this.column.name);
    if (!/^\d{4}$/.test(year)) return year.startsWith('-') ? -FAR : FAR;
    const micros = parseTimestampText(`${year}-${rest}.${fraction.padEnd(6, '0').slice(0, 6)}Z`);
    if (micros === null) throw misfit(this.column.name);
    return micros;
  }
}
