import type { SyntaxFault } from '../problems.js';
import type { Lexer } from './lexer.js';
import type { Expr } from './nodes.js';
import type { Token } from './tokens.js';

/** What the parts of the expression grammar need of each other. */
export interface ExpressionReader {
  readonly lexer: Lexer;
  readonly maxNesting: number;
  readonly depth: number;
  expression(minLevel?: number): Expr;
  /** Comma-separated expressions up to and including `close`. */
  list(close: string): { exprs: Expr[]; end: number };
  at(op: string): boolean;
  accept(op: string): boolean;
  expect(op: string): Token;
  startsExpression(token: Token): boolean;
  unexpected(token: Token, wanted?: string): SyntaxFault;
  nested<T>(start: number, step: () => T): T;
  /** A reader of other text at the same depth: a string literal's content. */
  within(lexer: Lexer): ExpressionReader;
}
