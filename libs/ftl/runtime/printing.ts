import { formatDate, isExactDecimal, splitTimestamp, type CanonicalValue, type ColumnType } from '#libs/typesystem';
import { fromDouble, rescale, toDouble, trimTo, truncated, type Decimal } from '../decimal.js';
import type { Span } from '../syntax/nodes.js';
import { toText } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import type { BindPart, Output } from './output.js';
import { APPROXIMATE_TYPE, BOOLEAN_TYPE, STRING_TYPE, type Taint } from './taint.js';
import type { Value } from './values.js';

/** Prints a value: text where it is the author's, a bind where it is a run-time value (contract 05 §5). */
export function writeValue(run: Interpretation, out: Output, value: Value, span: Span): void {
  if (value.kind === 'fragment') {
    run.budget.wrote(value.parts.reduce((sum, part) => sum + part.text.length, 0));
    run.budget.spend(value.parts.length);
    out.append(value.parts);
    return;
  }
  const { text, taint, numeric } = toText(run, value, span);
  run.budget.wrote(text.length);
  if (taint === null || run.mode === 'text') out.text(text, run.origin(span), numeric);
  else out.bind(bindOf(run, value, taint, text, span));
}

export function bindOf(run: Interpretation, value: Value, taint: Taint, text: string, span: Span): BindPart {
  const origin = run.origin(span);
  const base = { kind: 'bind' as const, valueOrigin: taint.origin, sample: taint.sample, text, origin };
  if (taint.key !== null) return { ...base, key: taint.key, type: taint.type, value: taint.own };
  const typed = typedValue(value, taint.type, text);
  return { ...base, key: null, ...typed };
}

/** Type and canonical value of a computed bind (contract 01 §4.1, §5.1). */
export function typedValue(value: Value, type: ColumnType, text: string): { type: ColumnType; value: CanonicalValue } {
  switch (value.kind) {
    case 'number':
      if (typeof value.number === 'number' && !Number.isFinite(value.number)) {
        return { type: APPROXIMATE_TYPE, value: value.number };
      }
      return numberBind(typeof value.number === 'number' ? fromDouble(value.number) : value.number, type);
    case 'boolean':
      return { type: BOOLEAN_TYPE, value: value.truth };
    case 'date':
      if (value.form === 'time') return { type: { type: 'TIME' }, value: Number(value.micros) };
      if (value.form === 'datetime') return { type: { type: 'TIMESTAMP' }, value: value.micros };
      return { type: { type: 'DATE' }, value: formatDate(splitTimestamp(value.micros).days) };
    default:
      return { type: STRING_TYPE, value: text };
  }
}

function numberBind(value: Decimal, type: ColumnType): { type: ColumnType; value: CanonicalValue } {
  if (type.type === 'INTEGER') return { type, value: Number(truncated(value)) };
  if (type.type === 'BIGINTEGER') return { type, value: truncated(value) };
  if (type.type === 'DECIMAL' && !isExactDecimal(type)) return { type, value: toDouble(value) };
  if (type.scale === undefined) return { type, value };
  return { type, value: rescale(trimTo(value, 0), type.scale, 'half-even') };
}
