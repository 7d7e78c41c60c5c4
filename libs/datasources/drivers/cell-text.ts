import {
  civilFromDays,
  float32Text,
  float64Text,
  formatTime,
  formatUnscaled,
  NOT_A_DECIMAL,
  splitTimestamp,
  type ColumnVector,
} from '#libs/typesystem';

/** Infinite dates and timestamps as they lie in a batch. */
const INFINITE_DAY = 2_147_483_647;
const INFINITE_MICROS = 2n ** 63n - 1n;
const DAY_MICROS = 86_400_000_000;

function dateText(days: number): string {
  if (days === INFINITE_DAY) return 'infinity';
  if (days === -INFINITE_DAY) return '-infinity';
  const { year, month, day } = civilFromDays(days);
  const shown = String(year > 0 ? year : 1 - year).padStart(4, '0');
  return `${shown}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}${year > 0 ? '' : ' BC'}`;
}

function timestampText(micros: bigint): string {
  if (micros >= INFINITE_MICROS) return 'infinity';
  if (micros <= -INFINITE_MICROS) return '-infinity';
  const { days, micros: rest } = splitTimestamp(micros);
  const date = dateText(days);
  return date.endsWith(' BC') ? `${date.slice(0, -3)} ${formatTime(rest)}+00 BC` : `${date} ${formatTime(rest)}+00`;
}

function timeText(micros: bigint): string {
  return micros === BigInt(DAY_MICROS) ? '24:00:00' : formatTime(Number(micros));
}

function floatText(value: number, format: (value: number) => string): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return format(value);
}

/**
 * How a vector's rows are written as SQL text: ISO dates with the zone spelled out, exact decimals, shortest floats.
 * The caller looks at `nulls` first. Bytes have no text of their own here.
 */
export function cellText(vector: Exclude<ColumnVector, { layout: 'binary' }>): (row: number) => string {
  switch (vector.layout) {
    case 'null':
      return () => '';
    case 'boolean':
      return (row) => (vector.data[row] === 1 ? 'true' : 'false');
    case 'int32':
    case 'int64':
      return (row) => String(vector.data[row]);
    case 'date':
      return (row) => dateText(vector.data[row] ?? 0);
    case 'time':
      return (row) => timeText(vector.data[row] ?? 0n);
    case 'timestamp':
      return (row) => timestampText(vector.data[row] ?? 0n);
    case 'decimal64': {
      const scale = vector.type.scale ?? 0;
      return (row) => (vector.data[row] === NOT_A_DECIMAL ? 'NaN' : formatUnscaled(vector.data[row] ?? 0n, scale));
    }
    case 'float32':
      return (row) => floatText(vector.data[row] ?? 0, float32Text);
    case 'float64':
      return (row) => floatText(vector.data[row] ?? 0, float64Text);
    case 'utf8':
      return (row) => vector.data.text(row);
    case 'decimal_text':
    case 'string':
      return (row) => vector.data[row] ?? '';
  }
}
