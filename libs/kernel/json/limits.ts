/** Bounds on the text, counted before any value is built (contract 01 §1). */
export interface JsonLimits {
  /** Nested arrays and objects. */
  maxDepth: number;
  /** UTF-16 units of one string or key, escapes resolved. */
  maxStringChars: number;
  /** Characters of one number, its exponent written out: `1e9` has ten. */
  maxNumberChars: number;
}

export const JSON_LIMITS: Readonly<JsonLimits> = {
  maxDepth: 100,
  maxStringChars: 4 * 1024 * 1024,
  maxNumberChars: 1000,
};
