import { isExactNumber, type JsonValue } from '#libs/kernel/pure';
import { coerceJson, parseNumberToken, quoteForMessage, type CanonicalValue, type TypedValue } from '#libs/typesystem';
import type { CalculatorInput } from './calculator.js';
import { scalarLiteral } from './scalars.js';

export type ReadLiteral = { ok: true; value: TypedValue } | { ok: false; message: string };

/** The Context key a string of the form `"$name"` refers to (contract 01 §7.1). */
export function referenceOf(json: JsonValue): string | undefined {
  return typeof json === 'string' && json.length > 1 && json.startsWith('$') ? json.slice(1) : undefined;
}

/** Reads one literal, or one item of a list, as a value of the input. */
export function readLiteral(input: CalculatorInput, json: JsonValue): ReadLiteral {
  if (input.type === 'ANY') {
    const value = scalarLiteral(json);
    return value ? { ok: true, value } : { ok: false, message: 'expected a string, a number, true or false' };
  }
  if (json === null) return { ok: false, message: 'expected a value, got null' };
  if (input.type === 'DECIMAL') {
    const value = isExactNumber(json) ? parseNumberToken(json.value) : null;
    if (value === null) return { ok: false, message: 'expected a JSON number' };
    return { ok: true, value: { type: { type: 'BIGDECIMAL', scale: value.scale }, value } };
  }
  const type = { type: input.type };
  const read = coerceJson(type, json);
  if (!read.ok) return { ok: false, message: read.message };
  const defect = valueDefect(input, read.value);
  return defect === undefined ? { ok: true, value: { type, value: read.value } } : { ok: false, message: defect };
}

/** What is wrong with a value that has the input's type. */
export function valueDefect({ allowed, defect }: CalculatorInput, value: CanonicalValue): string | undefined {
  const expected =
    allowed && !allowed.some((word) => word === value) ? `one of ${allowed.join(', ')}` : defect?.(value);
  if (expected === undefined) return undefined;
  return `expected ${expected}, got ${typeof value === 'string' ? quoteForMessage(value) : String(value)}`;
}
