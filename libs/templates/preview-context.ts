import { isExactNumber, isJsonObject, PenstockError, type JsonValue } from '#libs/kernel';
import type { ContextEntry } from '#libs/ftl';
import { coerceText, type ColumnType } from '#libs/typesystem';
import { reflected } from './reflected.js';

const INT32 = 2_147_483_647n;
const INT64 = 9_223_372_036_854_775_807n;

/**
 * The Context of a preview (contract 05 §9): JSON values take the type their form shows, numbers stay exact, arrays and
 * objects are allowed here.
 * @throws PenstockError `pipeline.execution.invalid_parameter_type`, reason `context_missing`, when it is no object.
 */
export function previewContext(context: unknown): Map<string, ContextEntry> {
  if (!isJsonObject(context as JsonValue)) {
    throw new PenstockError('pipeline.execution.invalid_parameter_type', {
      message: 'Send "context": an object of the names and values to render with; {} for none.',
      details: { field: 'context', reason: 'context_missing' },
    });
  }
  return new Map(Object.entries(context as object).map(([key, value]) => [key, entry(value as JsonValue, key)]));
}

function entry(value: JsonValue, path: string): ContextEntry {
  const origin = 'parameter';
  if (Array.isArray(value)) return { origin, items: value.map((item, index) => entry(item, `${path}[${index}]`)) };
  if (isJsonObject(value)) {
    const fields = Object.entries(value).map(([key, field]): [string, ContextEntry] => [
      key,
      entry(field, `${path}.${key}`),
    ]);
    return { origin, fields: new Map(fields) };
  }
  if (typeof value === 'boolean') return { type: { type: 'BOOLEAN' }, value, origin };
  if (!isExactNumber(value)) return { type: { type: 'STRING' }, value, origin };
  const type = numberType(value.value);
  const coerced = coerceText(type, plain(value.value));
  if (coerced.ok) return { type, value: coerced.value, origin };
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `The value of "${reflected(path)}" is no number that can be rendered.`,
    details: { field: `context.${reflected(path)}`, reason: 'field' },
  });
}

function numberType(token: string): ColumnType {
  if (!/^-?\d+$/.test(token)) return { type: 'BIGDECIMAL' };
  const value = BigInt(token);
  if (value >= -INT32 - 1n && value <= INT32) return { type: 'INTEGER' };
  return { type: value >= -INT64 - 1n && value <= INT64 ? 'BIGINTEGER' : 'BIGDECIMAL' };
}

/** A number token without its exponent; the JSON reader has bounded its written-out length. */
function plain(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const shift = Number(exponent);
  if (shift === 0) return token.replace(/[eE].*$/, '');
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded =
    point <= 0 ? digits.padStart(digits.length - point + 1, '0') : digits.padEnd(Math.max(point, digits.length), '0');
  const at = Math.max(point, 1);
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const rest = padded.slice(at);
  return `${sign}${integer}${rest === '' ? '' : `.${rest}`}`;
}
