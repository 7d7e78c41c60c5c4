import { PenstockError } from '../penstock-error.js';
import { JSON_LIMITS, type JsonLimits } from './limits.js';
import { JsonReader } from './reader.js';
import type { JsonValue } from './value.js';

export interface ReadJsonOptions extends Partial<JsonLimits> {
  /** What `details.field` of a refusal names. Default `body`. */
  field?: string;
}

/**
 * Reads one JSON text. Numbers keep their text, objects have no prototype.
 * Iterative, so that nesting costs a counter and never the stack.
 *
 * @throws PenstockError `pipeline.execution.invalid_parameter_type` 400 with `details.reason`
 *   malformed_json | duplicate_key | too_deep | too_many_digits | string_too_long, `line` and `column`.
 *   U+0000 and unpaired surrogates are malformed, also when escaped: PostgreSQL stores neither.
 */
export function readJson(text: string, options: ReadJsonOptions = {}): JsonValue {
  return new JsonReader(text, { ...JSON_LIMITS, ...options }, options.field ?? 'body').read();
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** As `readJson`, from UTF-8 bytes (a byte order mark is skipped). Bytes that are not UTF-8 are `malformed_json`. */
export function readJsonBytes(bytes: Uint8Array, options: ReadJsonOptions = {}): JsonValue {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new PenstockError('pipeline.execution.invalid_parameter_type', {
      message: 'the text is not valid UTF-8',
      details: { field: options.field ?? 'body', reason: 'malformed_json' },
      cause,
    });
  }
  return readJson(text, options);
}
