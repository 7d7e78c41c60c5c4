import { readJson, type JsonValue } from '#libs/kernel/pure';
import { encodeWire, type TypedValue } from '#libs/typesystem';
import { evaluate, findCalculator } from './index.js';

/** Wire form of the outputs of one kind, or the refusal as `input:reason`; the inputs are JSON text. */
export function compute(kind: string, inputs: string, context: Record<string, TypedValue> = {}): string {
  const calculator = findCalculator(kind);
  if (!calculator) throw new TypeError(`no calculator ${kind}`);
  const given = new Map(Object.entries(readJson(inputs) as Record<string, JsonValue>));
  const result = evaluate(calculator, given, (key) => (Object.hasOwn(context, key) ? context[key] : undefined));
  if (!result.ok) return `${result.input ?? ''}:${result.reason}`;
  return [...result.outputs.values()].map(({ type, value }) => encodeWire(type, value).replaceAll('"', '')).join(' ');
}
