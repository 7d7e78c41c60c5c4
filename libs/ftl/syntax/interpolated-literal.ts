import type { ExpressionReader } from './expression-reader.js';
import { parseInterpolation } from './interpolation-parser.js';
import { Lexer } from './lexer.js';
import type { Expr, InterpolationNode } from './nodes.js';
import { unescapeLiteral } from './string-literal.js';
import type { Token } from './tokens.js';

const SHORTEST = 3;

/** A string literal; `${…}` and `#{…}` inside make it an interpolated one, raw literals never. */
export function parseLiteral(parser: ExpressionReader, token: Extract<Token, { type: 'string' }>): Expr {
  const { start, end } = token;
  if (token.raw) return { kind: 'string', value: token.text, start, end };
  const { toSource } = parser.lexer;
  const { text, offsets, literalBraces } = unescapeLiteral(token.text, token.contentStart, toSource);
  // As in the reference engine, a literal too short for `${x}` is text: "${" and "${}".
  if (text.length <= SHORTEST) return { kind: 'string', value: text, start, end };
  const parts: (string | InterpolationNode)[] = [];
  let done = 0;
  const lexer = new Lexer(text, (offset) => toSource(offsets[Math.min(offset, text.length)]!));
  for (let i = 0; i < text.length - 1; i++) {
    const opens = (text[i] === '$' || text[i] === '#') && text[i + 1] === '{' && !literalBraces.has(i + 1);
    if (!opens) continue;
    if (i > done) parts.push(text.slice(done, i));
    const inner = parser.within(lexer);
    parts.push(parser.nested(toSource(offsets[i]!), () => parseInterpolation(inner, i)));
    done = lexer.offset;
    i = done - 1;
  }
  if (parts.length === 0) return { kind: 'string', value: text, start, end };
  if (done < text.length) parts.push(text.slice(done));
  return { kind: 'interpolated', parts, start, end };
}
