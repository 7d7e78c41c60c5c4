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
    const digits = (letter: 'm' | 'M'): number | null => {
      const found = new RegExp(`${letter}(\\d{1,2})`).exec(token.text)?.[1];
      return found === undefined ? null : Number(found);
    };
    if (token.type !== 'name' || !/^(?:m\d{1,2}(?:M\d{1,2})?|M\d{1,2}(?:m\d{1,2})?)$/.test(token.text)) {
      throw new SyntaxFault('Expected a format such as m1M2.', token.start);
    }
    const min = digits('m') ?? 0;
    const max = digits('M') ?? min;
    if (max < min) throw new SyntaxFault('The most fraction digits (M) are fewer than the least (m).', token.start);
    format = { min, max };
  }
  const close = lexer.next();
  if (close.type !== 'op' || close.text !== '}') throw parser.unexpected(close, '"}"');
  return { kind: 'interpolation', expr, numeric: numeric ? format : null, start, end: close.end };
}
