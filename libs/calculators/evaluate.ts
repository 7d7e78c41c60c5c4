import { ArithmeticException, DateTimeException } from '@js-joda/core';
import type { JsonValue } from '#libs/kernel/pure';
import { coerceText, describeType, rescaleDecimal, type TypedValue } from '#libs/typesystem';
import { CalculatorRefusal, literalJson, type Calculator, type CalculatorInput } from './calculator.js';
import { GivenInputs, type Given } from './given-inputs.js';
import { readLiteral, referenceOf, valueDefect } from './literals.js';
import { exactNumber } from './scalars.js';

export type Evaluation =
  | { ok: true; outputs: ReadonlyMap<string, TypedValue> }
  | { ok: false; input?: string; reason: CalculatorRefusal['reason']; message: string };

/** Values by Context key; undefined for a key that has none. */
export type Lookup = (key: string) => TypedValue | undefined;

/** Computes one node: literals and references to the Context in, values by output name out. Pure; it never throws. */
export function evaluate(calculator: Calculator, inputs: ReadonlyMap<string, JsonValue>, lookup: Lookup): Evaluation {
  try {
    const given = new Map<string, Given>();
    for (const input of calculator.inputs) {
      const value = resolve(input, inputs.get(input.name), lookup);
      if (value !== undefined) given.set(input.name, value);
    }
    return { ok: true, outputs: new Map(Object.entries(calculator.compute(new GivenInputs(given)))) };
  } catch (error) {
    if (error instanceof CalculatorRefusal) {
      const { input, reason, message } = error;
      return { ok: false, reason, message, ...(input === undefined ? {} : { input }) };
    }
    // Days and months so far away that the calendar itself ends.
    if (error instanceof DateTimeException || error instanceof ArithmeticException) {
      return { ok: false, reason: 'range', message: 'the result is outside the years 0001 to 9999' };
    }
    throw error;
  }
}

function resolve(input: CalculatorInput, json: JsonValue | undefined, lookup: Lookup): Given | undefined {
  if (json === undefined) return absent(input);
  if (!input.list) {
    const value = resolveOne(input, json, lookup);
    return value.value === null && input.type !== 'ANY' ? absent(input) : value;
  }
  const items = Array.isArray(json) ? json : [json];
  return items.map((item) => {
    const value = resolveOne(input, item, lookup);
    if (value.value === null && input.type !== 'ANY') {
      throw new CalculatorRefusal(input.name, 'null', 'an item of the list is null');
    }
    return value;
  });
}

/** An absent input, or one that refers to a null where a value is needed. */
function absent(input: CalculatorInput): Given | undefined {
  const { fallback } = input;
  if (fallback === undefined) {
    if (input.optional) return undefined;
    throw new CalculatorRefusal(input.name, 'null', 'a value is needed');
  }
  return input.list && Array.isArray(fallback)
    ? fallback.map((item) => literal(input, literalJson(item)))
    : literal(input, literalJson(fallback));
}

function resolveOne(input: CalculatorInput, json: JsonValue, lookup: Lookup): TypedValue {
  const key = referenceOf(json);
  if (key === undefined) return literal(input, json);
  const value = lookup(key);
  if (value === undefined) throw new CalculatorRefusal(input.name, 'null', `"${key}" has no value`);
  return admitted(input, value);
}

function literal(input: CalculatorInput, json: JsonValue): TypedValue {
  const read = readLiteral(input, json);
  if (read.ok) return read.value;
  throw new CalculatorRefusal(input.name, 'value', read.message);
}

/** A referenced value as the input takes it: numbers exactly, and texts of an ANY output read by their form. */
function admitted(input: CalculatorInput, given: TypedValue): TypedValue {
  if (given.value === null || input.type === 'ANY') return given;
  const value = converted(input.type, given);
  if (value === undefined) {
    throw new CalculatorRefusal(input.name, 'type', `expected ${input.type}, got ${describeType(given.type)}`);
  }
  const defect = valueDefect(input, value.value);
  if (defect !== undefined) throw new CalculatorRefusal(input.name, 'value', defect);
  return value;
}

function converted(type: Exclude<CalculatorInput['type'], 'ANY'>, given: TypedValue): TypedValue | undefined {
  if (type === 'DECIMAL') {
    const value = exactNumber(given);
    return value && { type: { type: 'BIGDECIMAL', scale: value.scale }, value };
  }
  if (given.type.type === type) return given;
  if (type === 'INTEGER') return wholeNumber(given);
  if (given.type.type !== 'STRING' || typeof given.value !== 'string') return undefined;
  const read = coerceText({ type }, given.value);
  return read.ok ? { type: { type }, value: read.value } : undefined;
}

/** A number without a fraction that INTEGER holds. */
function wholeNumber(given: TypedValue): TypedValue | undefined {
  const exact = exactNumber(given);
  const whole = exact && rescaleDecimal(exact, 0);
  if (!whole || BigInt.asIntN(32, whole.unscaled) !== whole.unscaled) return undefined;
  return { type: { type: 'INTEGER' }, value: Number(whole.unscaled) };
}
