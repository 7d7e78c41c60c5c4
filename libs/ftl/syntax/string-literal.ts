import { SyntaxFault } from '../problems.js';
import type { ToSource } from './lexer.js';

const SIMPLE: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  l: '<',
  g: '>',
  a: '&',
  '{': '{',
  '=': '=',
};

/** A literal with its escapes resolved; `offsets[i]` is the raw offset of character `i`. */
export interface Unescaped {
  text: string;
  offsets: number[];
  /** Indexes of `{` that came from `\{`: they start no interpolation. */
  literalBraces: Set<number>;
}

/** Resolves the escapes of contract 05 §4.1; `base` is the raw offset of the content. */
export function unescapeLiteral(content: string, base: number, toSource: ToSource): Unescaped {
  let text = '';
  const offsets: number[] = [];
  const literalBraces = new Set<number>();
  const push = (piece: string, at: number): void => {
    for (let k = 0; k < piece.length; k++) offsets.push(at);
    text += piece;
  };
  for (let i = 0; i < content.length; i++) {
    if (content[i] !== '\\') {
      push(content[i]!, base + i);
      continue;
    }
    const at = base + i;
    const escape = content[++i] ?? '';
    const simple = SIMPLE[escape];
    if (simple !== undefined) {
      if (simple === '{') literalBraces.add(text.length);
      push(simple, at);
    } else if (escape === 'x') {
      const hex = /^[0-9A-Fa-f]{1,4}/.exec(content.slice(i + 1, i + 5))?.[0];
      if (hex === undefined) throw new SyntaxFault('Invalid \\x escape in a string literal.', toSource(at));
      push(String.fromCharCode(parseInt(hex, 16)), at);
      i += hex.length;
    } else {
      throw new SyntaxFault(`Unknown escape \\${escape} in a string literal.`, toSource(at));
    }
  }
  offsets.push(base + content.length);
  return { text, offsets, literalBraces };
}
