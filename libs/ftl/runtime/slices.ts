import { plain } from '../decimal.js';
import type { Span } from '../syntax/nodes.js';
import type { Text } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import { derived, STRING_TYPE } from './taint.js';
import { sequence, string, type SequenceValue, type StringValue, type Value } from './values.js';

interface Bounds {
  start: number;
  /** Infinity: to the end. */
  size: number;
  step: 1 | -1;
}

function boundsOf(range: SequenceValue): Bounds {
  return { start: numberAt(range, 0), size: range.size, step: range.step ?? 1 };
}

function numberAt(range: SequenceValue, index: number): number {
  const item = range.at(index);
  return item?.kind === 'number' && typeof item.number !== 'number' ? Number(plain(item.number)) : NaN;
}

/** `s[from..<to]` of a text. */
export function cut(source: Text, from: number, to: number): StringValue {
  return string(source.text.slice(from, to), derived(STRING_TYPE, source.taint), source.numeric);
}

/** `s[range]`; a range that leaves the string is a fault, an empty one is an empty string. */
export function cutRange(run: Interpretation, source: Text, range: SequenceValue, span: Span): Value {
  if (range.size === 0) return cut(source, 0, 0);
  const { start, size, step } = boundsOf(range);
  const { length } = source.text;
  const open = size === Infinity || range.clips === true;
  const available = step === 1 ? length - start : start + 1;
  // A range that is cut to the end may begin behind the last character.
  if (start < 0 || (open && step === 1 ? start > length : start >= length) || (!open && size > available)) {
    throw run.fault(span, 'The range leaves the string.');
  }
  const count = Math.min(size, available);
  if (step === 1 || count === 1) return cut(source, start, start + count);
  // FreeMarker takes 2..1 as the empty string, and no other downward range.
  if (count > 2 || !range.inclusive) throw run.fault(span, 'A string slice needs an upward range.');
  return cut(source, 0, 0);
}

/** `xs[range]`; a downward range reverses. */
export function sliceSequence(run: Interpretation, source: SequenceValue, range: SequenceValue, span: Span): Value {
  if (range.size === 0) return sequence([]);
  const { start, size, step } = boundsOf(range);
  const open = size === Infinity || range.clips === true;
  const available = step === 1 ? Math.max(0, source.size - start) : start + 1;
  if (
    start < 0 ||
    start > source.size ||
    (start === source.size && (!open || step === -1)) ||
    (!open && size > available)
  ) {
    throw run.fault(span, 'The range leaves the sequence.');
  }
  const count = Math.min(size, available);
  if (source.lazy && count === Infinity) return { ...source, size: Infinity, at: (i) => source.at(start + i) };
  run.budget.collection(count);
  run.budget.spend(count);
  return sequence(Array.from({ length: count }, (_, i) => source.at(start + i * step)));
}
