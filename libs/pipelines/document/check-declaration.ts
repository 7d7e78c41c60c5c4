import type { JsonObject } from '#libs/kernel';
import type { Decimal } from '#libs/typesystem';

/** What an author expects of a check's statement; numbers are exact (contract 01 §9). */
export type Expectation =
  | { kind: 'value'; value: Decimal; /** Absolute, never negative. */ tolerance: Decimal }
  | { kind: 'range'; /** Inclusive. */ min: Decimal; /** Inclusive. */ max: Decimal }
  | { kind: 'rows'; rows: number };

/** A statement whose outcome decides whether a draft may be released (contract 01 §9). */
export interface CheckDeclaration {
  id: string;
  name: string;
  datasource: string;
  /** One SELECT with `:name` binds of declared parameters; no template. */
  sql: string;
  expected: Expectation;
  /** `expected` as written. */
  expectedJson: JsonObject;
  /** Wire values of declared parameters, which a request may replace. */
  parameters: JsonObject;
}
