import { isJsonObject, PenstockError, readJson, type JsonObject, type JsonValue } from '#libs/kernel';

/** A document or parameters out of a `JsonText`, read like the body of a REST request (03 §12). */
export function jsonOf(text: string, field: string): JsonValue {
  return readJson(text, { field });
}

export function jsonObjectOf(text: string, field: string): JsonObject {
  const value = jsonOf(text, field);
  if (isJsonObject(value)) return value;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `“${field}” must hold a JSON object.`,
    details: { field, reason: 'field' },
  });
}
