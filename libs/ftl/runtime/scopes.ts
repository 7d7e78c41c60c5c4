import type { Expr, MacroNode } from '../syntax/nodes.js';
import type { Signal } from './signal.js';
import type { Namespace, Value } from './values.js';

/** One turn of a loop; answers `?index` and its kin. */
export interface LoopTurn {
  /** The loop's first variable: the one with `x_index` and `x_has_next`. */
  readonly name: string;
  index: number;
  hasNext: boolean;
}

/** Loop variables and parameters of nested content, innermost first. */
export interface Frame {
  readonly vars: Map<string, Value | undefined>;
  readonly loop: LoopTurn | null;
  readonly parent: Frame | null;
}

/** A macro or function being run. */
export interface MacroCall {
  readonly node: MacroNode;
  readonly locals: Map<string, Value>;
  /** Content between the call's tags, with the surroundings it must see. */
  readonly nested: NestedContent | null;
  returned: Value | undefined;
  /** How the body ended: a `<#break>` of nested content reaches the loop around the call. */
  signal: Signal;
}

export interface NestedContent {
  run(args: (Value | undefined)[]): Signal;
}

/** An escape being expanded: `param` stands for `argument`. */
export interface EscapeFrame {
  readonly param: string;
  readonly argument: Expr;
  readonly parent: EscapeFrame | null;
}

/** What a loop runs over: single items, or key and value pairs. */
export interface ItemSource {
  size: number;
  /** Keys and values: the loop needs two names. */
  paired: boolean;
  at(index: number): (Value | undefined)[];
}

/** The source of the `<#list>` whose `<#items>` has not run yet. */
export interface PendingItems {
  source: ItemSource;
  done: boolean;
}

/** What a variable name sees at one moment; swapped as a whole around calls. */
export interface Surroundings {
  namespace: Namespace;
  frame: Frame | null;
  call: MacroCall | null;
  escape: EscapeFrame | null;
  items: PendingItems | null;
}
