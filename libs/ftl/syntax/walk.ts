import type { Block, Expr, Node } from './nodes.js';
import { blocksOf } from './nodes.js';

/** Expressions directly inside an expression. */
export function childExpressions(expr: Expr): Expr[] {
  switch (expr.kind) {
    case 'interpolated':
      return expr.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.expr]));
    case 'sequence':
      return expr.items;
    case 'hash':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'dot':
    case 'exists':
      return [expr.target];
    case 'index':
      return [expr.target, expr.index];
    case 'call':
      return [expr.target, ...expr.args];
    case 'builtin':
      return [expr.target, ...(expr.args ?? [])];
    case 'default':
      return expr.fallback ? [expr.target, expr.fallback] : [expr.target];
    case 'paren':
      return [expr.inner];
    case 'unary':
      return [expr.operand];
    case 'binary':
      return [expr.left, expr.right];
    case 'range':
      return expr.to ? [expr.from, expr.to] : [expr.from];
    case 'lambda':
      return [expr.body];
    case 'escaped':
      return [expr.body, expr.argument];
    default:
      return [];
  }
}

/** Expressions a node evaluates itself, without those of its blocks. */
export function ownExpressions(node: Node): Expr[] {
  switch (node.kind) {
    case 'interpolation':
      return [node.expr];
    case 'if':
      return node.branches.flatMap(({ test }) => (test ? [test] : []));
    case 'list':
      return [node.source];
    case 'switch':
      return [node.subject, ...node.cases.flatMap(({ tests }) => tests)];
    case 'assign':
      return [
        ...node.targets.flatMap(({ value }) => (value ? [value] : [])),
        ...(node.namespace ? [node.namespace] : []),
      ];
    case 'capture':
      return node.namespace ? [node.namespace] : [];
    case 'macro':
      return node.params.flatMap(({ fallback }) => (fallback ? [fallback] : []));
    case 'call':
      return [node.callee, ...(node.positional ?? []), ...node.named.map(({ value }) => value)];
    case 'return':
      return node.value ? [node.value] : [];
    case 'nested':
      return node.args;
    case 'stop':
      return node.message ? [node.message] : [];
    case 'setting':
      return [node.value];
    default:
      return [];
  }
}

/** All nodes of a tree in source order; no recursion. */
export function* allNodes(root: Block): Generator<Node> {
  const stack: Node[] = root.toReversed();
  for (let node = stack.pop(); node; node = stack.pop()) {
    yield node;
    for (const block of blocksOf(node).toReversed()) for (const child of block.toReversed()) stack.push(child);
  }
}

/** An expression and everything inside it; no recursion, shared parts are visited once. */
export function* allExpressions(roots: readonly Expr[]): Generator<Expr> {
  const stack = roots.toReversed();
  const seen = new Set<Expr>();
  for (let expr = stack.pop(); expr; expr = stack.pop()) {
    if (seen.has(expr)) continue;
    seen.add(expr);
    yield expr;
    for (const child of childExpressions(expr).toReversed()) stack.push(child);
  }
}
