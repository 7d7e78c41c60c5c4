import type { ParsedTemplate } from './template.js';
import { SQL_BUILTINS } from './syntax/builtin-names.js';
import { blocksOf, type Block, type Expr, type InterpolationNode, type Node } from './syntax/nodes.js';
import { childExpressions, ownExpressions } from './syntax/walk.js';
import type { Library } from './runtime/namespaces.js';

/** A parameter or calculator key the template spells where `:name` belongs (contract 05 §5.2). */
export interface ParameterUse {
  parameter: string;
  reason: 'direct' | 'guarded_condition';
  line: number;
  column: number;
  /** Alias path of the library it stands in; absent for the body. */
  library?: string;
}

export interface PolicyNames {
  /** Declared parameters: not in `${}`. */
  parameters: ReadonlySet<string>;
  /** Calculator keys: neither in `${}` nor in `if`, `elseif` and `switch` tests. */
  calculators?: ReadonlySet<string>;
}

/**
 * Uses of the names inside `${}`/`#{}` of a body and its import closure, where no macro parameter, loop variable, lambda
 * parameter or escape hides the name (contract 05 §5.2). An interpolation that ends in `?sql_identifier`, `?sql_choice`
 * or `?sql_list` as a whole is fine.
 */
export function interpolatedParameters(
  template: ParsedTemplate,
  names: PolicyNames,
  libraries: ReadonlyMap<string, Library> = new Map(),
): ParameterUse[] {
  const uses = new PolicyScan(names).scan(template, undefined);
  const seen = new Set<ParsedTemplate>([template]);
  const open: [string, Library][] = [...libraries];
  for (let next = open.shift(); next; next = open.shift()) {
    const [path, library] = next;
    if (seen.has(library.template)) continue;
    seen.add(library.template);
    uses.push(...new PolicyScan(names).scan(library.template, path));
    for (const [alias, inner] of library.imports) open.push([`${path}.${alias}`, inner]);
  }
  return uses;
}

/** Names a scope hides, innermost first. */
interface Hidden {
  names: ReadonlySet<string>;
  outer: Hidden | null;
}

type Visit = { node: Node; hidden: Hidden | null };

class PolicyScan {
  readonly #names: PolicyNames;
  readonly #uses = new Map<string, ParameterUse>();

  constructor(names: PolicyNames) {
    this.#names = names;
  }

  scan(template: ParsedTemplate, library: string | undefined): ParameterUse[] {
    const stack: Visit[] = template.root.toReversed().map((node) => ({ node, hidden: null }));
    const note = (reason: ParameterUse['reason']) => (name: string, offset: number) => {
      const place = template.lines.position(offset);
      const use: ParameterUse = { parameter: name, reason, ...place, ...(library === undefined ? {} : { library }) };
      this.#uses.set(`${reason} ${offset} ${name}`, use);
    };
    for (let visit = stack.pop(); visit; visit = stack.pop()) {
      const { node, hidden } = visit;
      this.#visit(node, hidden, note('direct'), note('guarded_condition'));
      const inner = hide(hidden, namesOf(node));
      const otherwise = node.kind === 'list' ? node.otherwise : null;
      for (const block of blocksOf(node).toReversed()) pushAll(stack, block, block === otherwise ? hidden : inner);
    }
    return [...this.#uses.values()].sort((a, b) => a.line - b.line || a.column - b.column);
  }

  #visit(node: Node, hidden: Hidden | null, direct: Note, guarded: Note): void {
    if (node.kind === 'interpolation') this.#interpolation(node, hidden, direct);
    else {
      const within = node.kind === 'macro' ? hide(hidden, namesOf(node)) : hidden;
      for (const expr of ownExpressions(node)) this.#nestedInterpolations(expr, within, direct);
    }
    if ((node.kind === 'if' || node.kind === 'switch') && this.#names.calculators) {
      for (const expr of ownExpressions(node)) this.#freeNames(expr, hidden, this.#names.calculators, guarded);
    }
  }

  #interpolation(node: InterpolationNode, hidden: Hidden | null, note: Note): void {
    if (isChecked(node.expr)) return;
    for (const names of [this.#names.parameters, this.#names.calculators]) {
      if (names) this.#freeNames(node.expr, hidden, names, note);
    }
  }

  /** `"… ${p} …"` inside any expression. */
  #nestedInterpolations(root: Expr, hidden: Hidden | null, note: Note): void {
    forEachScoped(root, hidden, (expr, within) => {
      if (expr.kind !== 'interpolated') return;
      for (const part of expr.parts) if (typeof part !== 'string') this.#interpolation(part, within, note);
    });
  }

  #freeNames(root: Expr, hidden: Hidden | null, names: ReadonlySet<string>, note: Note): void {
    forEachScoped(root, hidden, (expr, within) => {
      const name = contextNameOf(expr);
      if (name === null || !names.has(name)) return;
      if (expr.kind !== 'variable' || !isHidden(within, name)) note(name, expr.start);
    });
  }
}

type Note = (name: string, offset: number) => void;

/** The Context key an expression may read: a variable, or `.data_model.x`, `.globals["x"]`, `.vars.x`. */
function contextNameOf(expr: Expr): string | null {
  if (expr.kind === 'variable') return expr.name;
  const reaches = (target: Expr): boolean =>
    target.kind === 'special' && ['data_model', 'globals', 'vars'].includes(target.name);
  if (expr.kind === 'dot' && reaches(expr.target)) return expr.name;
  if (expr.kind === 'index' && reaches(expr.target) && expr.index.kind === 'string') return expr.index.value;
  return null;
}

function forEachScoped(root: Expr, hidden: Hidden | null, see: (expr: Expr, hidden: Hidden | null) => void): void {
  const stack: { expr: Expr; hidden: Hidden | null }[] = [{ expr: root, hidden }];
  // Escape bodies are shared between interpolations and may nest: each is seen once per scope.
  const seen = new Map<Expr, Set<Hidden | null>>();
  for (let next = stack.pop(); next; next = stack.pop()) {
    const scopes = seen.get(next.expr) ?? new Set();
    if (scopes.has(next.hidden)) continue;
    seen.set(next.expr, scopes.add(next.hidden));
    see(next.expr, next.hidden);
    if (next.expr.kind === 'escaped') {
      stack.push({ expr: next.expr.argument, hidden: next.hidden });
      stack.push({ expr: next.expr.body, hidden: hide(next.hidden, [next.expr.param]) });
      continue;
    }
    const inner = next.expr.kind === 'lambda' ? hide(next.hidden, [next.expr.param]) : next.hidden;
    for (const child of childExpressions(next.expr)) stack.push({ expr: child, hidden: inner });
  }
}

function isChecked(expr: Expr): boolean {
  if (expr.kind === 'escaped') return isChecked(expr.argument);
  if (expr.kind === 'paren') return isChecked(expr.inner);
  return expr.kind === 'builtin' && SQL_BUILTINS.has(expr.name);
}

/** Names a node gives to its blocks. */
function namesOf(node: Node): string[] {
  switch (node.kind) {
    case 'macro':
      return [...node.params.map(({ name }) => name), ...(node.catchAll === null ? [] : [node.catchAll])];
    case 'list':
    case 'items': {
      const loop = [node.item, node.value].filter((name) => name !== null);
      return loop.flatMap((name) => [name, `${name}_index`, `${name}_has_next`]);
    }
    case 'call':
      return node.loopVars;
    default:
      return [];
  }
}

function hide(outer: Hidden | null, names: readonly string[]): Hidden | null {
  return names.length === 0 ? outer : { names: new Set(names), outer };
}

function isHidden(hidden: Hidden | null, name: string): boolean {
  for (let scope = hidden; scope; scope = scope.outer) if (scope.names.has(name)) return true;
  return false;
}

function pushAll(stack: Visit[], block: Block, hidden: Hidden | null): void {
  for (const node of block.toReversed()) stack.push({ node, hidden });
}
