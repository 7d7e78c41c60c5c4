import { type JsonObject } from '#libs/kernel';
import { coerceJson, isContextKey, LOGICAL_TYPES } from '#libs/typesystem';
import { reflected } from '#libs/templates';
import { integerToken, ObjectReader } from './object-reader.js';
import { declaredType, type ParameterDeclaration, type ParameterType } from './pipeline-document.js';
import { isReservedName } from './names.js';

export const MAX_PARAMETERS = 200;
export const MAX_PRECISION = 15;
export const MAX_UNBOUNDED_DIGITS = 1000;
export const PARAMETER_TYPES: ReadonlySet<string> = new Set(LOGICAL_TYPES.filter((type) => type !== 'NULL'));

/** Reads `parameters` (contract 01 §3.1). Declarations that are wrong are left out of the map. */
export function readParameters(root: ObjectReader): Map<string, ParameterDeclaration> {
  const declarations = new Map<string, ParameterDeclaration>();
  const section = root.child('parameters');
  if (!section) {
    root.stored.parameters = Object.create(null) as JsonObject;
    return declarations;
  }
  const names = section.keys();
  if (names.length > MAX_PARAMETERS) {
    root.notes.fail(
      'pipeline.validation.pipeline_too_large',
      'parameters',
      `A pipeline declares at most ${MAX_PARAMETERS} parameters; this one declares ${names.length}.`,
      { limit: 'parameters', max: MAX_PARAMETERS, found: names.length },
    );
  }
  for (const name of names.slice(0, MAX_PARAMETERS)) {
    judgeName(section, name);
    const declaration = section.child(name);
    const read = declaration && readDeclaration(declaration);
    if (read) declarations.set(name, read);
  }
  return declarations;
}

function judgeName(section: ObjectReader, name: string): void {
  if (isContextKey(name) && !isReservedName(name)) return;
  section.notes.fail(
    'pipeline.validation.parameter_name_invalid',
    section.at(name),
    `"${reflected(name)}" is no parameter name: use [a-z_][a-z0-9_]{0,62}, not between double underscores.`,
    { parameter: reflected(name) },
  );
}

function readDeclaration(reader: ObjectReader): ParameterDeclaration | undefined {
  const { notes, path } = reader;
  const type = reader.value('type');
  const required = reader.value('required');
  const precision = reader.value('precision');
  const scale = reader.value('scale');
  const fallback = reader.value('default');
  const description = reader.text('description');
  reader.finish();

  if (required !== undefined && typeof required !== 'boolean') notes.wrongField(reader.at('required'), 'true or false');
  if (required === true && fallback !== undefined) {
    notes.fail(
      'pipeline.validation.conflicting_required_default',
      path,
      'A required parameter has no default: drop "default", or set "required" to false.',
    );
  }
  if (typeof type !== 'string' || !PARAMETER_TYPES.has(type)) {
    notes.fail(
      'pipeline.validation.parameter_type_invalid',
      reader.at('type'),
      `Set "type" to one of ${[...PARAMETER_TYPES].join(', ')}.`,
      { allowed: [...PARAMETER_TYPES] },
    );
    return undefined;
  }
  const size = readSize(reader, type as ParameterType, precision, scale);
  if (!size) return undefined;
  const declaration: ParameterDeclaration = {
    type: type as ParameterType,
    required: required === true,
    ...size,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(description === undefined ? {} : { description }),
  };
  if (fallback !== undefined) {
    const coerced = coerceJson(declaredType(declaration), fallback);
    if (!coerced.ok) {
      notes.fail(
        'pipeline.validation.default_type_mismatch',
        reader.at('default'),
        `The default does not fit ${type}: ${coerced.message}.`,
        { expected: type },
      );
      return undefined;
    }
  }
  return declaration;
}

type Size = Pick<ParameterDeclaration, 'precision' | 'scale'>;

/**
 * DECIMAL: precision 1..15, a scale of 0..precision or none (an approximate number). BIGDECIMAL: scale required, the
 * precision may be absent (unbounded). On other types both words mean nothing and are kept out.
 */
function readSize(reader: ObjectReader, type: ParameterType, precision: unknown, scale: unknown): Size | undefined {
  const { notes } = reader;
  const p = integerToken(precision as never);
  const s = integerToken(scale as never);
  if (type === 'DECIMAL') {
    if (p === undefined || p < 1 || p > MAX_PRECISION) {
      notes.fail(
        'pipeline.validation.parameter_precision_missing',
        reader.at('precision'),
        `A DECIMAL parameter needs "precision" 1 to ${MAX_PRECISION}; for more digits use BIGDECIMAL.`,
      );
      return undefined;
    }
    if (scale === undefined) return { precision: p };
    if (s !== undefined && s >= 0 && s <= p) return { precision: p, scale: s };
    notes.fail(
      'pipeline.validation.parameter_scale_missing',
      reader.at('scale'),
      `"scale" must be 0 to ${p}; without it the parameter is an approximate number.`,
    );
    return undefined;
  }
  if (type !== 'BIGDECIMAL') return {};
  if (precision !== undefined && (p === undefined || p < 1 || p > MAX_UNBOUNDED_DIGITS)) {
    notes.fail(
      'pipeline.validation.parameter_precision_missing',
      reader.at('precision'),
      `"precision" of a BIGDECIMAL is 1 to ${MAX_UNBOUNDED_DIGITS}, or absent for an unbounded number.`,
    );
    return undefined;
  }
  if (s === undefined || s < 0 || s > (p ?? MAX_UNBOUNDED_DIGITS)) {
    notes.fail(
      'pipeline.validation.parameter_scale_missing',
      reader.at('scale'),
      'A BIGDECIMAL parameter needs "scale" from 0 to its precision.',
    );
    return undefined;
  }
  return { ...(p === undefined ? {} : { precision: p }), scale: s };
}
