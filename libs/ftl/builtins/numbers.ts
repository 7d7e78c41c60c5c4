import * as decimal from '../decimal.js';
import { checkedSize, exact, plainNumber } from '../runtime/coerce.js';
import { derivedNumber } from '../runtime/number-taint.js';
import { APPROXIMATE_TYPE, derived, STRING_TYPE, type Taint } from '../runtime/taint.js';
import { boolean, number, type NumberValue, type Value } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

const HALF = { unscaled: 5n, scale: 1 };

function whole(compute: (value: decimal.Decimal) => bigint): Builtin {
  return (call) => {
    const value = call.number();
    const result = decimal.fromInteger(compute(exact(call.run, value, call.expr.target)));
    return number(checkedSize(call.run, result, call.expr), derivedNumber(result, value));
  };
}

/** Java's narrowing: the low bits of the whole part. */
const narrow = (bits: number): Builtin => whole((value) => BigInt.asIntN(bits, decimal.truncated(value)));

function abs(call: BuiltinCall): Value {
  const value = call.number();
  if (typeof value.number === 'number' && !Number.isFinite(value.number)) {
    return number(Math.abs(value.number), derived(APPROXIMATE_TYPE, value.taint));
  }
  const digits = exact(call.run, value, call.expr.target);
  const result = digits.unscaled < 0n ? decimal.negate(digits) : digits;
  return number(result, derivedNumber(result, value));
}

function double(call: BuiltinCall): Value {
  const value = call.number();
  return number(toDouble(value), value.taint && { ...value.taint, key: null });
}

/** A float prints the fewest digits that give it back. */
function float(call: BuiltinCall): Value {
  const value = call.number();
  const single = Math.fround(toDouble(value));
  const taint = value.taint && { ...value.taint, key: null };
  if (!Number.isFinite(single)) return number(single, taint);
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return number(short, taint);
  }
  return number(single, taint);
}

function toDouble({ number: value }: NumberValue): number {
  return typeof value === 'number' ? value : decimal.toDouble(value);
}

/** Plain without trailing zeros; booleans `true`/`false`; a string is an error (contract 05 §4.5). */
function c(call: BuiltinCall): Value {
  const value = call.target();
  if (value.kind === 'boolean') return call.string(value.truth ? 'true' : 'false', value);
  if (value.kind === 'sequence' && value.whole) return call.string(String(value.whole.matched));
  const given = call.number();
  if (typeof given.number === 'number' && !Number.isFinite(given.number)) {
    return call.string(plainNumber(given.number).replace('Infinity', 'INF'), given);
  }
  return call.string(decimal.plain(decimal.trimTo(exact(call.run, given, call.expr.target), 0)), given);
}

/** 1 → a, 26 → z, 27 → aa. */
function letters(first: number): Builtin {
  return (call) => {
    const value = call.number();
    const digits = exact(call.run, value, call.expr.target);
    if (!decimal.isInteger(digits)) throw call.fault('expects an integer.');
    let n = decimal.truncated(digits);
    if (n < 1n) throw call.fault('expects a number of at least 1.');
    const oneLetter = n <= 26n;
    let text = '';
    for (; n > 0n; n = (n - 1n) / 26n) text = String.fromCharCode(first + Number((n - 1n) % 26n)) + text;
    const written = call.string(text, value);
    // One letter is an alias; a number a caller chose could spell a keyword with more of them.
    return oneLetter || written.taint ? written : { ...written, taint: SPELLED };
  };
}

const SPELLED: Taint = { key: null, type: STRING_TYPE, own: null, origin: 'platform', sample: false };

export const numbers: BuiltinFamily = {
  abs,
  c,
  ceiling: whole(decimal.ceiling),
  floor: whole(decimal.floor),
  round: whole((value) => decimal.floor(decimal.add(value, HALF))),
  int: narrow(32),
  long: narrow(64),
  short: narrow(16),
  byte: narrow(8),
  double,
  float,
  is_nan: (call) => boolean(Number.isNaN(toDouble(call.number()))),
  is_infinite: (call) => boolean(Math.abs(toDouble(call.number())) === Infinity),
  lower_abc: letters(97),
  upper_abc: letters(65),
};
