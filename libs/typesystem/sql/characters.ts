import type { DialectSyntax } from './dialect-syntax.js';

export const LINE_FEED = 10;
export const RETURN = 13;
export const QUOTE = 39;
export const DOUBLE_QUOTE = 34;
export const BACKTICK = 96;
export const BACKSLASH = 92;
export const DOLLAR = 36;
export const COLON = 58;
export const DASH = 45;
export const SLASH = 47;
export const STAR = 42;
export const HASH = 35;
export const AT = 64;
export const QUESTION = 63;
export const POINT = 46;
export const OPEN_BRACKET = 91;
export const AMPERSAND = 38;
export const UNDERSCORE = 95;
const MARKER_LOW = 0xe000;
const MARKER_HIGH = 0xe001;

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

export function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

function isUnicodeBlank(code: number): boolean {
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

export function isBlank(code: number, syntax: DialectSyntax): boolean {
  return (code > 0 && code <= 32) || (code >= 0xa0 && syntax.unicodeBlanks && isUnicodeBlank(code));
}

export function isMarker(code: number): boolean {
  return code === MARKER_LOW || code === MARKER_HIGH;
}

/** What an unquoted word may begin with. */
export function isWordStart(code: number, syntax: DialectSyntax): boolean {
  if (isLetter(code) || code === UNDERSCORE) return true;
  if (code === HASH) return syntax.hashInWords;
  return code >= 0x80 && !isMarker(code) && !(syntax.unicodeBlanks && isUnicodeBlank(code));
}

export function isWordPart(code: number, syntax: DialectSyntax): boolean {
  return isDigit(code) || code === DOLLAR || isWordStart(code, syntax);
}
