import { SyntaxFault } from '../problems.js';
import type { BlockReader } from './block-reader.js';
import type { MacroParameter, Node } from './nodes.js';

/** `<#macro name a b=1 rest...>` and `<#function …>`; parentheses and commas around the parameters are optional. */
export function parseMacro(reader: BlockReader, tag: 'macro' | 'function', start: number, after: number): Node {
  if (reader.surroundings.macro) throw new SyntaxFault(`<#${tag}> inside a macro or function.`, start);
  reader.enter(after);
  const name = reader.name();
  const wrapped = reader.expr.accept('(');
  const params: MacroParameter[] = [];
  let catchAll: string | null = null;
  while (reader.lexer.peek().type !== 'tag-end' && !reader.expr.at(')')) {
    const at = reader.lexer.peek().start;
    const param = reader.identifier();
    if (catchAll !== null) throw new SyntaxFault('A catch-all parameter must be the last.', at);
    if (params.some((one) => one.name === param)) throw new SyntaxFault('Two parameters of one name.', at);
    if (reader.expr.accept('...')) catchAll = param;
    else {
      const fallback = reader.expr.accept('=') ? reader.expr.expression() : null;
      if (fallback === null && params.some((one) => one.fallback !== null)) {
        throw new SyntaxFault('A parameter without a default stands before those with one.', at);
      }
      params.push({ name: param, fallback });
    }
    reader.expr.accept(',');
  }
  if (wrapped) reader.expr.expect(')');
  reader.blockEnd();
  const body = reader.closedBlock(tag, start, {
    macro: tag,
    inLoop: false,
    breakable: false,
    awaitsItems: false,
  });
  return { kind: 'macro', name, isFunction: tag === 'function', params, catchAll, body, ...reader.span(start) };
}
