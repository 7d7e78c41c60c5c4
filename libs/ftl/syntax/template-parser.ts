import { SyntaxFault } from '../problems.js';
import { parseAssignment } from './assignment-parser.js';
import { parseCall } from './call-parser.js';
import { ExpressionParser } from './expression-parser.js';
import { parseInterpolation } from './interpolation-parser.js';
import { Lexer } from './lexer.js';
import { parseIf, parseList, parseSwitch } from './control-parser.js';
import { parseMacro } from './macro-parser.js';
import type { Block, Expr, InterpolationNode, Node } from './nodes.js';
import { findMarkup, REFUSED_TAGS, SUPPORTED_TAGS, type Markup } from './tag-scanner.js';
import type { BlockReader, Surroundings } from './block-reader.js';

/** Recursive descent over tags; the depth of tags is counted against `max-nesting`. */
export class TemplateParser implements BlockReader {
  readonly expr: ExpressionParser;
  readonly lexer: Lexer;
  surroundings: Surroundings = { inLoop: false, breakable: false, awaitsItems: false, macro: null };
  #at = 0;
  #depth = 0;
  #escape: Escape | null = null;
  items = 0;

  constructor(
    readonly source: string,
    readonly maxNesting: number,
  ) {
    this.lexer = new Lexer(source, (offset) => offset);
    this.expr = new ExpressionParser(this.lexer, maxNesting);
  }

  template(): Block {
    const body = this.block();
    const stray = findMarkup(this.source, this.#at);
    if (stray) throw new SyntaxFault(`Unexpected ${this.#spelling(stray)}.`, stray.at);
    return body;
  }

  /** Nodes up to a tag that a block does not begin: `</#…>`, `<#else>`, `<#case>` and their kin. */
  block(): Block {
    if (++this.#depth > this.maxNesting) {
      throw new SyntaxFault(`Nested deeper than ${this.maxNesting} levels.`, this.#at, {
        max_nesting: this.maxNesting,
      });
    }
    const nodes: Block = [];
    for (;;) {
      const markup = findMarkup(this.source, this.#at);
      const until = markup?.at ?? this.source.length;
      if (until > this.#at) {
        nodes.push({ kind: 'text', text: this.source.slice(this.#at, until), start: this.#at, end: until });
      }
      this.#at = until;
      if (!markup || this.#endsBlock(markup)) break;
      nodes.push(this.#node(markup));
    }
    this.#depth--;
    return nodes;
  }

  #endsBlock(markup: Markup): boolean {
    if (markup.kind === 'call-end') return true;
    if (markup.kind === 'tag-end') return !REFUSED_TAGS.has(markup.name);
    return markup.kind === 'tag' && CONTINUATIONS.has(markup.name);
  }

  /** The tag the last block stopped at; null at the end of the text. */
  stop(): Markup | null {
    const markup = findMarkup(this.source, this.#at);
    return markup && markup.at === this.#at ? markup : null;
  }

  #node(markup: Markup): Node {
    const start = markup.at;
    switch (markup.kind) {
      case 'comment': {
        const close = this.source.indexOf('-->', markup.after);
        if (close < 0) throw new SyntaxFault('Unclosed comment.', start);
        this.#at = close + 3;
        return { kind: 'comment', start, end: this.#at };
      }
      case 'interpolation': {
        const node = parseInterpolation(this.expr, start);
        this.#at = this.lexer.offset;
        return this.#escaped(node);
      }
      case 'call':
        return parseCall(this, start, markup.after);
      case 'tag':
        return this.#directive(markup.name, start, markup.after);
      case 'tag-end':
        return this.#refused(markup.name, start, markup.after, `</#${markup.name}>`);
      case 'call-end':
        throw new SyntaxFault(`Unexpected ${this.#spelling(markup)}.`, start);
    }
  }

  #escaped(node: InterpolationNode): InterpolationNode {
    // `#{…}` prints a number: no escape touches it.
    if (!this.#escape || node.numeric) return node;
    return { ...node, expr: applied(this.#escape, node.expr) };
  }

  #directive(name: string, start: number, after: number): Node {
    switch (name) {
      case 'if':
        return parseIf(this, start, after);
      case 'list':
      case 'foreach':
      case 'items':
        return parseList(this, name, start, after);
      case 'switch':
        return parseSwitch(this, start, after);
      case 'sep':
        return this.#sep(start, after);
      case 'assign':
      case 'global':
      case 'local':
        return parseAssignment(this, name, start, after);
      case 'macro':
      case 'function':
        return parseMacro(this, name, start, after);
      case 'attempt':
        return this.#attempt(start, after);
      case 'compress':
        this.bareBlockTag(after);
        return { kind: 'compress', body: this.closedBlock('compress', start), start, end: this.#at };
      case 'escape':
        return this.#escapeBlock(start, after);
      case 'noescape':
        return this.#noescape(start, after);
      case 'noparse':
        return this.#noparse(start, after);
      default:
        return this.#simple(name, start, after);
    }
  }

  #simple(name: string, start: number, after: number): Node {
    if (REFUSED_TAGS.has(name)) return this.#refused(name, start, after, `<#${name}`);
    switch (name) {
      case 't':
      case 'lt':
      case 'rt':
      case 'nt':
        this.bareTag(after);
        return {
          kind: 'trim',
          left: name === 't' || name === 'lt',
          right: name === 't' || name === 'rt',
          ...this.span(start),
        };
      case 'break':
      case 'continue':
        if (name === 'break' ? !this.surroundings.breakable : !this.surroundings.inLoop) {
          throw new SyntaxFault(`<#${name}> outside a loop.`, start);
        }
        this.bareTag(after);
        return { kind: name, ...this.span(start) };
      case 'flush':
        this.bareTag(after);
        return { kind: 'flush', ...this.span(start) };
      case 'return':
      case 'stop': {
        this.enter(after);
        const { macro } = this.surroundings;
        const value = this.lexer.peek().type === 'tag-end' ? null : this.expr.expression();
        this.tagEnd();
        if (name === 'stop') return { kind: 'stop', message: value, ...this.span(start) };
        if (!macro) throw new SyntaxFault('<#return> outside a macro or function.', start);
        if ((macro === 'function') !== (value !== null)) {
          throw new SyntaxFault(`<#return> in a ${macro} ${value ? 'takes no' : 'needs a'} value.`, start);
        }
        return { kind: 'return', value, ...this.span(start) };
      }
      case 'nested': {
        if (this.surroundings.macro !== 'macro') throw new SyntaxFault('<#nested> outside a macro.', start);
        this.enter(after);
        const args: Expr[] = [];
        while (this.lexer.peek().type !== 'tag-end') {
          args.push(this.expr.expression());
          this.expr.accept(',');
        }
        this.tagEnd();
        return { kind: 'nested', args, ...this.span(start) };
      }
      case 'setting': {
        this.enter(after);
        const setting = this.identifier();
        this.expr.expect('=');
        const value = this.expr.expression();
        this.tagEnd();
        return { kind: 'setting', name: setting, value, ...this.span(start) };
      }
      default:
        throw new SyntaxFault(`Unknown directive <#${name.slice(0, 64)}>.`, start, { known: SUPPORTED_TAGS });
    }
  }

  #sep(start: number, after: number): Node {
    if (!this.surroundings.inLoop) throw new SyntaxFault('<#sep> outside a loop.', start);
    this.bareBlockTag(after);
    const body = this.block();
    const stop = this.stop();
    if (stop?.kind === 'tag-end' && stop.name === 'sep') this.bareBlockTag(stop.after);
    return { kind: 'sep', body, ...this.span(start) };
  }

  #attempt(start: number, after: number): Node {
    this.bareBlockTag(after);
    const body = this.block();
    const recover = this.stop();
    if (recover?.kind !== 'tag' || recover.name !== 'recover') throw this.unclosed('attempt', start, recover);
    this.bareBlockTag(recover.after);
    const fallback = this.block();
    const stop = this.stop();
    if (stop?.kind !== 'tag-end' || (stop.name !== 'attempt' && stop.name !== 'recover')) {
      throw this.unclosed('attempt', start, stop);
    }
    this.bareBlockTag(stop.after);
    return { kind: 'attempt', body, recover: fallback, ...this.span(start) };
  }

  #escapeBlock(start: number, after: number): Node {
    this.enter(after);
    const param = this.identifier();
    this.keyword('as');
    const own = this.expr.expression();
    this.blockEnd();
    const outer = this.#escape;
    this.#escape = { param, body: outer ? applied(outer, own) : own, outer };
    const body = this.closedBlock('escape', start);
    this.#escape = outer;
    return { kind: 'group', body, ...this.span(start) };
  }

  #noescape(start: number, after: number): Node {
    const saved = this.#escape;
    if (!saved) throw new SyntaxFault('<#noescape> outside <#escape>.', start);
    this.bareBlockTag(after);
    this.#escape = saved.outer;
    const body = this.closedBlock('noescape', start);
    this.#escape = saved;
    return { kind: 'group', body, ...this.span(start) };
  }

  #noparse(start: number, after: number): Node {
    this.bareBlockTag(after);
    const close = /<\/#no[pP]arse\s*>/g;
    close.lastIndex = this.#at;
    const found = close.exec(this.source);
    if (!found) throw new SyntaxFault('Unclosed <#noparse>.', start);
    const text = this.source.slice(this.#at, found.index);
    this.#at = found.index + found[0].length;
    return { kind: 'text', text, start, end: this.#at };
  }

  /** Skips the rest of a refused tag; the scan reports it. */
  #refused(construct: string, start: number, after: number, match: string): Node {
    let quote = '';
    let i = after;
    for (; i < this.source.length; i++) {
      const c = this.source[i]!;
      if (quote) quote = c === quote ? '' : quote;
      else if (c === '"' || c === "'") quote = c;
      else if (c === '>') break;
    }
    this.#at = Math.min(i + 1, this.source.length);
    return { kind: 'refused', construct: `#${construct}`, match, ...this.span(start) };
  }

  blockIn(change: Partial<Surroundings>): Block {
    const saved = this.surroundings;
    this.surroundings = { ...saved, ...change };
    const body = this.block();
    this.surroundings = saved;
    return body;
  }

  closedBlock(name: string, start: number, change: Partial<Surroundings> = {}): Block {
    const body = this.blockIn(change);
    const stop = this.stop();
    if (stop?.kind !== 'tag-end' || stop.name !== name) throw this.unclosed(name, start, stop);
    this.bareBlockTag(stop.after);
    return body;
  }

  unclosed(name: string, start: number, stop: Markup | null): SyntaxFault {
    const tag = name === '@' ? 'macro call' : `#${name}`;
    const at = stop ? `found ${this.#spelling(stop)}` : 'the template ends';
    return new SyntaxFault(`Unclosed ${tag}: ${at}.`, stop?.at ?? this.source.length, {
      unclosed: tag,
      opened_at: start,
    });
  }

  enter(after: number, mode: 'tag' | 'call' = 'tag'): void {
    this.lexer.enter(mode, after);
  }

  tagEnd(): string {
    const token = this.lexer.next();
    if (token.type !== 'tag-end') throw this.expr.unexpected(token, '">"');
    this.#at = this.lexer.offset;
    return token.text;
  }

  blockEnd(): void {
    const token = this.lexer.peek();
    if (token.type === 'tag-end' && token.text === '/>') throw this.expr.unexpected(token, '">"');
    this.tagEnd();
  }

  bareTag(after: number): void {
    this.enter(after);
    this.tagEnd();
  }

  bareBlockTag(after: number): void {
    this.enter(after);
    this.blockEnd();
  }

  name(): string {
    const token = this.lexer.next();
    if (token.type === 'string') {
      if (!token.raw && /[\\]|[$#]\{/.test(token.text))
        throw new SyntaxFault('A name must be a plain literal.', token.start);
      return token.text;
    }
    if (token.type === 'name') return token.text;
    throw this.expr.unexpected(token, 'a name');
  }

  identifier(): string {
    const token = this.lexer.next();
    if (token.type === 'name') return token.text;
    throw this.expr.unexpected(token, 'a name');
  }

  keyword(word: string): void {
    const token = this.lexer.next();
    if (token.type !== 'name' || token.text !== word) throw this.expr.unexpected(token, `"${word}"`);
  }

  span(start: number): { start: number; end: number } {
    return { start, end: this.#at };
  }

  #spelling(markup: Markup): string {
    if (markup.kind === 'tag') return `<#${markup.name.slice(0, 64)}>`;
    if (markup.kind === 'tag-end') return `</#${markup.name.slice(0, 64)}>`;
    return this.source.slice(markup.at, markup.after);
  }
}

interface Escape {
  param: string;
  /** Has the escapes around it applied already. */
  body: Expr;
  outer: Escape | null;
}

function applied({ param, body }: Escape, argument: Expr): Expr {
  return { kind: 'escaped', param, body, argument, start: argument.start, end: argument.end };
}

/** Tags that continue or end an enclosing directive. */
const CONTINUATIONS: ReadonlySet<string> = new Set(['else', 'elseif', 'case', 'on', 'default', 'recover']);
