import type { Dialect } from '#libs/typesystem';
import type { Block, Expr, Span } from '../syntax/nodes.js';
import type { Budget } from './budget.js';
import type { FaultOptions, RenderFault } from './faults.js';
import type { Origin, Output } from './output.js';
import type { MacroCall, Surroundings } from './scopes.js';
import type { Settings } from './settings.js';
import type { Signal } from './signal.js';
import type { Namespace, Value } from './values.js';

/** One render in progress: what the parts of the interpreter need of each other. */
export interface Interpretation {
  readonly budget: Budget;
  /** `bind`: tainted values become binds. `text`: they print (contract 05 §9). */
  readonly mode: 'bind' | 'text';
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly globals: Map<string, Value>;
  readonly main: Namespace;
  readonly context: ReadonlyMap<string, Value | undefined>;
  readonly now: Value;
  /** Message of the innermost `<#recover>`; null outside. */
  errorMessage: string | null;
  scope: Surroundings;
  out: Output;
  /** Names of the macros being run, innermost first. */
  macroStack: string[];
  evaluate(expr: Expr): Value | undefined;
  /** The value, or an undefined-variable fault blaming the expression. */
  need(expr: Expr): Value;
  execute(block: Block): Signal;
  /** Runs `work` writing into a new output. */
  captured(work: () => void): Output;
  invoke(macro: Value & { kind: 'macro' }, args: BoundArguments, span: Span): MacroCall;
  origin(span: Span): Origin;
  fault(span: Span, message: string, options?: FaultOptions): RenderFault;
}

export interface BoundArguments {
  positional: (Value | undefined)[];
  named: Map<string, Value | undefined>;
  nested: MacroCall['nested'];
}
