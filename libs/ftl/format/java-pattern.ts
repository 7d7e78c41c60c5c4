/** What a pattern in Java's syntax says in JavaScript's with the `u` flag, or what it uses that only Java knows. */
export type TranslatedPattern = { ok: true; source: string } | { ok: false; uses: string };

const LINE_END = '\\n\\r\\u0085\\u2028\\u2029';
const BLANK = ' \\t\\n\\x0B\\f\\r';
const NOT_BLANK = '\\x00-\\x08\\x0E-\\x1F\\x21-\\u{10FFFF}';
/** Escapes both read alike. `\s` is spelled out: Java's knows ASCII blanks only. */
const SHARED_ESCAPES = /^\\(?:[dDwWbBtnrfv1-9]|k<\w+>|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|c[A-Z])/;
const SYNTAX_CHARACTER = /[\^$\\.*+?()[\]{}|/]/;

/**
 * Translates the common subset of Java's and JavaScript's patterns (contract 05 §4.6). A dot, `$` and `\s` keep what they
 * mean in Java, and characters outside the basic plane count as one.
 */
export function translatePattern(pattern: string, flags: { multiline: boolean; dotAll: boolean }): TranslatedPattern {
  let source = '';
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at, at + 80);
    const c = pattern[at]!;
    let piece: Piece;
    if (c === '\\') piece = escape(rest, false);
    else if (c === '[') piece = characterClass(pattern.slice(at));
    else if (c === '(') piece = group(rest);
    else if (c === '.' && !flags.dotAll) piece = { text: `[^${LINE_END}]`, length: 1 };
    else if (c === '$' && !flags.multiline) {
      piece = { text: `(?=(?:\\r\\n|[${LINE_END}])?(?![\\s\\S]))`, length: 1 };
    } else if (c === '{') piece = quantifier(rest);
    else if ((c === '*' || c === '+' || c === '?') && /^.\+/.test(rest)) piece = { uses: 'possessive quantifiers' };
    else piece = { text: c === ']' || c === '}' ? `\\${c}` : c, length: 1 };
    if ('uses' in piece) return { ok: false, uses: piece.uses };
    source += piece.text;
    at += piece.length;
  }
  return { ok: true, source };
}

type Piece = { text: string; length: number } | { uses: string };

function escape(rest: string, inClass: boolean): Piece {
  const shared = SHARED_ESCAPES.exec(rest)?.[0];
  if (shared !== undefined && !(inClass && /^\\[bB1-9k]/.test(shared))) return { text: shared, length: shared.length };
  const c = rest[1] ?? '';
  if (c === 's') return { text: inClass ? BLANK : `[${BLANK}]`, length: 2 };
  if (c === 'S') return { text: inClass ? NOT_BLANK : `[^${BLANK}]`, length: 2 };
  if (c === 'Q' || c === 'E') return { uses: '\\Q…\\E' };
  if ('AGzZ'.includes(c) && c !== '') return { uses: 'the anchors \\A \\G \\z \\Z' };
  if (c === 'p' || c === 'P') return { uses: 'POSIX and Unicode classes' };
  if (/[A-Za-z0-9]/.test(c) || c === '') return { uses: `the escape \\${c}` };
  const literal = SYNTAX_CHARACTER.test(c) || (inClass && c === '-') ? `\\${c}` : c;
  return { text: literal, length: 2 };
}

function characterClass(rest: string): Piece {
  let text = rest.startsWith('[^') ? '[^' : '[';
  let at = text.length;
  for (let first = true; at < rest.length; first = false) {
    const c = rest[at]!;
    if (c === ']' && !first) return { text: `${text}]`, length: at + 1 };
    if (rest.startsWith('[:', at)) return { uses: 'POSIX and Unicode classes' };
    if (c === '[') return { uses: 'a class within a class' };
    if (rest.startsWith('&&', at)) return { uses: 'class intersection' };
    const piece: Piece =
      c === '\\' ? escape(rest.slice(at, at + 80), true) : { text: c === ']' ? '\\]' : c, length: 1 };
    if ('uses' in piece) return piece;
    text += piece.text;
    at += piece.length;
  }
  return { text, length: at };
}

function group(rest: string): Piece {
  const special = /^\(\?/.test(rest);
  if (special && !/^\(\?(?:[:=!]|<[=!]|<[A-Za-z])/.test(rest)) return { uses: 'inline flags and atomic groups' };
  return { text: '(', length: 1 };
}

function quantifier(rest: string): Piece {
  const found = /^\{\d+(?:,\d*)?\}/.exec(rest)?.[0];
  if (found === undefined) return { text: '{', length: 1 };
  if (rest[found.length] === '+') return { uses: 'possessive quantifiers' };
  return { text: found, length: found.length };
}
