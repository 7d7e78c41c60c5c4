import { fromInteger, type Decimal } from '../decimal.js';
import type { MacroNode } from '../syntax/nodes.js';
import type { ParsedTemplate } from '../template.js';
import type { OutputPart } from './output.js';
import type { Taint } from './taint.js';

export interface StringValue {
  kind: 'string';
  text: string;
  taint: Taint | null;
  /** May hold text of a number: see `standingOff`. */
  numeric: boolean;
  /** Of an item of `?matches`: the match and its groups. */
  groups?: SequenceValue;
  /** Of `x!` without `x`: an empty sequence and an empty hash as well. */
  nothing?: true;
}

export interface NumberValue {
  kind: 'number';
  /** Exact, or a double where the value is approximate or not finite. */
  number: Decimal | number;
  taint: Taint | null;
}

export interface BooleanValue {
  kind: 'boolean';
  truth: boolean;
  taint: Taint | null;
}

export type DateForm = 'date' | 'time' | 'datetime';

export interface DateValue {
  kind: 'date';
  form: DateForm;
  /** Microseconds since 1970-01-01T00:00:00Z; of the day for a time. */
  micros: bigint;
  taint: Taint | null;
}

export interface SequenceValue {
  kind: 'sequence';
  /** Infinity for `1..`. */
  readonly size: number;
  at(index: number): Value | undefined;
  /** False: can be listed once and only from its start. */
  readonly indexable: boolean;
  /** True of ranges: items are counted, not stored. */
  readonly lazy: boolean;
  /** Of `a..*n`: a slice stops at the end of what it cuts. */
  readonly clips?: boolean;
  /** Of `a..b`, which holds its end. */
  readonly inclusive?: boolean;
  /** Of a range: whether it counts up or down. */
  readonly step?: 1 | -1;
  /** Of `?matches`: whether the whole text matches, and the groups of that match. */
  readonly whole?: { matched: boolean; groups: SequenceValue };
}

export interface HashEntry {
  key: StringValue;
  value: Value | undefined;
}

export interface HashValue {
  kind: 'hash';
  get(name: string): Value | undefined;
  /** Null where the names cannot be listed. */
  entries(): HashEntry[] | null;
}

/** Variables of one template: the body's own, or a library's (contract 05 §4.3, §7). */
export interface Namespace {
  readonly template: ParsedTemplate;
  readonly vars: Map<string, Value>;
  /** Alias → namespace of an imported library. */
  readonly imports: Map<string, Namespace>;
}

export interface MacroValue {
  kind: 'macro';
  node: MacroNode;
  namespace: Namespace;
  /** Arguments of `?with_args`. */
  preset?: { positional: (Value | undefined)[]; named: Map<string, Value>; last: boolean };
}

export interface MethodValue {
  kind: 'method';
  call(args: (Value | undefined)[]): Value | undefined;
}

/** A user directive that is not a macro. */
export interface DirectiveValue {
  kind: 'directive';
  run(args: Map<string, Value | undefined>, body: (() => void) | null): void;
}

/** Captured output that holds binds: printable and joinable, not a string (contract 05 §5). */
export interface FragmentValue {
  kind: 'fragment';
  parts: OutputPart[];
}

export type Value =
  | StringValue
  | NumberValue
  | BooleanValue
  | DateValue
  | SequenceValue
  | HashValue
  | MacroValue
  | MethodValue
  | DirectiveValue
  | FragmentValue;

export function string(text: string, taint: Taint | null = null, numeric = false): StringValue {
  return { kind: 'string', text, taint, numeric };
}

/** What `x!` and `?if_exists` give for a missing `x`: the empty string, sequence and hash in one. */
export const NOTHING: StringValue = { ...string(''), nothing: true };

export const isNothing = (value: Value): boolean => value.kind === 'string' && value.nothing === true;

export function number(value: Decimal | number, taint: Taint | null = null): NumberValue {
  return { kind: 'number', number: value, taint };
}

export function integer(value: number | bigint): NumberValue {
  return number(fromInteger(value));
}

export const TRUE: BooleanValue = { kind: 'boolean', truth: true, taint: null };
export const FALSE: BooleanValue = { kind: 'boolean', truth: false, taint: null };

export function boolean(truth: boolean): BooleanValue {
  return truth ? TRUE : FALSE;
}

export function sequence(items: readonly (Value | undefined)[]): SequenceValue {
  return { kind: 'sequence', size: items.length, at: (index) => items[index], indexable: true, lazy: false };
}

/** Numbers from `start` in steps of one; `size` may be Infinity. */
export function range(
  start: bigint,
  size: number,
  step: 1 | -1,
  form: Pick<SequenceValue, 'clips' | 'inclusive'> = {},
): SequenceValue {
  return {
    kind: 'sequence',
    size,
    at: (index) => (index >= 0 && index < size ? integer(start + BigInt(index * step)) : undefined),
    indexable: true,
    lazy: true,
    ...form,
    step,
  };
}

/** A hash of fixed entries; a later key wins at the place of the first. */
export function hash(entries: Iterable<HashEntry>): HashValue {
  const byName = new Map<string, HashEntry>();
  for (const entry of entries) byName.set(entry.key.text, entry);
  return { kind: 'hash', get: (name) => byName.get(name)?.value, entries: () => [...byName.values()] };
}

/** `a string`, `a number`, …: for messages. Never the value itself. */
export function describe(value: Value | undefined): string {
  if (value === undefined) return 'a missing value';
  switch (value.kind) {
    case 'date':
      return `a ${value.form}`;
    case 'fragment':
      return 'captured output with binds';
    case 'macro':
      return value.node.isFunction ? 'a function' : 'a macro';
    default:
      return `a ${value.kind}`;
  }
}
