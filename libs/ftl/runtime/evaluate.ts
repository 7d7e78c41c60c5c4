import type { Expr } from '../syntax/nodes.js';
import { negate, truncated, ZERO } from '../decimal.js';
import { callBuiltin } from '../builtins/registry.js';
import { asNumber, exact, fragmentFault, needBoolean, toIndex, toText } from './coerce.js';
import { guarded } from './guarded.js';
import type { Interpretation } from './interpretation.js';
import { arithmetic, comparison, isComparison, plus } from './operators.js';
import { APPROXIMATE_TYPE, derived } from './taint.js';
import { lookup, specialVariable } from './variables.js';
import { cut, cutRange, sliceSequence } from './slices.js';
import { interpolateLiteral } from './literal.js';
import {
  boolean,
  describe,
  hash,
  isNothing,
  NOTHING,
  number,
  range,
  sequence,
  string,
  type BooleanValue,
  type HashEntry,
  type NumberValue,
  type Value,
} from './values.js';

/** Value of an expression; undefined where something is missing and nobody asked whether it is there. */
export function evaluateExpression(run: Interpretation, expr: Expr): Value | undefined {
  switch (expr.kind) {
    case 'string':
      return string(expr.value);
    case 'number':
      return number(expr.value);
    case 'boolean':
      return boolean(expr.value);
    case 'interpolated':
      return interpolateLiteral(run, expr.parts, expr);
    case 'sequence':
      run.budget.collection(expr.items.length);
      return sequence(expr.items.map((item) => run.need(item)));
    case 'hash':
      return hash(expr.entries.map((entry) => hashEntry(run, entry.key, entry.value)));
    case 'variable':
      return lookup(run, expr.name);
    case 'special':
      return specialVariable(run, expr);
    case 'dot':
      return member(run, expr.target, run.need(expr.target), expr.name);
    case 'index':
      return indexed(run, expr);
    case 'call':
      return call(run, expr);
    case 'builtin':
      return callBuiltin(run, expr);
    case 'default':
      return withFallback(run, expr);
    case 'exists':
      return boolean(guarded(run, expr.target) !== undefined);
    case 'paren':
      return run.evaluate(expr.inner);
    case 'unary':
      return unary(run, expr.op, expr.operand);
    case 'binary':
      return binaryChain(run, expr);
    case 'range':
      return rangeOf(run, expr);
    case 'lambda':
      throw run.fault(expr, 'A lambda may only be an argument of ?filter, ?map, ?take_while or ?drop_while.');
    case 'escaped':
      return escaped(run, expr);
  }
}

function hashEntry(run: Interpretation, key: Expr, value: Expr): HashEntry {
  const name = run.need(key);
  const { text, taint, numeric } = toText(run, name, key);
  return { key: string(text, taint, numeric), value: run.need(value) };
}

function withFallback(run: Interpretation, expr: Extract<Expr, { kind: 'default' }>): Value | undefined {
  const value = guarded(run, expr.target);
  if (value !== undefined) return value;
  return expr.fallback ? run.evaluate(expr.fallback) : NOTHING;
}

function member(run: Interpretation, blamed: Expr, target: Value, name: string): Value | undefined {
  if (target.kind === 'hash') return target.get(name);
  if (isNothing(target)) return undefined;
  if (target.kind === 'fragment') throw fragmentFault(run, blamed);
  throw run.fault(blamed, `Expected a hash, found ${describe(target)}.`);
}

function indexed(run: Interpretation, expr: Extract<Expr, { kind: 'index' }>): Value | undefined {
  const target = run.need(expr.target);
  const key = run.need(expr.index);
  if (expr.index.kind === 'range' || (key.kind === 'sequence' && key.lazy)) return sliced(run, expr, target, key);
  if (key.kind === 'number') {
    const at = toIndex(run, key, expr.index);
    if (target.kind === 'sequence') {
      if (!target.indexable) throw run.fault(expr.target, 'This collection has no indexes.');
      return target.at(at);
    }
    if (isNothing(target)) return undefined;
    const source = toText(run, target, expr.target);
    if (at < 0 || at >= source.text.length) throw run.fault(expr.index, 'The index is outside of the string.');
    return cut(source, at, at + 1);
  }
  if (key.kind === 'string') return member(run, expr.target, target, key.text);
  throw run.fault(expr.index, `Expected a number, string or range, found ${describe(key)}.`);
}

function sliced(
  run: Interpretation,
  expr: Extract<Expr, { kind: 'index' }>,
  target: Value,
  key: Value,
): Value | undefined {
  if (key.kind !== 'sequence') throw run.fault(expr.index, `Expected a range, found ${describe(key)}.`);
  if (target.kind === 'sequence') return sliceSequence(run, target, key, expr.index);
  return cutRange(run, toText(run, target, expr.target), key, expr.index);
}

function call(run: Interpretation, expr: Extract<Expr, { kind: 'call' }>): Value | undefined {
  const callee = run.need(expr.target);
  if (callee.kind === 'method') return callee.call(expr.args.map((arg) => run.evaluate(arg)));
  if (callee.kind !== 'macro') throw run.fault(expr.target, `Expected a function, found ${describe(callee)}.`);
  if (!callee.node.isFunction) throw run.fault(expr.target, 'A macro is called with <@…>, not like a function.');
  const positional = expr.args.map((arg) => run.evaluate(arg));
  let returned: Value | undefined;
  // What a function prints goes nowhere.
  run.captured(() => {
    returned = run.invoke(callee, { positional, named: new Map(), nested: null }, expr.target).returned;
  });
  return returned;
}

function unary(run: Interpretation, op: '+' | '-' | '!', operand: Expr): Value {
  if (op === '!') return boolean(!needBoolean(run, operand).truth);
  const value = asNumber(run, run.need(operand), operand);
  if (op === '+') return value;
  return negative(run, value, operand);
}

function negative(run: Interpretation, value: NumberValue, operand: Expr): NumberValue {
  if (typeof value.number === 'number' && !Number.isFinite(value.number)) {
    return number(-value.number, derived(APPROXIMATE_TYPE, value.taint));
  }
  if (value.taint === null) return number(negate(exact(run, value, operand)));
  return arithmetic(run, '-', number(ZERO), value, operand);
}

/** Evaluates a left-deep chain `a + b + c` in a loop: its length is not a depth. */
function binaryChain(run: Interpretation, expr: Extract<Expr, { kind: 'binary' }>): Value {
  const chain: Extract<Expr, { kind: 'binary' }>[] = [];
  let leftmost: Expr = expr;
  while (leftmost.kind === 'binary') {
    chain.push(leftmost);
    leftmost = leftmost.left;
  }
  let blamed: Expr = leftmost;
  let value: Value | undefined;
  for (let link = chain.pop(); link; link = chain.pop()) {
    run.budget.step();
    value = binary(run, link, value, blamed);
    blamed = link;
  }
  return value!;
}

function binary(
  run: Interpretation,
  link: Extract<Expr, { kind: 'binary' }>,
  known: Value | undefined,
  leftExpr: Expr,
): Value {
  const { op, right } = link;
  if (op === '&&' || op === '||') {
    const first = known ? truth(run, known, leftExpr) : needBoolean(run, leftExpr);
    if (first.truth === (op === '||')) return boolean(first.truth);
    return boolean(needBoolean(run, right).truth);
  }
  const a = known ?? run.need(leftExpr);
  const b = run.need(right);
  if (op === '+') return plus(run, a, b, link);
  if (isComparison(op)) return comparison(run, op, a, b, link);
  const wrong = a.kind !== 'number' ? leftExpr : right;
  return arithmetic(run, op, a, b, a.kind === 'number' && b.kind === 'number' ? link : wrong);
}

function truth(run: Interpretation, value: Value, span: Expr): BooleanValue {
  if (value.kind === 'boolean') return value;
  throw run.fault(span, `Expected a boolean, found ${describe(value)}.`);
}

function rangeOf(run: Interpretation, expr: Extract<Expr, { kind: 'range' }>): Value {
  const from = truncated(exact(run, asNumber(run, run.need(expr.from), expr.from), expr.from));
  if (expr.to === null) return range(from, Infinity, 1);
  const to = truncated(exact(run, asNumber(run, run.need(expr.to), expr.to), expr.to));
  const distance = expr.op === '..*' ? to : to - from;
  const step = distance < 0n ? -1 : 1;
  const length = (distance < 0n ? -distance : distance) + (expr.op === '..' ? 1n : 0n);
  if (length > BigInt(Number.MAX_SAFE_INTEGER)) throw run.fault(expr, 'The range is too long.');
  return range(from, Number(length), step, { clips: expr.op === '..*', inclusive: expr.op === '..' });
}

/** An escape expands like a macro: inside its body the parameter stands for the interpolated expression. */
function escaped(run: Interpretation, expr: Extract<Expr, { kind: 'escaped' }>): Value | undefined {
  const { scope } = run;
  run.scope = { ...scope, escape: { param: expr.param, argument: expr.argument, parent: scope.escape } };
  const value = run.evaluate(expr.body);
  run.scope = scope;
  return value;
}
