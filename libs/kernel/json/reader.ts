import { jsonRefusal, type JsonRefusal } from './refusal.js';
import { writtenOutLength } from './number-length.js';
import type { JsonLimits } from './limits.js';
import { ExactNumber, type JsonObject, type JsonValue } from './value.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A container that waits for its next member. `key` is the member being read, for an object. */
type Frame = { array: JsonValue[]; object?: undefined } | { object: JsonObject; key: string; array?: undefined };

/**
 * One pass over a JSON text (RFC 8259) with an explicit stack: checks the limits on the raw text and builds the value.
 * One grammar for both, so that what was checked is what is read.
 */
export class JsonReader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #field: string;
  readonly #stack: Frame[] = [];
  #at = 0;

  constructor(text: string, limits: JsonLimits, field: string) {
    this.#text = text;
    this.#limits = limits;
    this.#field = field;
  }

  read(): JsonValue {
    const unpaired = this.#text.search(/\p{Surrogate}/u);
    if (unpaired >= 0) this.#malformed('an unpaired surrogate', unpaired);
    for (;;) {
      let value = this.#openOrScalar();
      if (value === undefined) continue;
      for (;;) {
        const frame = this.#stack.at(-1);
        this.#skipWhitespace();
        if (!frame) {
          if (this.#at < this.#text.length) this.#malformed('the end of the text was expected');
          return value;
        }
        if (frame.array) frame.array.push(value);
        else frame.object[frame.key] = value;
        const code = this.#text.charCodeAt(this.#at);
        if (code === COMMA) {
          this.#at++;
          if (frame.object) this.#key(frame);
          break;
        }
        if (code !== (frame.array ? CLOSE_ARRAY : CLOSE_OBJECT)) {
          this.#malformed(`"," or "${frame.array ? ']' : '}'}" was expected`);
        }
        this.#at++;
        this.#stack.pop();
        value = frame.array ?? frame.object;
      }
    }
  }

  /** A complete value, or undefined after stepping into a container that is not empty. */
  #openOrScalar(): JsonValue | undefined {
    this.#skipWhitespace();
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case QUOTE:
        return this.#string();
      case OPEN_OBJECT: {
        const frame = { object: Object.create(null) as JsonObject, key: '' };
        if (this.#open(CLOSE_OBJECT)) return frame.object;
        this.#stack.push(frame);
        this.#key(frame);
        return undefined;
      }
      case OPEN_ARRAY: {
        const frame = { array: [] };
        if (this.#open(CLOSE_ARRAY)) return frame.array;
        this.#stack.push(frame);
        return undefined;
      }
      case 0x74:
        return this.#word('true', true);
      case 0x66:
        return this.#word('false', false);
      case 0x6e:
        return this.#word('null', null);
      default:
        if (code === MINUS || isDigit(code)) return this.#number();
        return this.#malformed('a value was expected');
    }
  }

  /** Steps over an opening bracket; true when the container is empty and closed already. */
  #open(closing: number): boolean {
    if (this.#stack.length >= this.#limits.maxDepth) {
      this.#refuse('too_deep', `more than ${this.#limits.maxDepth} nested levels`, this.#at, {
        limit: this.#limits.maxDepth,
      });
    }
    this.#at++;
    this.#skipWhitespace();
    if (this.#text.charCodeAt(this.#at) !== closing) return false;
    this.#at++;
    return true;
  }

  #key(frame: { object: JsonObject; key: string }): void {
    this.#skipWhitespace();
    const start = this.#at;
    if (this.#text.charCodeAt(start) !== QUOTE) this.#malformed('a key in double quotes was expected');
    const key = this.#string();
    if (key in frame.object) this.#refuse('duplicate_key', 'a key appears twice in one object', start, { key });
    this.#skipWhitespace();
    if (this.#text.charCodeAt(this.#at) !== COLON) this.#malformed('":" was expected');
    this.#at++;
    frame.key = key;
  }

  #word<T extends JsonValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#malformed('a value was expected');
    this.#at += word.length;
    return value;
  }

  #string(): string {
    const start = this.#at;
    const longest = this.#limits.maxStringChars;
    let chars = 0;
    let escaped = false;
    for (this.#at++; ; this.#at++, chars++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        escaped = true;
        if (this.#escape()) chars++;
      } else if (!(code >= 0x20)) {
        this.#malformed(
          this.#at >= this.#text.length ? 'a string does not end' : 'a control character must be escaped',
        );
      }
      if (chars >= longest) {
        this.#refuse('string_too_long', `a string of more than ${longest} characters`, start, { limit: longest });
      }
    }
    this.#at++;
    // The escapes were checked above, so the native decoder cannot fail here.
    if (escaped) return JSON.parse(this.#text.slice(start, this.#at)) as string;
    return this.#text.slice(start + 1, this.#at - 1);
  }

  /** Checks the escape at the cursor and leaves it on its last character; true for a surrogate pair (two units). */
  #escape(): boolean {
    const start = this.#at;
    this.#at++;
    const kind = this.#text[this.#at];
    if (kind !== 'u') {
      if (kind === undefined || !'"\\/bfnrt'.includes(kind)) this.#malformed('an unknown escape', start);
      return false;
    }
    const unit = this.#hex(start);
    if (unit === 0) this.#malformed('U+0000 is not accepted', start);
    if ((unit & 0xf800) !== 0xd800) return false;
    if (unit >= 0xdc00 || !this.#text.startsWith('\\u', this.#at + 1)) this.#malformed('an unpaired surrogate', start);
    this.#at += 2;
    if ((this.#hex(start) & 0xfc00) !== 0xdc00) this.#malformed('an unpaired surrogate', start);
    return true;
  }

  /** The four hexadecimal digits after the `u` at the cursor. */
  #hex(start: number): number {
    let unit = 0;
    for (let end = this.#at + 4; this.#at < end;) {
      const digit = hexDigit(this.#text.charCodeAt(++this.#at));
      if (digit < 0) this.#malformed('four hexadecimal digits were expected', start);
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #number(): ExactNumber {
    const start = this.#at;
    if (this.#text.charCodeAt(this.#at) === MINUS) this.#at++;
    // A leading zero stands alone: what follows it is not a digit of this number.
    if (this.#text.charCodeAt(this.#at) === 0x30) this.#at++;
    else this.#digits();
    if (this.#text.charCodeAt(this.#at) === DOT) {
      this.#at++;
      this.#digits();
    }
    const exponent = (this.#text.charCodeAt(this.#at) | 0x20) === 0x65;
    if (exponent) {
      this.#at++;
      const sign = this.#text[this.#at];
      if (sign === '+' || sign === '-') this.#at++;
      this.#digits();
    }
    const longest = this.#limits.maxNumberChars;
    const length = this.#at - start;
    const token = length > longest ? undefined : this.#text.slice(start, this.#at);
    if (token === undefined || (exponent && writtenOutLength(token) > longest)) {
      this.#refuse('too_many_digits', `a number of more than ${longest} characters when written out`, start, {
        limit: longest,
      });
    }
    return new ExactNumber(token);
  }

  #digits(): void {
    const start = this.#at;
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++;
    if (this.#at === start) this.#malformed('a digit was expected');
  }

  #skipWhitespace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #malformed(problem: string, at = this.#at): never {
    return this.#refuse('malformed_json', `not well-formed JSON: ${problem}`, at);
  }

  #refuse(reason: JsonRefusal, message: string, at: number, found?: { key?: string; limit?: number }): never {
    throw jsonRefusal(reason, message, { text: this.#text, at, field: this.#field }, found);
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
