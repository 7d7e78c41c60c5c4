import type { ColumnType } from '../canonical-type.js';
import { accepted, wrongForm, type Coercion } from './coercion.js';
import { coerceInteger, coerceNumberToken } from './coerce-number.js';
import { coerceString } from './coerce-text.js';
import { describeJson, numberTokenText } from './number-token.js';

/** What the JSON of each type looks like, for messages. */
const EXPECTED = {
  NULL: 'null',
  BOOLEAN: 'true or false',
  INTEGER: 'a JSON number without point or exponent',
  BIGINTEGER: 'a string of digits',
  DECIMAL: 'a JSON number',
  BIGDECIMAL: 'a string with plain decimal text',
  STRING: 'a string',
  BINARY: 'a string of padded standard base64',
  DATE: 'a string YYYY-MM-DD',
  TIME: 'a string HH:MM:SS[.ffffff]',
  TIMESTAMP: 'a string such as 2026-03-01T07:05:09Z',
} as const;

/**
 * Reads one JSON value as a value of `type` (contract 01 §5.3): parameters, defaults, calculator literals. Numbers
 * arrive as exact tokens. JSON null is the typed NULL; whether null is allowed there is the caller's question.
 */
export function coerceJson(type: ColumnType, json: unknown): Coercion {
  if (json === null) return accepted(null);
  const token = numberTokenText(json);
  if (token !== null) {
    if (type.type === 'INTEGER') return coerceInteger(token, describeJson(json));
    if (type.type === 'DECIMAL') return coerceNumberToken(type, token);
  } else if (typeof json === 'boolean') {
    if (type.type === 'BOOLEAN') return accepted(json);
  } else if (typeof json === 'string') {
    return coerceString(type, json);
  }
  return wrongForm(EXPECTED[type.type], describeJson(json));
}
