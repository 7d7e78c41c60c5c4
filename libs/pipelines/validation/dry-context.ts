import type { ContextValue } from '#libs/ftl';
import { coerceJson, coerceText, type ColumnType, type TypedValue } from '#libs/typesystem';
import { declaredType, type ParameterDeclaration } from '../document/pipeline-document.js';

/** BOOLEAN parameters whose both values are tried (contract 05 §8). */
const MAX_VARIED = 3;

/** Text forms of the samples; they exercise every type and are never null. */
const SAMPLES: Readonly<Record<ParameterDeclaration['type'], string>> = {
  BOOLEAN: 'true',
  INTEGER: '1',
  BIGINTEGER: '1',
  DECIMAL: '1',
  BIGDECIMAL: '1',
  STRING: 'sample',
  BINARY: 'AA==',
  DATE: '2026-01-01',
  TIME: '12:00:00',
  TIMESTAMP: '2026-01-01T12:00:00Z',
};

/** A value that stands in for one nobody gave: of the type, never null. */
export function sampleValue(type: ColumnType): TypedValue {
  const full = type.scale === type.precision && type.scale !== undefined;
  // With no digit before the point 1 does not fit; a zero fits every precision.
  const text = type.type === 'DECIMAL' || type.type === 'BIGDECIMAL' ? decimalSample(type.scale, full) : undefined;
  const coerced = coerceText(type, text ?? SAMPLES[type.type as ParameterDeclaration['type']]);
  return { type, value: coerced.ok ? coerced.value : null };
}

function decimalSample(scale: number | undefined, full: boolean): string {
  return `${full ? '0' : '1'}${scale ? `.${'0'.repeat(scale)}` : ''}`;
}

/**
 * The Contexts a save renders with: what surrounds the parameters, their defaults, samples where they have none; then
 * the other value of up to three BOOLEAN parameters, so that both branches of a test are seen.
 * `undeclarable` names are parameters whose declaration is wrong: they exist all the same. `computed` are the calculator
 * keys a node may use; a sample of ANY is a STRING.
 */
export function dryContexts(
  surroundings: ReadonlyMap<string, ContextValue>,
  parameters: ReadonlyMap<string, ParameterDeclaration>,
  undeclarable: readonly string[],
  maxVariants: number,
  computed: ReadonlyMap<string, ColumnType | undefined> = new Map(),
): Map<string, ContextValue>[] {
  const base = new Map(surroundings);
  for (const name of undeclarable)
    base.set(name, { ...sampleValue({ type: 'STRING' }), origin: 'parameter', sample: true });
  for (const [key, type] of computed) {
    if (!base.has(key) || surroundings.has(key)) {
      base.set(key, { ...sampleValue(type ?? { type: 'STRING' }), origin: 'calculator', sample: true });
    }
  }
  const booleans: string[] = [];
  for (const [name, declaration] of parameters) {
    const type = declaredType(declaration);
    const given = declaration.default === undefined ? undefined : coerceJson(type, declaration.default);
    base.set(
      name,
      given?.ok
        ? { type, value: given.value, origin: 'parameter' }
        : { ...sampleValue(type), origin: 'parameter', sample: true },
    );
    if (type.type === 'BOOLEAN' && booleans.length < MAX_VARIED) booleans.push(name);
  }
  const contexts: Map<string, ContextValue>[] = [];
  for (let bits = 0; bits < 2 ** booleans.length && contexts.length < maxVariants; bits++) {
    const context = new Map(base);
    for (const [position, name] of booleans.entries()) {
      const value = context.get(name)!;
      if ((bits >> position) & 1) context.set(name, { ...value, value: value.value !== true });
    }
    contexts.push(context);
  }
  return contexts;
}
