import type { BuiltinExpr, Expr } from '../syntax/nodes.js';
import { asNumber, fragmentFault, needBoolean, toIndex, toText, type Text } from '../runtime/coerce.js';
import type { FaultOptions, RenderFault } from '../runtime/faults.js';
import { guarded } from '../runtime/guarded.js';
import type { Interpretation } from '../runtime/interpretation.js';
import { glued } from '../runtime/standing-off.js';
import { derived, STRING_TYPE } from '../runtime/taint.js';
import {
  describe,
  isNothing,
  sequence,
  string,
  type BooleanValue,
  type DateValue,
  type NumberValue,
  type SequenceValue,
  type StringValue,
  type Value,
} from '../runtime/values.js';

export type Builtin = (call: BuiltinCall) => Value | undefined;
export type BuiltinFamily = Readonly<Record<string, Builtin>>;

/** What a string is computed from. */
type Source = Text | NumberValue | BooleanValue | DateValue;

/** One use of `target?name(args)`: reads and checks what the built-in asks for. */
export class BuiltinCall {
  constructor(
    readonly run: Interpretation,
    readonly expr: BuiltinExpr,
  ) {}

  get name(): string {
    return this.expr.name;
  }

  get count(): number {
    return this.expr.args?.length ?? 0;
  }

  fault(message: string, options?: FaultOptions): RenderFault {
    return this.run.fault(this.expr, `?${this.name}: ${message}`, options);
  }

  /** Faults unless the call has between `least` and `most` arguments. */
  arity(least: number, most = least): void {
    const given = this.count;
    if (given < least || given > most) {
      const wanted = least === most ? `${least}` : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
      throw this.fault(`expects ${wanted} arguments, got ${given === 0 ? 'none' : given}.`);
    }
    if (least > 0 && this.expr.args === null) throw this.fault(`expects ${least} arguments, got none.`);
  }

  target(): Value {
    return this.run.need(this.expr.target);
  }

  /** Undefined where the target is missing; parentheses guard the chain inside them. */
  maybeTarget(): Value | undefined {
    return guarded(this.run, this.expr.target);
  }

  text(): Text {
    return toText(this.run, this.target(), this.expr.target);
  }

  number(): NumberValue {
    return asNumber(this.run, this.target(), this.expr.target);
  }

  sequence(): SequenceValue {
    const value = this.target();
    if (value.kind === 'sequence') return value;
    if (isNothing(value)) return sequence([]);
    if (value.kind === 'fragment') throw fragmentFault(this.run, this.expr.target);
    throw this.run.fault(this.expr.target, `?${this.name} expected a sequence, found ${describe(value)}.`);
  }

  /** Items of the target as an array; bounded, and paid for in steps. */
  items(): (Value | undefined)[] {
    return this.materialise(this.sequence());
  }

  materialise(source: SequenceValue): (Value | undefined)[] {
    this.run.budget.collection(source.size);
    this.run.budget.spend(source.size);
    return Array.from({ length: source.size }, (_, i) => source.at(i));
  }

  argument(index: number): Expr {
    const arg = this.expr.args?.[index];
    if (!arg)
      throw this.fault(`expects at least ${index + 1} arguments, got ${this.count === 0 ? 'none' : this.count}.`);
    return arg;
  }

  value(index: number): Value {
    return this.run.need(this.argument(index));
  }

  textArgument(index: number): StringValue {
    const arg = this.argument(index);
    const value = this.run.need(arg);
    if (value.kind === 'string') return value;
    if (value.kind === 'fragment') throw fragmentFault(this.run, arg);
    throw this.run.fault(arg, `?${this.name} expected a string argument, found ${describe(value)}.`);
  }

  /** An argument that may be anything with a text. */
  coercedArgument(index: number): Text {
    const arg = this.argument(index);
    return toText(this.run, this.run.need(arg), arg);
  }

  indexArgument(index: number): number {
    const arg = this.argument(index);
    return toIndex(this.run, this.run.need(arg), arg);
  }

  booleanArgument(index: number): boolean {
    return needBoolean(this.run, this.argument(index)).truth;
  }

  /** A string computed from others: tainted if one of them is. */
  string(text: string, ...sources: Source[]): StringValue {
    this.run.budget.string(text.length);
    const taint = derived(STRING_TYPE, ...sources.map((source) => source.taint));
    const numeric = sources.some((source) => ('numeric' in source ? source.numeric : source.kind !== 'boolean'));
    return string(text, taint, numeric);
  }

  /** The pieces one behind the other; tainted by `others` too. */
  glued(pieces: readonly Text[], ...others: Text[]): StringValue {
    this.run.budget.string(pieces.reduce((sum, { text }) => sum + text.length, 0));
    return glued(pieces, ...others);
  }
}
