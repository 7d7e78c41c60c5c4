import type { Dialect } from '../canonical-type.js';
import { isContextKey } from '../identifier.js';
import * as ch from './characters.js';
import { SYNTAX, type DialectSyntax } from './dialect-syntax.js';
import * as end from './literal-end.js';
import type { SqlToken, SqlTokenKind, StringForm } from './sql-token.js';

/**
 * Cuts SQL text into tokens that cover it without gaps, in linear time (contract 01 §4.3). Never fails: a literal,
 * identifier or comment that does not end is one last token marked `unterminated`.
 */
export function lexSql(dialect: Dialect, text: string): SqlToken[] {
  return new SqlLexer(text, SYNTAX[dialect]).run();
}

/** Longest context key (contract 01 §1.1). */
const MAX_KEY = 63;

const PREFIX_FORMS: Readonly<Record<string, StringForm>> = { N: 'national', X: 'hex', B: 'bit' };

class SqlLexer {
  readonly #text: string;
  readonly #syntax: DialectSyntax;
  readonly #tokens: SqlToken[] = [];
  #at = 0;

  constructor(text: string, syntax: DialectSyntax) {
    this.#text = text;
    this.#syntax = syntax;
  }

  run(): SqlToken[] {
    while (this.#at < this.#text.length) this.#next();
    return this.#tokens;
  }

  #code(ahead = 0): number {
    return this.#text.charCodeAt(this.#at + ahead);
  }

  #emit(kind: SqlTokenKind, stop: number, extra?: Pick<SqlToken, 'form' | 'executable'>): void {
    const start = this.#at;
    const open = stop === end.OPEN_END;
    this.#at = open ? this.#text.length : stop;
    const text = this.#text.slice(start, this.#at);
    if (!open && extra === undefined) this.#tokens.push({ kind, start, end: stop, text });
    else
      this.#tokens.push({ kind, start, end: this.#at, text, ...extra, ...(open ? { unterminated: true } : undefined) });
  }

  #next(): void {
    const code = this.#code();
    const syntax = this.#syntax;
    if (ch.isBlank(code, syntax)) return this.#emit('whitespace', this.#runEnd(this.#at, ch.isBlank));
    if (ch.isDigit(code) || (code === ch.POINT && this.#beginsFraction()))
      return this.#emit('number', this.#numberEnd());
    if (code !== ch.HASH && ch.isWordStart(code, syntax)) return this.#word();
    switch (code) {
      case ch.QUOTE:
        return this.#string(this.#at, syntax.backslashStrings ? 'backslash' : 'plain');
      case ch.DOUBLE_QUOTE:
        if (!syntax.doubleQuoteIsString) return this.#quotedIdentifier('"');
        return this.#emit('string', end.endOfEscaped(this.#text, this.#at + 1, code), { form: 'backslash' });
      case ch.BACKTICK:
        return syntax.backtickIdentifiers ? this.#quotedIdentifier('`') : this.#punctuation(1);
      case ch.OPEN_BRACKET:
        return this.#bracket();
      case ch.DASH:
        return this.#isDashComment() ? this.#lineComment() : this.#punctuation(1);
      case ch.SLASH:
        return this.#slash();
      case ch.HASH:
        if (syntax.hashComments) return this.#lineComment();
        return syntax.hashInWords ? this.#word() : this.#punctuation(1);
      case ch.DOLLAR:
        return this.#dollar();
      case ch.COLON:
        return this.#colon();
      case ch.QUESTION:
        if (!syntax.native.question) return this.#punctuation(1);
        return this.#emit('native_placeholder', this.#runEnd(this.#at + 1, ch.isDigit));
      case ch.AT:
        return this.#atSign();
      default:
        return ch.isMarker(code) ? this.#marker() : this.#punctuation(1);
    }
  }

  /** First offset from `from` on whose character does not satisfy `test`. */
  #runEnd(from: number, test: (code: number, syntax: DialectSyntax) => boolean): number {
    let at = from;
    while (at < this.#text.length && test(this.#text.charCodeAt(at), this.#syntax)) at++;
    return at;
  }

  #punctuation(length: number): void {
    this.#emit('punctuation', this.#at + length);
  }

  /** A word, or a string when the word is the prefix of one. */
  #word(): void {
    const stop = this.#runEnd(this.#at + 1, ch.isWordPart);
    if (stop - this.#at > 2) return this.#emit('word', stop);
    const prefix = this.#text.slice(this.#at, stop).toUpperCase();
    const follower = this.#text.charCodeAt(stop);
    if (follower === ch.QUOTE) {
      if (this.#syntax.alternativeQuotes && (prefix === 'Q' || prefix === 'NQ')) {
        return this.#emit('string', end.endOfAlternative(this.#text, stop), { form: 'alternative' });
      }
      if (this.#syntax.escapeStrings && prefix === 'E') {
        return this.#emit('string', end.endOfEscapeString(this.#text, stop + 1, this.#syntax), { form: 'escape' });
      }
      const form = PREFIX_FORMS[prefix];
      if (form) return this.#string(stop, form);
    } else if (follower === ch.AMPERSAND && prefix === 'U' && this.#syntax.unicodeEscapes) {
      const quote = this.#text[stop + 1];
      if (quote === "'") return this.#string(stop + 1, 'unicode');
      if (quote === '"') return this.#emit('quoted_identifier', end.endOfDoubled(this.#text, stop + 2, quote));
    }
    this.#emit('word', stop);
  }

  /** A single-quoted string whose quote stands at `quote`. */
  #string(quote: number, form: StringForm): void {
    const stop = this.#syntax.backslashStrings
      ? end.endOfEscaped(this.#text, quote + 1, ch.QUOTE)
      : end.endOfDoubled(this.#text, quote + 1, "'");
    this.#emit('string', stop, { form });
  }

  #quotedIdentifier(closer: string): void {
    this.#emit('quoted_identifier', end.endOfDoubled(this.#text, this.#at + 1, closer));
  }

  #bracket(): void {
    const style = this.#syntax.bracketIdentifiers;
    if (style === null) return this.#punctuation(1);
    if (style === 'doubled') return this.#quotedIdentifier(']');
    const close = this.#text.indexOf(']', this.#at);
    this.#emit('quoted_identifier', close < 0 ? end.OPEN_END : close + 1);
  }

  #isDashComment(): boolean {
    if (this.#code(1) !== ch.DASH) return false;
    const follower = this.#code(2);
    // NaN: the text ends here. MySQL reads `5--1` as 5 minus -1.
    return !this.#syntax.dashNeedsBlank || Number.isNaN(follower) || follower <= 32 || follower === 127;
  }

  #lineComment(): void {
    this.#emit('comment', end.endOfLine(this.#text, this.#at, this.#syntax.returnEndsComment));
  }

  #slash(): void {
    const follower = this.#code(1);
    if (follower === ch.STAR) {
      const executable =
        this.#syntax.executableComments && /^(?:!|M!)/.test(this.#text.slice(this.#at + 2, this.#at + 4));
      const stop = end.endOfBlockComment(this.#text, this.#at, this.#syntax.nestedComments);
      return this.#emit('comment', stop, executable ? { executable: true } : undefined);
    }
    if (follower === ch.SLASH && this.#syntax.slashComments) return this.#lineComment();
    this.#punctuation(1);
  }

  #dollar(): void {
    const { dollarStrings, native } = this.#syntax;
    if (dollarStrings !== null) {
      const tagEnd = end.endOfDollarTag(this.#text, this.#at, this.#syntax);
      if (tagEnd !== end.OPEN_END) {
        const tag = this.#text.slice(this.#at, tagEnd);
        return this.#emit('dollar_string', end.endOfDollarString(this.#text, tagEnd, tag));
      }
    }
    const follower = this.#code(1);
    if (native.dollarNumber && ch.isDigit(follower)) {
      return this.#emit('native_placeholder', this.#runEnd(this.#at + 1, ch.isDigit));
    }
    if (native.dollarName && ch.isWordStart(follower, this.#syntax)) {
      return this.#emit('native_placeholder', this.#runEnd(this.#at + 1, ch.isWordPart));
    }
    this.#punctuation(1);
  }

  /** `:name` is a bind unless a colon or a word character stands before it: `a::text`, `x:=1`, `arr[1:2]` are not. */
  #colon(): void {
    const follower = this.#code(1);
    if (follower === ch.COLON || follower === 61) return this.#punctuation(2);
    const before = this.#at > 0 ? this.#text.charCodeAt(this.#at - 1) : 0;
    const free = before !== ch.COLON && !ch.isWordPart(before, this.#syntax);
    const stop = this.#runEnd(this.#at + 1, ch.isWordPart);
    const length = stop - this.#at - 1;
    if (free && length > 0) {
      if (length <= MAX_KEY && isContextKey(this.#text.slice(this.#at + 1, stop))) return this.#emit('bind', stop);
      if (this.#syntax.native.colon) return this.#emit('native_placeholder', stop);
    }
    this.#punctuation(1);
  }

  #atSign(): void {
    const { at } = this.#syntax.native;
    const stop = this.#runEnd(this.#at + 1, ch.isWordPart);
    const reserved = this.#text.slice(this.#at + 1, Math.min(stop, this.#at + 4)).toLowerCase() === 'dp_';
    const native = at === 'all' ? stop > this.#at + 1 : at === 'reserved' && reserved;
    if (native) return this.#emit('native_placeholder', stop);
    this.#punctuation(1);
  }

  /** From U+E000 up to U+E001; alone when the other is missing. */
  #marker(): void {
    let stop = this.#at + 1;
    if (this.#code() === 0xe000) {
      stop = this.#runEnd(stop, (code) => !ch.isMarker(code));
      stop = this.#text.charCodeAt(stop) === 0xe001 ? stop + 1 : this.#at + 1;
    }
    this.#emit('marker', stop);
  }

  /** `.5`, but not the point of `t.5` or `"t".5`. */
  #beginsFraction(): boolean {
    if (!ch.isDigit(this.#code(1))) return false;
    const before = this.#tokens[this.#tokens.length - 1];
    return (
      before === undefined ||
      (before.kind !== 'word' && before.kind !== 'quoted_identifier' && before.kind !== 'marker')
    );
  }

  /** Strict, so that a letter behind the digits begins a word: `1E'…'` is a number and an escape string. */
  #numberEnd(): number {
    const digit = (code: number): boolean => ch.isDigit(code) || code === ch.UNDERSCORE;
    if (this.#code() === 48 && (this.#code(1) | 32) === 120 && ch.isHexDigit(this.#code(2))) {
      return this.#runEnd(this.#at + 2, (code) => ch.isHexDigit(code) || code === ch.UNDERSCORE);
    }
    let stop = this.#runEnd(this.#at, digit);
    if (this.#text.charCodeAt(stop) === ch.POINT) stop = this.#runEnd(stop + 1, digit);
    if ((this.#text.charCodeAt(stop) | 32) === 101) {
      const sign = this.#text.charCodeAt(stop + 1);
      const digits = stop + (sign === 43 || sign === ch.DASH ? 2 : 1);
      if (ch.isDigit(this.#text.charCodeAt(digits))) stop = this.#runEnd(digits, ch.isDigit);
    }
    return stop;
  }
}
