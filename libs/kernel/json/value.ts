import { isLosslessNumber, LosslessNumber } from 'lossless-json';

/** A JSON number that keeps its source text: `1.10` stays `1.10` (contract 01 §1). */
export { LosslessNumber as ExactNumber };

export function isExactNumber(value: unknown): value is LosslessNumber {
  return isLosslessNumber(value);
}

/** What `readJson` returns. Objects have no prototype, so `__proto__` and `constructor` are ordinary keys. */
export type JsonValue = null | boolean | string | LosslessNumber | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a value that was read is an object (neither array, number nor null). */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
