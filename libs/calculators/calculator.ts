import { ExactNumber, type JsonValue } from '#libs/kernel/pure';
import type { CanonicalValue, ColumnType, LogicalType, TypedValue } from '#libs/typesystem';
import type { GivenInputs } from './given-inputs.js';

/** Types an input may have. DECIMAL takes every number; ANY takes every scalar, null too (contract 01 §7.1). */
export type InputType = 'DATE' | 'TIMESTAMP' | 'STRING' | 'INTEGER' | 'DECIMAL' | 'ANY';

/** JSON as the catalogue's own tables write it; numbers are short enough for a double. */
export type Literal = string | number | boolean | null | readonly Literal[];

export function literalJson(literal: Literal): JsonValue {
  if (typeof literal === 'number') return new ExactNumber(String(literal));
  return Array.isArray(literal) ? literal.map(literalJson) : (literal as string | boolean | null);
}

export interface CalculatorInput {
  readonly name: string;
  readonly type: InputType;
  /** An array mixing literals and references, or one bare reference. */
  readonly list?: true;
  /** Taken when the input is absent, or refers to a null. Without one the input is required, or means "none". */
  readonly fallback?: Literal;
  readonly optional?: true;
  readonly about: string;
  /** What a STRING input may say. */
  readonly allowed?: readonly string[];
  /** What is wrong with a value of the right type, as the end of "expected …"; undefined when nothing is. */
  readonly defect?: (value: CanonicalValue) => string | undefined;
}

export interface CalculatorOutput {
  /** Member of `context_keys`; single outputs are named too, for listings. */
  readonly name: string;
  readonly type: LogicalType | 'ANY';
  readonly precision?: number;
  /** Input that says the scale of an exact number. */
  readonly scaleFrom?: string;
}

export interface CalculatorExample {
  readonly inputs: Readonly<Record<string, Literal>>;
  /** Wire form of each output. */
  readonly outputs: Readonly<Record<string, Literal>>;
}

/** One kind of calculator: a pure function of its inputs. Its meaning never changes; a new meaning is a new kind. */
export interface Calculator {
  readonly kind: string;
  readonly about: string;
  /** How people ask for it. */
  readonly phrases: readonly string[];
  readonly inputs: readonly CalculatorInput[];
  readonly outputs: readonly CalculatorOutput[];
  readonly examples: readonly CalculatorExample[];
  /** What is wrong with inputs that are right each by itself, as far as their JSON tells. */
  readonly jointDefect?: (inputs: ReadonlyMap<string, JsonValue>) => { input: string; message: string } | undefined;
  /** The outputs by name. @throws CalculatorRefusal */
  readonly compute: (given: GivenInputs) => Readonly<Record<string, TypedValue>>;
}

export type RefusalReason = 'null' | 'type' | 'value' | 'range' | 'precision' | 'format' | 'length';

/** Inputs a kind cannot compute with. */
export class CalculatorRefusal extends Error {
  override readonly name = 'CalculatorRefusal';

  constructor(
    readonly input: string | undefined,
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}

const INTEGER_TYPE: ColumnType = { type: 'INTEGER' };
const DATE_TYPE: ColumnType = { type: 'DATE' };

/** The only output of a kind that has one. */
export const RESULT = 'result';

export const integerResult = (value: number) => ({ [RESULT]: { type: INTEGER_TYPE, value } });
export const dateValue = (text: string): TypedValue => ({ type: DATE_TYPE, value: text });
