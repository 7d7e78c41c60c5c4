import { parseDecimal, ZERO } from '../decimal.js';
import { SyntaxFault } from '../problems.js';
import type { ExpressionReader } from './expression-reader.js';
import type { Lexer } from './lexer.js';
import type { BinaryOperator, Expr, RangeOperator } from './nodes.js';
import { parseLiteral } from './interpolated-literal.js';
import { parsePostfix } from './postfix-parser.js';
import { SPECIAL_VARIABLES, snakeCase } from './builtin-names.js';
import type { Token } from './tokens.js';

/** Binding power of the binary operators, loosest first (contract 05 §4.1). Ranges sit between 4 and 5. */
const LEVEL: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '=': 3,
  '!=': 3,
  '<': 4,
  '<=': 4,
  '>': 4,
  '>=': 4,
  '..': 5,
  '..<': 5,
  '..*': 5,
  '+': 6,
  '-': 6,
  '*': 7,
  '/': 7,
  '%': 7,
};
const UNARY_LEVEL = 8;
/** Literals that can be no key of a hash. */
const NO_KEYS = new Set<Expr['kind']>(['number', 'boolean', 'sequence', 'hash']);
const NON_ASSOCIATIVE = new Set([3, 4, 5]);

/** Pratt parser of one expression area. Depth is counted: input never decides how deep the JavaScript stack grows. */
export class ExpressionParser implements ExpressionReader {
  readonly lexer: Lexer;
  #depth: number;

  constructor(
    lexer: Lexer,
    readonly maxNesting: number,
    depth = 0,
  ) {
    this.lexer = lexer;
    this.#depth = depth;
  }

  get depth(): number {
    return this.#depth;
  }

  within(lexer: Lexer): ExpressionReader {
    return new ExpressionParser(lexer, this.maxNesting, this.#depth);
  }

  /** Runs one nested step; too deep → syntax error (`max-nesting`). */
  nested<T>(start: number, step: () => T): T {
    if (++this.#depth > this.maxNesting) {
      throw new SyntaxFault(`Nested deeper than ${this.maxNesting} levels.`, start, { max_nesting: this.maxNesting });
    }
    const result = step();
    this.#depth--;
    return result;
  }

  expression(minLevel = 1): Expr {
    return this.nested(this.lexer.peek().start, () => this.#binary(minLevel));
  }

  #binary(minLevel: number): Expr {
    let left = this.#unary();
    let ceiling = UNARY_LEVEL;
    for (;;) {
      const token = this.lexer.peek();
      const level = token.type === 'op' ? LEVEL[token.text] : undefined;
      if (level === undefined || level < minLevel || level > ceiling) return left;
      this.lexer.next();
      if (level === 5) left = this.#range(left, token.text as RangeOperator);
      else {
        const right = this.expression(level + 1);
        const op = (token.text === '=' ? '==' : token.text) as BinaryOperator;
        left = { kind: 'binary', op, left, right, start: left.start, end: right.end };
      }
      ceiling = NON_ASSOCIATIVE.has(level) ? level - 1 : level;
    }
  }

  #range(from: Expr, op: RangeOperator): Expr {
    if (op === '..' && !this.startsExpression(this.lexer.peek())) {
      return { kind: 'range', op, from, to: null, start: from.start, end: from.end };
    }
    const to = this.expression(LEVEL['+']);
    return { kind: 'range', op, from, to, start: from.start, end: to.end };
  }

  #unary(): Expr {
    const token = this.lexer.peek();
    if (token.type === 'op' && (token.text === '+' || token.text === '-' || token.text === '!')) {
      this.lexer.next();
      const op = token.text;
      const operand = this.nested(token.start, () => this.#unary());
      return { kind: 'unary', op, operand, start: token.start, end: operand.end };
    }
    return parsePostfix(this, this.#primary());
  }

  startsExpression(token: Token): boolean {
    if (token.type === 'string' || token.type === 'number') return true;
    if (token.type === 'name') return !['in', 'as', 'using'].includes(token.text);
    return token.type === 'op' && ['(', '[', '{', '+', '-', '!', '.'].includes(token.text);
  }

  #primary(): Expr {
    const token = this.lexer.next();
    const { start, end } = token;
    switch (token.type) {
      case 'number':
        return { kind: 'number', value: parseDecimal(token.text) ?? ZERO, start, end };
      case 'string':
        return parseLiteral(this, token);
      case 'name':
        if (token.text === 'true' || token.text === 'false') {
          return { kind: 'boolean', value: token.text === 'true', start, end };
        }
        if (['in', 'as', 'using'].includes(token.text)) throw this.unexpected(token);
        return { kind: 'variable', name: token.text, start, end };
      case 'op':
        if (token.text === '(') return this.#paren(start);
        if (token.text === '[') {
          const items = this.list(']');
          return { kind: 'sequence', items: items.exprs, start, end: items.end };
        }
        if (token.text === '{') return this.#hash(start);
        if (token.text === '.') return this.#special(start);
    }
    throw this.unexpected(token);
  }

  #paren(start: number): Expr {
    const inner = this.expression();
    const { end } = this.expect(')');
    return { kind: 'paren', inner, start, end };
  }

  #hash(start: number): Expr {
    const entries: { key: Expr; value: Expr }[] = [];
    while (!this.at('}')) {
      const key = this.expression();
      if (NO_KEYS.has(key.kind)) throw new SyntaxFault('A key of a hash must be a string.', key.start);
      if (!this.accept(':')) this.expect(',');
      entries.push({ key, value: this.expression() });
      if (!this.#another('}')) break;
    }
    return { kind: 'hash', entries, start, end: this.expect('}').end };
  }

  #special(start: number): Expr {
    const token = this.lexer.next();
    if (token.type !== 'name') throw this.unexpected(token);
    const name = snakeCase(token.text);
    if (!SPECIAL_VARIABLES.has(name) && name !== 'get_optional_template') {
      throw new SyntaxFault(`Unknown special variable .${token.text}.`, start, { known: [...SPECIAL_VARIABLES] });
    }
    return { kind: 'special', name, start, end: token.end };
  }

  /** A comma with something behind it. */
  #another(close: string): boolean {
    if (!this.accept(',')) return false;
    if (this.at(close)) throw this.unexpected(this.lexer.peek());
    return true;
  }

  /** Expressions up to `close`; as in the reference engine a comma between them may be left out, a last one may not stand. */
  list(close: string): { exprs: Expr[]; end: number } {
    const exprs: Expr[] = [];
    while (!this.at(close)) {
      exprs.push(this.expression());
      if (!this.#another(close) && !this.startsExpression(this.lexer.peek())) break;
    }
    return { exprs, end: this.expect(close).end };
  }

  at(op: string): boolean {
    const token = this.lexer.peek();
    return token.type === 'op' && token.text === op;
  }

  atName(name: string): boolean {
    const token = this.lexer.peek();
    return token.type === 'name' && token.text === name;
  }

  accept(op: string): boolean {
    if (!this.at(op)) return false;
    this.lexer.next();
    return true;
  }

  expect(op: string): Token {
    const token = this.lexer.next();
    if (token.type !== 'op' || token.text !== op) throw this.unexpected(token, `"${op}"`);
    return token;
  }

  unexpected(token: Token, wanted?: string): SyntaxFault {
    const found = token.type === 'eof' ? 'the end' : token.type === 'string' ? 'a string literal' : `"${token.text}"`;
    return new SyntaxFault(
      wanted ? `Expected ${wanted}, found ${found}.` : `Unexpected ${found} in an expression.`,
      token.start,
    );
  }
}
