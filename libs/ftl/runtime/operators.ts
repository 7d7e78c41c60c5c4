import * as decimal from '../decimal.js';
import type { BinaryOperator, Span } from '../syntax/nodes.js';
import { asNumber, checkedSize, exact, fragmentFault, toText } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import { derivedNumber } from './number-taint.js';
import { Output } from './output.js';
import { glued } from './standing-off.js';
import { writeValue } from './printing.js';
import { boolean, describe, hash, isNothing, number, sequence, type NumberValue, type Value } from './values.js';

/** `+`: numbers add, sequences and hashes join, everything else concatenates as text (contract 05 §4.1). */
export function plus(run: Interpretation, left: Value, right: Value, span: Span): Value {
  if (left.kind === 'number' && right.kind === 'number') return arithmetic(run, '+', left, right, span);
  if (left.kind === 'sequence' && right.kind === 'sequence') {
    const size = left.size + right.size;
    run.budget.collection(size);
    run.budget.spend(size);
    return sequence([...items(left), ...items(right)]);
  }
  if (left.kind === 'hash' && right.kind === 'hash') return joinHashes(run, left, right);
  if (left.kind === 'fragment' || right.kind === 'fragment') return joinFragments(run, left, right, span);
  if (isNothing(left) && isStructure(right)) return right;
  if (isNothing(right) && isStructure(left)) return left;
  const a = toText(run, left, span);
  const b = toText(run, right, span);
  run.budget.string(a.text.length + b.text.length);
  return glued([a, b]);
}

const isStructure = (value: Value): boolean => value.kind === 'sequence' || value.kind === 'hash';

function* items(value: Value & { kind: 'sequence' }): Generator<Value | undefined> {
  for (let i = 0; i < value.size; i++) yield value.at(i);
}

function joinHashes(run: Interpretation, left: Value & { kind: 'hash' }, right: Value & { kind: 'hash' }): Value {
  const entries = [...(left.entries() ?? []), ...(right.entries() ?? [])];
  run.budget.collection(entries.length);
  run.budget.spend(entries.length);
  const joined = hash(entries);
  return { kind: 'hash', entries: joined.entries, get: (name) => right.get(name) ?? left.get(name) };
}

function joinFragments(run: Interpretation, left: Value, right: Value, span: Span): Value {
  const joined = new Output();
  writeValue(run, joined, left, span);
  writeValue(run, joined, right, span);
  run.budget.collection(joined.parts.length);
  run.budget.spend(joined.parts.length);
  return { kind: 'fragment', parts: joined.parts };
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

export function arithmetic(
  run: Interpretation,
  op: ArithmeticOperator,
  left: Value,
  right: Value,
  span: Span,
): NumberValue {
  const a = asNumber(run, left, span);
  const b = asNumber(run, right, span);
  const x = exact(run, a, span);
  const y = exact(run, b, span);
  const result = compute(op, x, y);
  if (result === null) throw run.fault(span, 'Division by zero.');
  return number(checkedSize(run, result, span), derivedNumber(result, a, b));
}

function compute(op: ArithmeticOperator, x: decimal.Decimal, y: decimal.Decimal): decimal.Decimal | null {
  switch (op) {
    case '+':
      return decimal.add(x, y);
    case '-':
      return decimal.subtract(x, y);
    case '*':
      return decimal.multiply(x, y);
    case '/':
      return decimal.divide(x, y);
    case '%':
      return decimal.remainder(x, y);
  }
}

export type ComparisonOperator = '<' | '<=' | '>' | '>=' | '==' | '!=';

export function isComparison(op: BinaryOperator): op is ComparisonOperator {
  return op === '==' || op === '!=' || op === '<' || op === '<=' || op === '>' || op === '>=';
}

/** Compares values of one kind; anything else is a fault (contract 05 §4.1). The answer carries no taint. */
export function comparison(run: Interpretation, op: ComparisonOperator, left: Value, right: Value, span: Span): Value {
  const equality = op === '==' || op === '!=';
  if (left.kind === 'fragment' || right.kind === 'fragment') throw fragmentFault(run, span);
  if (left.kind === 'string' && right.kind === 'string') {
    if (!equality) throw run.fault(span, `Can't use operator "${op}" on string values.`);
    return boolean(equalText(left.text, right.text) === (op === '=='));
  }
  if (left.kind === 'boolean' && right.kind === 'boolean') {
    if (!equality) throw run.fault(span, `Can't use operator "${op}" on boolean values.`);
    return boolean((left.truth === right.truth) === (op === '=='));
  }
  const order = compareOrdered(left, right);
  if (order === null) {
    throw run.fault(span, `Can't compare with "${op}": left is ${describe(left)}, right is ${describe(right)}.`);
  }
  return boolean(holds(op, order));
}

function equalText(a: string, b: string): boolean {
  return a === b || a.normalize('NFC') === b.normalize('NFC');
}

/** Order of two numbers or two dates of one form; NaN orders as NaN; null where they cannot be compared. */
export function compareOrdered(left: Value, right: Value): number | null {
  if (left.kind === 'number' && right.kind === 'number') return compareNumbers(left, right);
  if (left.kind === 'date' && right.kind === 'date' && left.form === right.form) {
    return left.micros < right.micros ? -1 : left.micros > right.micros ? 1 : 0;
  }
  return null;
}

export function compareNumbers(left: NumberValue, right: NumberValue): number {
  const a = left.number;
  const b = right.number;
  const finite = (n: decimal.Decimal | number): boolean => typeof n !== 'number' || Number.isFinite(n);
  if (finite(a) && finite(b)) {
    const exactly = (n: decimal.Decimal | number): decimal.Decimal =>
      typeof n === 'number' ? decimal.fromDouble(n) : n;
    return decimal.compare(exactly(a), exactly(b));
  }
  const x = typeof a === 'number' ? a : decimal.toDouble(a);
  const y = typeof b === 'number' ? b : decimal.toDouble(b);
  return x === y ? 0 : x < y ? -1 : x > y ? 1 : NaN;
}

function holds(op: ComparisonOperator, order: number): boolean {
  switch (op) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}
