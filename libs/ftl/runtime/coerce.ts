import { fromDouble, plain, tooLarge, type Decimal } from '../decimal.js';
import { formatDate } from '../dates/format-date.js';
import { formatNumber } from '../format/number-format.js';
import type { Expr, Span } from '../syntax/nodes.js';
import type { Interpretation } from './interpretation.js';
import { describe, type BooleanValue, type DateValue, type NumberValue, type Value } from './values.js';
import { patterned, type Text } from './standing-off.js';

export type { Text } from './standing-off.js';

/** Text of a string, number, boolean or date; anything else is a fault at `span`. */
export function toText(run: Interpretation, value: Value, span: Span): Text {
  switch (value.kind) {
    case 'string':
      return value;
    case 'number':
      return { text: numberText(run, value, span), taint: value.taint, numeric: true };
    case 'boolean':
      return { text: booleanText(run, value.truth), taint: value.taint, numeric: false };
    case 'date':
      return { text: dateText(run, value), taint: value.taint, numeric: true };
    case 'fragment':
      throw fragmentFault(run, span);
    case 'sequence':
      if (value.whole) return { text: booleanText(run, value.whole.matched), taint: null, numeric: false };
      break;
  }
  throw run.fault(span, `Expected a string, number, boolean or date, found ${describe(value)}.`);
}

function booleanText(run: Interpretation, truth: boolean): string {
  return run.settings.booleanFormat[truth ? 0 : 1];
}

export function fragmentFault(run: Interpretation, span: Span): Error {
  return run.fault(span, 'Captured output with binds can only be printed, joined, trimmed or tested for content.', {
    kind: 'position',
    reason: 'fragment_operation',
  });
}

export function plainNumber(value: Decimal | number): string {
  if (typeof value !== 'number') return plain(value);
  return Number.isFinite(value) ? plain(fromDouble(value)) : String(value);
}

function numberText(run: Interpretation, value: NumberValue, span: Span): string {
  const format = run.settings.numberFormat;
  if (format === 'plain') return plainNumber(value.number);
  const text = formatNumber(value.number, format);
  if (text === null) throw run.fault(span, 'The number_format setting is no valid pattern.');
  return patterned(text, format);
}

function dateText(run: Interpretation, value: DateValue): string {
  const { dateFormat, timeFormat, datetimeFormat, zone } = run.settings;
  const pattern = value.form === 'date' ? dateFormat : value.form === 'time' ? timeFormat : datetimeFormat;
  return formatDate(value, pattern, zone) ?? formatDate(value, 'iso', zone)!;
}

export function needText(run: Interpretation, expr: Expr): Text {
  return toText(run, run.need(expr), expr);
}

export function needBoolean(run: Interpretation, expr: Expr): BooleanValue {
  const value = run.need(expr);
  if (value.kind === 'boolean') return value;
  if (value.kind === 'sequence' && value.whole) {
    return { kind: 'boolean', truth: value.whole.matched, taint: null };
  }
  if (value.kind === 'fragment') throw fragmentFault(run, expr);
  throw run.fault(expr, `Expected a boolean, found ${describe(value)}.`);
}

export function asNumber(run: Interpretation, value: Value, span: Span): NumberValue {
  if (value.kind === 'number') return value;
  if (value.kind === 'fragment') throw fragmentFault(run, span);
  throw run.fault(span, `Expected a number, found ${describe(value)}.`);
}

/** An exact number; NaN and infinities have no digits to compute with. */
export function exact(run: Interpretation, value: NumberValue, span: Span): Decimal {
  if (typeof value.number !== 'number') return value.number;
  if (!Number.isFinite(value.number)) throw run.fault(span, 'The number is not finite.');
  return fromDouble(value.number);
}

export function checkedSize(run: Interpretation, result: Decimal, span: Span): Decimal {
  if (tooLarge(result)) {
    throw run.fault(span, 'A number of more than 1,000 digits.', { reason: 'number_too_large' });
  }
  return result;
}

/** A whole number that fits an index; fractions are cut. */
export function toIndex(run: Interpretation, value: Value, span: Span): number {
  const { number } = asNumber(run, value, span);
  const whole = Math.trunc(typeof number === 'number' ? number : Number(plain(number)));
  if (!Number.isSafeInteger(whole)) throw run.fault(span, 'The number is too large for an index.');
  return whole;
}
