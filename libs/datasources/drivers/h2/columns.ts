import { mapPostgresType, parseTimestampText, parseTimeText } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { BINARY_READERS, readText, type ColumnReader } from '../postgres/binary-values.js';
import type { ResultColumn } from '../postgres/columns.js';
import type { FieldDescription } from '../postgres/messages.js';

/** Types H2 sends in PostgreSQL's own binary form: bool, bytea, int8, int2, int4, float4, float8, date. */
const BINARY = new Set([16, 17, 20, 21, 23, 700, 701, 1082]);
/** What H2 says of every type PostgreSQL does not have: TINYINT, ENUM, UUID, JSON, intervals, GEOMETRY, BLOB. */
const UNKNOWN = 705;

/** Calls `take` with the text of each value that is not NULL, and marks the others. */
function eachText(
  { buffer, starts, lengths, width, from, to }: Parameters<ColumnReader>[0],
  column: number,
  nulls: Uint8Array,
  take: (row: number, text: string) => void,
): void {
  for (let row = from, at = column; row < to; row += 1, at += width) {
    const length = lengths[at]!;
    if (length < 0) nulls[row] = 1;
    else take(row, buffer.toString('utf8', starts[at]!, starts[at]! + length));
  }
}

/** NUMERIC and DECFLOAT come without their size and may carry an exponent; `NaN` stays the word. */
const readDecimal: ColumnReader = (run, column, vector) => {
  if (vector.layout !== 'decimal_text') throw new TypeError(`a ${vector.layout} vector cannot take a decimal`);
  eachText(run, column, vector.nulls, (row, text) => {
    vector.data[row] = /E/i.test(text) ? plainDecimal(text) : /^[-+]?\d/.test(text) ? text : 'NaN';
  });
};

/** Digits a DECFLOAT with a far exponent is written out to before it counts as unrepresentable. */
const MOST_DIGITS = 1000;

function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = ''] = /^(-?)(\d+)(?:\.(\d+))?E([-+]?\d+)$/i.exec(text) ?? [];
  const digits = whole + fraction;
  const exponent = Number(power) - fraction.length;
  if (digits === '' || Math.abs(exponent) > MOST_DIGITS) return 'NaN';
  if (exponent >= 0) return `${sign}${digits}${'0'.repeat(exponent)}`;
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** The offset of a TIME WITH TIME ZONE is dropped (01 §6.1); nanoseconds are cut. */
const readTime: ColumnReader = (run, column, vector) => {
  if (vector.layout !== 'time') throw new TypeError(`a ${vector.layout} vector cannot take a time`);
  eachText(run, column, vector.nulls, (row, text) => {
    const [, clock = '', fraction = ''] = /^(\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(text) ?? [];
    vector.data[row] = BigInt(parseTimeText(`${clock}.${fraction.padEnd(6, '0').slice(0, 6)}`) ?? unreadable(text));
  });
};

/** Farthest moments a batch holds: no door shows them (01 §5.2). */
const FUTURE = 2n ** 63n - 1n;

const readTimestamp: ColumnReader = (run, column, vector) => {
  if (vector.layout !== 'timestamp') throw new TypeError(`a ${vector.layout} vector cannot take a timestamp`);
  eachText(run, column, vector.nulls, (row, text) => (vector.data[row] = timestampOf(text)));
};

const TIMESTAMP = /^(-?\d+)-(\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:([-+])(\d\d)(?::(\d\d))?(?::(\d\d))?)?$/;

function timestampOf(text: string): bigint {
  const [, year = '', date = '', clock = '', fraction = '', sign, ...offset] = TIMESTAMP.exec(text) ?? unreadable(text);
  // Years without four digits are outside what any door shows; which side of it is all that counts.
  if (!/^\d{4}$/.test(year)) return year.startsWith('-') ? -FUTURE : FUTURE;
  const local = parseTimestampText(`${year}-${date}T${clock}.${fraction.padEnd(6, '0').slice(0, 6)}Z`);
  if (local === null) return year === '0000' ? -FUTURE : unreadable(text);
  const [hours = 0, minutes = 0, seconds = 0] = offset.map((part) => Number(part ?? 0));
  const micros = BigInt((hours * 60 + minutes) * 60 + seconds) * 1_000_000n;
  return sign === '-' ? local + micros : local - micros;
}

function unreadable(text: string): never {
  throw new DriverFailure('other', `The H2 server sent a value of ${text.length} characters that is none of its type.`);
}

/** A BLOB would arrive as the characters of its bytes: what was lost that way is refused, not shown. */
const readUnknown: ColumnReader = (run, column, vector) => {
  readText(run, column, vector);
  if (vector.layout !== 'string') return;
  for (let row = run.from; row < run.to; row += 1) {
    if (vector.nulls[row] !== 1 && vector.data[row]!.includes('\uFFFD')) {
      throw new DriverFailure(
        'other',
        'The H2 server sends a column in a form that loses bytes; cast it in the query, CAST(… AS VARBINARY) or AS VARCHAR.',
        { reason: 'value_unrepresentable' },
      );
    }
  }
};

const TEXT_READERS: ReadonlyMap<number, ColumnReader> = new Map([
  [UNKNOWN, readUnknown],
  [1083, readTime],
  [1114, readTimestamp],
  [1184, readTimestamp],
  [1266, readTime],
  [1700, readDecimal],
]);

/**
 * How one column of H2's server is mapped and read (01 §6.7): by PostgreSQL's type numbers, of which it gives no sizes.
 * A column of unknown type reads as text, with a warning: a TINYINT wants a CAST to SMALLINT.
 */
export function describeH2Column({ name, typeOid }: FieldDescription): ResultColumn {
  const { type, warning } = mapPostgresType(typeOid, -1);
  const binary = BINARY.has(typeOid) ? BINARY_READERS.get(typeOid) : undefined;
  const isUnknown = typeOid === UNKNOWN || warning !== undefined;
  return {
    column: { name, ...type },
    format: binary ? 1 : 0,
    read: binary ?? TEXT_READERS.get(typeOid) ?? readText,
    warning: isUnknown
      ? {
          code: 'type_mapping.unknown_source_type',
          column: name,
          source_type: typeOid === UNKNOWN ? 'unknown' : `oid ${typeOid}`,
        }
      : undefined,
  };
}
