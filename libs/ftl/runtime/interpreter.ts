import type { Dialect } from '#libs/typesystem';
import type { RenderLimits } from '../limits.js';
import type { Block, Expr, Span } from '../syntax/nodes.js';
import { Budget } from './budget.js';
import { invokeMacro } from './calls.js';
import { evaluateExpression } from './evaluate.js';
import { executeNode } from './execute.js';
import { RenderFault, type FaultOptions } from './faults.js';
import type { BoundArguments, Interpretation } from './interpretation.js';
import type { Signal } from './signal.js';
import { Output, type Origin } from './output.js';
import type { MacroCall, Surroundings } from './scopes.js';
import { defaultSettings } from './settings.js';
import type { MacroValue, Namespace, Value } from './values.js';

export interface InterpreterOptions {
  mode: 'bind' | 'text';
  dialect: Dialect;
  limits: RenderLimits;
  main: Namespace;
  context: ReadonlyMap<string, Value | undefined>;
  now: Value;
}

/** Runs one render over the tree. Nothing in here outlives it. */
export class Interpreter implements Interpretation {
  readonly budget: Budget;
  readonly mode: 'bind' | 'text';
  readonly dialect: Dialect;
  readonly settings = defaultSettings();
  readonly globals = new Map<string, Value>();
  readonly main: Namespace;
  readonly context: ReadonlyMap<string, Value | undefined>;
  readonly now: Value;
  errorMessage: string | null = null;
  scope: Surroundings;
  out = new Output();
  macroStack: string[] = [];
  #at: Span = { start: 0, end: 0 };

  constructor(options: InterpreterOptions) {
    this.budget = new Budget(options.limits);
    this.mode = options.mode;
    this.dialect = options.dialect;
    this.main = options.main;
    this.context = options.context;
    this.now = options.now;
    this.scope = { namespace: options.main, frame: null, call: null, escape: null, items: null };
  }

  evaluate(expr: Expr): Value | undefined {
    this.budget.step();
    this.budget.deeper();
    const value = evaluateExpression(this, expr);
    this.budget.depth--;
    return value;
  }

  need(expr: Expr): Value {
    const value = this.evaluate(expr);
    if (value !== undefined) return value;
    const variable = missingName(expr);
    const { start, end } = blamed(expr);
    const shown = this.scope.namespace.template.source
      .slice(start, Math.min(end, start + 64))
      .replace(/\p{Cc}/gu, '\uFFFD');
    const what = variable === null ? `${shown} has no value` : `${variable.slice(0, 64)} is undefined or null`;
    throw this.fault(blamed(expr), `${what}.`, {
      kind: 'undefined_variable',
      ...(variable === null ? {} : { variable }),
    });
  }

  execute(block: Block): Signal {
    this.budget.deeper();
    let signal: Signal = 'done';
    for (const node of block) {
      this.budget.step();
      this.#at = node;
      signal = executeNode(this, node);
      if (signal !== 'done') break;
    }
    this.budget.depth--;
    return signal;
  }

  captured(work: () => void): Output {
    const outer = this.out;
    const inner = new Output();
    this.out = inner;
    work();
    this.out = outer;
    return inner;
  }

  invoke(macro: MacroValue, args: BoundArguments, span: Span): MacroCall {
    return invokeMacro(this, macro, args, span);
  }

  /** Where the render stands: what a guard that trips is blamed on. */
  get position(): Origin {
    return this.origin(this.#at);
  }

  origin(span: Span): Origin {
    return { template: this.scope.namespace.template, offset: span.start };
  }

  fault(span: Span, message: string, options?: FaultOptions): RenderFault {
    const place = { template: this.scope.namespace.template, start: span.start, end: span.end };
    return new RenderFault(message, place, this.macroStack, options);
  }
}

/** The name that is missing: a variable, or the last step of a path. */
function missingName(expr: Expr): string | null {
  switch (expr.kind) {
    case 'variable':
    case 'dot':
      return expr.name;
    case 'special':
      return `.${expr.name}`;
    case 'paren':
      return missingName(expr.inner);
    case 'escaped':
      return missingName(expr.body);
    default:
      return null;
  }
}

function blamed(expr: Expr): Span {
  if (expr.kind === 'escaped') return blamed(expr.body);
  return expr.kind === 'paren' ? blamed(expr.inner) : expr;
}
