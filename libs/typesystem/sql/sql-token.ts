/**
 * `word`: keyword or unquoted identifier. `string`: a quoted literal of any form but dollar quotes. `bind`: `:name`.
 * `native_placeholder`: a placeholder of the driver's own, which an author must not write (contract 01 §4.2).
 * `marker`: U+E000 … U+E001, which the template renderer sets where a bind stands.
 */
export type SqlTokenKind =
  | 'whitespace'
  | 'comment'
  | 'word'
  | 'number'
  | 'string'
  | 'dollar_string'
  | 'quoted_identifier'
  | 'bind'
  | 'native_placeholder'
  | 'marker'
  | 'punctuation';

/**
 * How a `string` reads: `plain` doubles its quote and nothing else; `backslash` also takes `\'`; the others carry a
 * prefix (`N'…'`, `E'…'`, `X'…'`, `B'…'`, `U&'…'`) or Oracle's `q'[…]'`.
 */
export type StringForm = 'plain' | 'backslash' | 'national' | 'escape' | 'hex' | 'bit' | 'unicode' | 'alternative';

/** One token; the tokens of a text cover it without gaps. Offsets count UTF-16 units. */
export interface SqlToken {
  readonly kind: SqlTokenKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The text ended before the literal, identifier or comment did. Only the last token can have it. */
  readonly unterminated?: true;
  /** Of a `string`. */
  readonly form?: StringForm;
  /** Of a comment whose content the server runs as code: MySQL and MariaDB `/*! …` and `/*M! …`. */
  readonly executable?: true;
}

export const MARKER_OPEN = '\uE000';
export const MARKER_CLOSE = '\uE001';

/** The unterminated token of a text, if it has one. */
export function findUnterminated(tokens: readonly SqlToken[]): SqlToken | undefined {
  const last = tokens[tokens.length - 1];
  return last?.unterminated ? last : undefined;
}

/** Tokens that mean something to the server's parser: no whitespace, no comments. */
export function significantTokens(tokens: readonly SqlToken[]): SqlToken[] {
  return tokens.filter(({ kind }) => kind !== 'whitespace' && kind !== 'comment');
}
