import { fromDouble, multiply, plain, rescale, trimTo, type Decimal } from '../decimal.js';

interface Pattern {
  prefix: string;
  suffix: string;
  minInteger: number;
  minFraction: number;
  maxFraction: number;
  /** 0: no grouping. */
  grouping: number;
  percent: boolean;
}

const NAMED: Readonly<Record<string, string>> = {
  number: '#,##0.###',
  percent: '#,##0%',
};

/**
 * A number in a `DecimalFormat` pattern of `0 # , . %` and quoted text, HALF_EVEN; or `number`, `percent`, `computer`,
 * `c`, `plain` (contract 05 §4.5). Null: no such format.
 */
export function formatNumber(value: Decimal | number, format: string): string | null {
  const computer = format === 'computer' || format === 'c' || format === '';
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : `${value > 0 ? '' : '-'}${computer ? 'INF' : '∞'}`;
  }
  const exact = typeof value === 'number' ? fromDouble(value) : value;
  if (format === 'plain') return plain(exact);
  if (computer) return plain(trimTo(exact, 0));
  const pattern = parsePattern(NAMED[format] ?? format);
  return pattern && applyPattern(exact, pattern);
}

function parsePattern(source: string): Pattern | null {
  const text: string[] = ['', ''];
  let digits = '';
  let side = 0;
  let percent = false;
  for (let i = 0; i < source.length; i++) {
    const c = source[i]!;
    if (c === "'") {
      const close = source.indexOf("'", i + 1);
      if (close < 0) return null;
      text[side] += close === i + 1 ? "'" : source.slice(i + 1, close);
      if (digits !== '') side = 1;
      i = close;
    } else if ('0#,.'.includes(c)) {
      if (side === 1) return null;
      digits += c;
    } else if (';‰¤'.includes(c)) {
      return null;
    } else {
      if (digits !== '') side = 1;
      if (c === '%') percent = true;
      text[side] += c;
    }
  }
  const shape = withDigit(digits.replace(/,/g, '')).match(/^(#*)(0*)(?:\.(0*)(#*))?$/);
  if (!shape || digits === '' || digits === '.') return null;
  const integer = digits.split('.')[0]!;
  const comma = integer.lastIndexOf(',');
  if (comma === integer.length - 1 && comma >= 0) return null;
  return {
    prefix: text[0]!,
    suffix: text[1]!,
    minInteger: shape[2]!.length,
    minFraction: shape[3]?.length ?? 0,
    maxFraction: (shape[3]?.length ?? 0) + (shape[4]?.length ?? 0),
    grouping: comma < 0 ? 0 : integer.length - comma - 1,
    percent,
  };
}

/** Without a `0` the digit beside the point is one: `#.##` prints 0.5, `.##` prints .5. */
function withDigit(digits: string): string {
  if (digits.includes('0')) return digits;
  return digits.startsWith('.') ? digits.replace('.#', '.0') : digits.replace('#.', '0.');
}

function applyPattern(value: Decimal, pattern: Pattern): string {
  const scaled = pattern.percent ? multiply(value, { unscaled: 100n, scale: 0 }) : value;
  const rounded = trimTo(
    rescale(trimTo(scaled, 0), Math.max(0, pattern.maxFraction), 'half-even'),
    pattern.minFraction,
  );
  const text = plain({ unscaled: rounded.unscaled < 0n ? -rounded.unscaled : rounded.unscaled, scale: rounded.scale });
  const [whole = '', fraction = ''] = text.split('.');
  let integer = whole === '0' ? '' : whole;
  integer = integer.padStart(pattern.minInteger, '0');
  if (integer === '' && fraction === '') integer = '0';
  if (pattern.grouping > 0) integer = group(integer, pattern.grouping);
  const sign = value.unscaled < 0n ? '-' : '';
  return `${sign}${pattern.prefix}${integer}${fraction === '' ? '' : `.${fraction}`}${pattern.suffix}`;
}

function group(digits: string, size: number): string {
  const groups: string[] = [];
  let end = digits.length;
  for (; end > size; end -= size) groups.unshift(digits.slice(end - size, end));
  return [digits.slice(0, end), ...groups].join(',');
}

/** `#{n; m1M2}`: at least `min`, at most `max` fraction digits, no grouping. */
export function formatFractionDigits(value: Decimal | number, min: number, max: number): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  const exact = typeof value === 'number' ? fromDouble(value) : value;
  const rounded = rescale(exact, Math.min(Math.max(exact.scale, min), max), 'half-even');
  return plain(trimTo(rounded, min));
}
