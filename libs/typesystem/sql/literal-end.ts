import {
  BACKSLASH,
  DASH,
  DOLLAR,
  LINE_FEED,
  QUOTE,
  RETURN,
  SLASH,
  STAR,
  isBlank,
  isDigit,
  isWordPart,
} from './characters.js';
import type { DialectSyntax } from './dialect-syntax.js';

/** No end was found: the rest of the text belongs to the token. */
export const OPEN_END = -1;

/** End of a literal or identifier whose closing character is doubled inside. `from` is behind the opening one. */
export function endOfDoubled(text: string, from: number, closer: string): number {
  for (let at = text.indexOf(closer, from); at >= 0; at = text.indexOf(closer, at + 2)) {
    if (text[at + 1] !== closer) return at + 1;
  }
  return OPEN_END;
}

/** End of a literal that knows both doubling and backslash escapes. */
export function endOfEscaped(text: string, from: number, quote: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === quote) {
      if (text.charCodeAt(at + 1) !== quote) return at + 1;
      at++;
    }
  }
  return OPEN_END;
}

/**
 * End of `E'…'`. A string goes on behind blanks with a line break in them, still with backslash escapes: read as two
 * literals, `E'a'\n'\''` would leave a quote over.
 */
export function endOfEscapeString(text: string, from: number, syntax: DialectSyntax): number {
  let end = endOfEscaped(text, from, QUOTE);
  while (end !== OPEN_END) {
    const next = startOfContinuation(text, end, syntax);
    if (next === OPEN_END) return end;
    end = endOfEscaped(text, next, QUOTE);
  }
  return OPEN_END;
}

/** Offset behind the quote that continues a string, or OPEN_END when none does. */
function startOfContinuation(text: string, from: number, syntax: DialectSyntax): number {
  let brokenLine = false;
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === RETURN) brokenLine = true;
    if (isBlank(code, syntax)) at++;
    else if (code === DASH && text.charCodeAt(at + 1) === DASH) at = endOfLine(text, at, true);
    else return brokenLine && code === QUOTE ? at + 1 : OPEN_END;
  }
}

/** End of a line comment: the line break itself stays outside. */
export function endOfLine(text: string, from: number, returnEnds: boolean): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || (returnEnds && code === RETURN)) break;
  }
  return at;
}

/** End of a block comment opened at `start`. */
export function endOfBlockComment(text: string, start: number, nested: boolean): number {
  let depth = 1;
  for (let at = start + 2; at < text.length - 1; at++) {
    const code = text.charCodeAt(at);
    if (code === STAR && text.charCodeAt(at + 1) === SLASH) {
      if (--depth === 0) return at + 2;
      at++;
    } else if (nested && code === SLASH && text.charCodeAt(at + 1) === STAR) {
      depth++;
      at++;
    }
  }
  return OPEN_END;
}

/** Offset behind the opening `$tag$` at `start`, or OPEN_END when there is none. */
export function endOfDollarTag(text: string, start: number, syntax: DialectSyntax): number {
  let at = start + 1;
  if (syntax.dollarStrings === 'tagged' && !isDigit(text.charCodeAt(at))) {
    while (at < text.length && text.charCodeAt(at) !== DOLLAR && isWordPart(text.charCodeAt(at), syntax)) at++;
  }
  return text.charCodeAt(at) === DOLLAR ? at + 1 : OPEN_END;
}

/** End of a dollar-quoted string with that opening tag. Tags hold no `$`, so comparisons never overlap. */
export function endOfDollarString(text: string, from: number, tag: string): number {
  for (let at = text.indexOf('$', from); at >= 0; at = text.indexOf('$', at + 1)) {
    if (text.startsWith(tag, at)) return at + tag.length;
  }
  return OPEN_END;
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')', '<': '>' };

/** End of Oracle's `q'[…]'`; `quote` is the offset of its quote. */
export function endOfAlternative(text: string, quote: number): number {
  const point = text.codePointAt(quote + 1);
  if (point === undefined) return OPEN_END;
  const opener = String.fromCodePoint(point);
  const closer = `${CLOSING[opener] ?? opener}'`;
  const at = text.indexOf(closer, quote + 1 + opener.length);
  return at < 0 ? OPEN_END : at + closer.length;
}
