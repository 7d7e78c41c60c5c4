import { isExactNumber, type JsonValue } from '#libs/kernel/pure';
import {
  coerceJson,
  coerceText,
  parseDecimal,
  parseNumberToken,
  quoteForMessage,
  type Coercion,
  type ColumnType,
  type TypedValue,
} from '#libs/typesystem';
import type { Calculator, CalculatorOutput } from './calculator.js';
import { literalJson } from './calculator.js';
import { scalarLiteral } from './scalars.js';

/** Type of an output as far as a document tells: undefined for ANY; a DECIMAL whose scale comes with the run has none. */
export function outputType(
  calculator: Calculator,
  output: CalculatorOutput,
  inputs: ReadonlyMap<string, JsonValue>,
): ColumnType | undefined {
  const { type, precision, scaleFrom } = output;
  if (type === 'ANY') return undefined;
  const scale = scaleFrom === undefined ? undefined : scaleOf(calculator, scaleFrom, inputs);
  return { type, ...(precision === undefined ? {} : { precision }), ...(scale === undefined ? {} : { scale }) };
}

function scaleOf(calculator: Calculator, name: string, inputs: ReadonlyMap<string, JsonValue>): number | undefined {
  const fallback = calculator.inputs.find((input) => input.name === name)?.fallback ?? null;
  const json = inputs.get(name) ?? literalJson(fallback);
  return isExactNumber(json) ? Number(json.value) : undefined;
}

type Supplied = { ok: true; value: TypedValue } | (Coercion & { ok: false });

/** Reads a caller's own value for an output; `type` as `outputType` tells it (contract 01 §7.2). */
export function suppliedJson(type: ColumnType | undefined, json: JsonValue): Supplied {
  if (type === undefined) {
    const value = scalarLiteral(json);
    return value ? { ok: true, value } : wrong('a string, a number, true or false', 'an array or object');
  }
  const exact = isExactNumber(json) ? withScale(type, parseNumberToken(json.value)?.scale) : type;
  return typed(exact, coerceJson(exact, json));
}

/** The same from text, as the query of a published endpoint carries it; ANY takes it as STRING. */
export function suppliedText(type: ColumnType | undefined, text: string): Supplied {
  const exact = type === undefined ? { type: 'STRING' as const } : withScale(type, parseDecimal(text)?.scale);
  return typed(exact, coerceText(exact, text));
}

/** A number whose scale only the run would tell has the scale it is written with: it stays exact. */
function withScale(type: ColumnType, scale: number | undefined): ColumnType {
  return type.type === 'DECIMAL' && type.scale === undefined ? { ...type, scale: Math.min(scale ?? 0, 15) } : type;
}

function typed(type: ColumnType, coercion: Coercion): Supplied {
  return coercion.ok ? { ok: true, value: { type, value: coercion.value } } : coercion;
}

function wrong(expected: string, got: string): Supplied {
  return { ok: false, kind: 'type', message: `expected ${expected}, got ${quoteForMessage(got)}` };
}
