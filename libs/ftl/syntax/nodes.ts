import type { Decimal } from '../decimal.js';

/** Half-open range of UTF-16 offsets in the body. */
export interface Span {
  start: number;
  end: number;
}

export type BinaryOperator = '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '&&' | '||';
export type RangeOperator = '..' | '..<' | '..*';

export type Expr = Span &
  (
    | { kind: 'string'; value: string }
    | { kind: 'number'; value: Decimal }
    | { kind: 'boolean'; value: boolean }
    | { kind: 'interpolated'; parts: (string | InterpolationNode)[] }
    | { kind: 'sequence'; items: Expr[] }
    | { kind: 'hash'; entries: { key: Expr; value: Expr }[] }
    | { kind: 'variable'; name: string }
    | { kind: 'special'; name: string }
    | { kind: 'dot'; target: Expr; name: string }
    | { kind: 'index'; target: Expr; index: Expr }
    | { kind: 'call'; target: Expr; args: Expr[] }
    | BuiltinShape
    | { kind: 'default'; target: Expr; fallback: Expr | null }
    | { kind: 'exists'; target: Expr }
    | { kind: 'paren'; inner: Expr }
    | { kind: 'unary'; op: '+' | '-' | '!'; operand: Expr }
    | { kind: 'binary'; op: BinaryOperator; left: Expr; right: Expr }
    | { kind: 'range'; op: RangeOperator; from: Expr; to: Expr | null }
    | { kind: 'lambda'; param: string; body: Expr }
    /** `<#escape param as body>` around an interpolation of `argument`. */
    | { kind: 'escaped'; param: string; body: Expr; argument: Expr }
  );

interface BuiltinShape {
  kind: 'builtin';
  target: Expr;
  name: string;
  nameStart: number;
  /** Null: written without an argument list. */
  args: Expr[] | null;
  /** `?string.short` or `?string["0.0"]`: the one argument came as a key. */
  keyed: boolean;
}

export type BuiltinExpr = Span & BuiltinShape;

export type Block = Node[];

export interface InterpolationNode extends Span {
  kind: 'interpolation';
  expr: Expr;
  /** `#{n; m1M2}`: least and most fraction digits. */
  numeric: { min: number; max: number } | null;
}

export interface MacroParameter {
  name: string;
  fallback: Expr | null;
}

export interface MacroNode extends Span {
  kind: 'macro';
  name: string;
  isFunction: boolean;
  params: MacroParameter[];
  catchAll: string | null;
  body: Block;
}

export type AssignScope = 'namespace' | 'global' | 'local';
export type AssignOperator = '=' | '+=' | '-=' | '*=' | '/=' | '%=' | '++' | '--';

export interface AssignTarget extends Span {
  name: string;
  op: AssignOperator;
  value: Expr | null;
}

export interface SwitchCase extends Span {
  kind: 'case' | 'on' | 'default';
  tests: Expr[];
  body: Block;
}

export interface Branch extends Span {
  test: Expr | null;
  body: Block;
}

export interface TextNode extends Span {
  kind: 'text';
  text: string;
}

export interface ListNode extends Span {
  kind: 'list';
  source: Expr;
  /** Null with `<#items>`. */
  item: string | null;
  /** Second name of `as k, v`. */
  value: string | null;
  body: Block;
  otherwise: Block | null;
}

export interface CallNode extends Span {
  kind: 'call';
  callee: Expr;
  positional: Expr[] | null;
  named: { name: string; value: Expr }[];
  loopVars: string[];
  /** Null: `<@m/>`. */
  body: Block | null;
}

export type Node =
  | TextNode
  | InterpolationNode
  | MacroNode
  | ListNode
  | CallNode
  | (Span &
      (
        | { kind: 'comment' }
        | { kind: 'if'; branches: Branch[] }
        | { kind: 'items'; item: string; value: string | null; body: Block }
        | { kind: 'sep'; body: Block }
        | { kind: 'break' }
        | { kind: 'continue' }
        | { kind: 'switch'; subject: Expr; cases: SwitchCase[] }
        | { kind: 'assign'; scope: AssignScope; targets: AssignTarget[]; namespace: Expr | null }
        | { kind: 'capture'; scope: AssignScope; name: string; namespace: Expr | null; body: Block }
        | { kind: 'return'; value: Expr | null }
        | { kind: 'nested'; args: Expr[] }
        | { kind: 'attempt'; body: Block; recover: Block }
        | { kind: 'compress'; body: Block }
        /** `escape`, `noescape`: already applied to the interpolations inside. */
        | { kind: 'group'; body: Block }
        | { kind: 'trim'; left: boolean; right: boolean }
        | { kind: 'stop'; message: Expr | null }
        | { kind: 'flush' }
        | { kind: 'setting'; name: string; value: Expr }
        /** A construct of §4.7, kept so that the scan reports it; it has no way to run. */
        | { kind: 'refused'; construct: string; match: string }
      ));

/** Child blocks of a node, in source order. */
export function blocksOf(node: Node): Block[] {
  switch (node.kind) {
    case 'if':
      return node.branches.map((branch) => branch.body);
    case 'switch':
      return node.cases.map((one) => one.body);
    case 'list':
      return node.otherwise ? [node.body, node.otherwise] : [node.body];
    case 'attempt':
      return [node.body, node.recover];
    case 'call':
      return node.body ? [node.body] : [];
    case 'items':
    case 'sep':
    case 'capture':
    case 'compress':
    case 'group':
    case 'macro':
      return [node.body];
    default:
      return [];
  }
}
