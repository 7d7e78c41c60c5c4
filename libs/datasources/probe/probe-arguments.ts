import { isExactNumber, isJsonObject, PenstockError, type JsonObject, type JsonValue } from '#libs/kernel';
import { coerceJson, isContextKey, LOGICAL_TYPES, type ColumnType, type TypedValue } from '#libs/typesystem';

/** Longest statement, in bytes of UTF-8. */
const MAX_SQL_BYTES = 64 * 1024;
const MAX_PARAMETERS = 200;

/**
 * A wrong argument: JSON-RPC −32602 and GraphQL `BAD_USER_INPUT` at those doors (06 §9). The message says what to change
 * and never holds a value.
 */
export function refusedArgument(field: string, reason: string, message: string): PenstockError {
  return new PenstockError('pipeline.execution.invalid_parameter_type', { message, details: { field, reason } });
}

/** @throws as {@link refusedArgument} for what is no text, too long, or holds U+0000, which would end it early */
export function sqlArgument(sql: unknown, field = 'sql'): string {
  if (typeof sql !== 'string') throw refusedArgument(field, 'field', `“${field}” must be a text.`);
  if (Buffer.byteLength(sql) > MAX_SQL_BYTES)
    throw refusedArgument(field, 'too_long', `“${field}” holds at most ${MAX_SQL_BYTES / 1024} KiB.`);
  if (sql.includes('\u0000')) throw refusedArgument(field, 'field', `“${field}” must not hold U+0000.`);
  return sql;
}

/** A whole number of at least 1; above `most` it is cut to it. */
export function clampedArgument(field: string, given: number | undefined, preset: number, most: number): number {
  if (given === undefined) return preset;
  if (!Number.isSafeInteger(given) || given < 1)
    throw refusedArgument(field, 'field', `“${field}” must be a whole number of at least 1.`);
  return Math.min(given, most);
}

/** `{name: {type, precision?, scale?, value}}`; a value of null is the typed NULL. */
export function parameterArguments(given: JsonObject | undefined): Map<string, TypedValue> {
  const parameters = Object.entries(given ?? {});
  if (parameters.length > MAX_PARAMETERS)
    throw refusedArgument('parameters', 'too_many', `“parameters” holds at most ${MAX_PARAMETERS} values.`);
  return new Map(parameters.map(([name, parameter]) => [name, parameterArgument(name, parameter)]));
}

/** More digits are a BIGDECIMAL (contract 01 §3.1). */
const MAX_DECIMAL_PRECISION = 15;
const MEMBERS = new Set(['type', 'precision', 'scale', 'value']);

/** A value of each type as JSON writes it. */
const FORMS: Readonly<Record<ColumnType['type'], string>> = {
  NULL: 'null',
  BOOLEAN: 'true',
  INTEGER: '42',
  BIGINTEGER: '"9007199254740993"',
  DECIMAL: '12.5',
  BIGDECIMAL: '"0.10"',
  STRING: '"text"',
  BINARY: '"aGVsbG8=" in base64',
  DATE: '"2026-03-01"',
  TIME: '"07:05:09"',
  TIMESTAMP: '"2026-03-01T07:05:09Z"',
};

function parameterArgument(name: string, parameter: JsonValue | undefined): TypedValue {
  if (!isContextKey(name)) {
    throw refusedArgument(
      'parameters',
      'name',
      'A parameter is named by lower-case letters, digits and "_", 63 at most.',
    );
  }
  const field = `parameters.${name}`;
  if (parameter === undefined || !isJsonObject(parameter))
    throw refusedArgument(field, 'field', `“${field}” must be an object {type, value}.`);
  const unknown = Object.keys(parameter).find((key) => !MEMBERS.has(key));
  if (unknown !== undefined)
    throw refusedArgument(field, 'unknown_field', `“${field}” takes type, precision, scale and value only.`);
  const type = typeArgument(field, parameter);
  const { value } = parameter;
  if (value === undefined)
    throw refusedArgument(field, 'missing', `“${field}.value” is required; null is the typed NULL.`);
  const coerced = coerceJson(type, value);
  if (coerced.ok) return { type, value: coerced.value };
  const constraint = coerced.kind === 'constraint';
  throw refusedArgument(
    field,
    constraint ? 'bounds' : 'form',
    constraint
      ? `“${field}.value” is beyond the bounds of ${type.type}.`
      : `“${field}.value” does not have the form of ${type.type}, such as ${FORMS[type.type]}.`,
  );
}

function typeArgument(field: string, { type, precision, scale }: JsonObject): ColumnType {
  const known = LOGICAL_TYPES.find((name) => name === type);
  if (!known) throw refusedArgument(field, 'type', `“${field}.type” must be one of ${LOGICAL_TYPES.join(', ')}.`);
  const sized = { ...digits(field, 'precision', precision, 1), ...digits(field, 'scale', scale, 0) };
  if (known !== 'DECIMAL') return { type: known, ...sized };
  const size = { precision: MAX_DECIMAL_PRECISION, ...sized };
  if (size.precision > MAX_DECIMAL_PRECISION || (size.scale ?? 0) > size.precision)
    throw refusedArgument(field, 'type', `“${field}”: a DECIMAL has 15 digits at most; use BIGDECIMAL for more.`);
  return { type: known, ...size };
}

function digits(
  field: string,
  key: 'precision' | 'scale',
  given: JsonValue | undefined,
  least: number,
): { precision?: number; scale?: number } {
  if (given === undefined || given === null) return {};
  const count = isExactNumber(given) || typeof (given as unknown) === 'number' ? Number(given) : Number.NaN;
  if (!Number.isInteger(count) || count < least || count > 1000)
    throw refusedArgument(field, 'type', `“${field}.${key}” must be a whole number of ${least} to 1000.`);
  return { [key]: count };
}
