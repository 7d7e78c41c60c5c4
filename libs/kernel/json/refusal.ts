import { PenstockError } from '../penstock-error.js';

/** Why a JSON text is refused; the wire's `details.reason` (03 §1). */
export type JsonRefusal = 'malformed_json' | 'duplicate_key' | 'too_deep' | 'too_many_digits' | 'string_too_long';

const MAX_REFLECTED_CHARS = 64;

/** Input that is shown back is clipped and carries no control characters (05, preamble). */
function reflected(text: string): string {
  const clipped = text.length > MAX_REFLECTED_CHARS ? `${text.slice(0, MAX_REFLECTED_CHARS)}…` : text;
  return clipped.replace(/[\p{Cc}\p{Surrogate}]/gu, '\uFFFD');
}

/**
 * 400 `pipeline.execution.invalid_parameter_type` for a JSON text.
 *
 * @param at offset in UTF-16 units of what is blamed; `details.line` and `details.column` count from 1.
 * @param field `details.field`: where the text came from, such as `body` or `definitionJson`.
 */
export function jsonRefusal(
  reason: JsonRefusal,
  message: string,
  place: { text: string; at: number; field: string },
  found: { key?: string; limit?: number } = {},
): PenstockError {
  const { line, column } = position(place.text, place.at);
  return new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `${message} (line ${line}, column ${column})`,
    details: {
      field: place.field,
      reason,
      line,
      column,
      ...(found.key === undefined ? {} : { key: reflected(found.key) }),
      ...(found.limit === undefined ? {} : { limit: found.limit }),
    },
  });
}

function position(text: string, at: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1)) {
    line++;
    lineStart = next + 1;
  }
  return { line, column: at - lineStart + 1 };
}
