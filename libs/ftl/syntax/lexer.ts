import { SyntaxFault } from '../problems.js';
import { CANONICAL, OPERATORS, type Token } from './tokens.js';

const NAME = /(?:[\p{L}_$@]|\\[-.:#])(?:[\p{L}\p{M}\p{Nd}_$@]|\\[-.:#])*/uy;
const NUMBER = /\d+(?:\.\d+)?/y;
const WORD_OPERATORS = new Set(['lt', 'lte', 'gt', 'gte']);

const byFirst = new Map<string, string[]>();
for (const operator of OPERATORS) byFirst.set(operator[0]!, [...(byFirst.get(operator[0]!) ?? []), operator]);

/**
 * Where an expression stands: `>` closes a tag, and a call of a macro, unless it is inside parentheses (contract 05 §4.1).
 */
export type ExpressionMode = 'tag' | 'call' | 'interpolation';

/** Maps an offset of the text being read to one of the body; not the identity inside string literals. */
export type ToSource = (offset: number) => number;

/** Tokens of one expression area, read on demand; text between the areas is the template parser's. */
export class Lexer {
  mode: ExpressionMode = 'interpolation';
  #parens = 0;
  #offset = 0;
  #peeked: Token | null = null;
  #stopsAtBlank = false;

  constructor(
    readonly source: string,
    readonly toSource: ToSource,
  ) {}

  /** Starts reading at a raw offset of the text. */
  enter(mode: ExpressionMode, offset: number): void {
    this.mode = mode;
    this.#parens = 0;
    this.#offset = offset;
    this.#peeked = null;
    this.#stopsAtBlank = false;
  }

  /** Raw offset after the last consumed token. Only valid with nothing peeked. */
  get offset(): number {
    return this.#offset;
  }

  peek(): Token {
    return (this.#peeked ??= this.#read());
  }

  next(): Token {
    const token = this.peek();
    this.#peeked = null;
    return token;
  }

  /** Runs `look` and puts the lexer back where it was. */
  lookahead<T>(look: () => T): T {
    const saved = { offset: this.#offset, parens: this.#parens, peeked: this.#peeked };
    const result = look();
    this.#offset = saved.offset;
    this.#parens = saved.parens;
    this.#peeked = saved.peeked;
    return result;
  }

  /** Runs `read` with blanks outside of parentheses ending the expression: the callee of `<@m [1, 2]/>`. */
  untilBlank<T>(read: () => T): T {
    this.#stopsAtBlank = true;
    const result = read();
    this.#stopsAtBlank = false;
    if (this.#peeked?.type === 'eof') this.#peeked = null;
    return result;
  }

  #skipBlanks(): void {
    for (;;) {
      const c = this.source.charCodeAt(this.#offset);
      if (c === 32 || (c >= 9 && c <= 13)) this.#offset++;
      else if (this.source.startsWith('<#--', this.#offset) || this.source.startsWith('<!--', this.#offset)) {
        const close = this.source.indexOf('-->', this.#offset + 4);
        if (close < 0) throw new SyntaxFault('Unclosed comment.', this.toSource(this.#offset));
        this.#offset = close + 3;
      } else return;
    }
  }

  #read(): Token {
    if (this.#stopsAtBlank && this.#parens === 0 && /\s/.test(this.source[this.#offset] ?? '')) {
      const here = this.toSource(this.#offset);
      return { type: 'eof', text: '', start: here, end: here };
    }
    this.#skipBlanks();
    const from = this.#offset;
    const start = this.toSource(from);
    if (from >= this.source.length) return { type: 'eof', text: '', start, end: start };
    const first = this.source[from]!;
    if (first === '"' || first === "'") return this.#string(from, false);
    if (first === 'r' && (this.source[from + 1] === '"' || this.source[from + 1] === "'")) {
      return this.#string(from, true);
    }
    const number = this.#match(NUMBER);
    if (number !== null) return { type: 'number', text: number, start, end: this.toSource(this.#offset) };
    const atEnd = this.#tagEnd(first, start);
    if (atEnd) return atEnd;
    const operator = this.#operator(first);
    if (operator !== null) {
      return { type: 'op', text: CANONICAL[operator] ?? operator, start, end: this.toSource(this.#offset) };
    }
    const name = this.#match(NAME);
    if (name === null) throw new SyntaxFault(`Unexpected character in an expression.`, start);
    const end = this.toSource(this.#offset);
    if (WORD_OPERATORS.has(name)) return { type: 'op', text: CANONICAL[name]!, word: name, start, end };
    return { type: 'name', text: name.replace(/\\/g, ''), start, end };
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.source)?.[0] ?? null;
    if (found !== null) this.#offset += found.length;
    return found;
  }

  #tagEnd(first: string, start: number): Token | null {
    const closes = this.mode !== 'interpolation' && this.#parens === 0;
    if (first === '>') {
      const text = closes ? '>' : this.source[this.#offset + 1] === '=' ? '>=' : '>';
      this.#offset += text.length;
      return { type: closes ? 'tag-end' : 'op', text, start, end: this.toSource(this.#offset) };
    }
    if (closes && first === '/' && this.source[this.#offset + 1] === '>') {
      this.#offset += 2;
      return { type: 'tag-end', text: '/>', start, end: this.toSource(this.#offset) };
    }
    return null;
  }

  #operator(first: string): string | null {
    const found = byFirst.get(first)?.find((one) => this.source.startsWith(one, this.#offset));
    if (found === undefined) return null;
    this.#offset += found.length;
    if (found === '(') this.#parens++;
    if (found === ')') this.#parens--;
    return found;
  }

  #string(from: number, raw: boolean): Token {
    const open = raw ? from + 1 : from;
    const quote = this.source[open]!;
    let i = open + 1;
    while (i < this.source.length && this.source[i] !== quote) i += !raw && this.source[i] === '\\' ? 2 : 1;
    if (i >= this.source.length) throw new SyntaxFault('Unclosed string literal.', this.toSource(from));
    this.#offset = i + 1;
    return {
      type: 'string',
      text: this.source.slice(open + 1, i),
      start: this.toSource(from),
      end: this.toSource(this.#offset),
      raw,
      contentStart: open + 1,
    };
  }
}
