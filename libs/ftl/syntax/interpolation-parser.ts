import { SyntaxFault } from '../problems.js';
import type { ExpressionReader } from './expression-reader.js';
import type { InterpolationNode } from './nodes.js';

/** Reads `${expr}` or `#{expr[; m0M2]}` whose `$` or `#` stands at the raw offset `at`. */
export function parseInterpolation(parser: ExpressionReader, at: number): InterpolationNode {
  const { lexer } = parser;
  const start = lexer.toSource(at);
  const numeric = lexer.source[at] === '#';
  lexer.enter('interpolation', at + 2);
  const expr = parser.expression();
  let format = { min: 0, max: 50 };
  if (numeric && parser.accept(';')) {
    const token = lexer.next();
    const match = token.type === 'name' ? /^(?:m(\d{1,2}))?(?:M(\d{1,2}))?$/.exec(token.text) : null;
    if (!match) throw new SyntaxFault('Expected a format such as m1M2.', token.start);
    const min = Number(match[1] ?? 0);
    format = { min, max: Math.max(min, Number(match[2] ?? (match[1] === undefined ? 0 : 50))) };
  }
  const close = lexer.next();
  if (close.type !== 'op' || close.text !== '}') throw parser.unexpected(close, '"}"');
  return { kind: 'interpolation', expr, numeric: numeric ? format : null, start, end: close.end };
}
