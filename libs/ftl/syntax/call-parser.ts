import { SyntaxFault } from '../problems.js';
import type { BlockReader } from './block-reader.js';
import type { CallNode, Expr } from './nodes.js';

/** `<@m a=1; x>…</@m>`, `<@m 1, 2/>`, `</@>`. */
export function parseCall(reader: BlockReader, start: number, after: number): CallNode {
  reader.enter(after, 'call');
  const callee = reader.lexer.untilBlank(() => reader.expr.expression());
  const named: { name: string; value: Expr }[] = [];
  let positional: Expr[] | null = null;
  while (reader.lexer.peek().type !== 'tag-end' && !reader.expr.at(';')) {
    if (startsNamed(reader)) {
      if (positional) throw new SyntaxFault('Positional and named arguments in one call.', reader.lexer.peek().start);
      const at = reader.lexer.peek().start;
      const name = reader.identifier();
      if (named.some((one) => one.name === name)) throw new SyntaxFault('Two arguments of one name.', at);
      reader.expr.expect('=');
      named.push({ name, value: reader.expr.expression() });
    } else {
      if (named.length > 0)
        throw new SyntaxFault('Positional and named arguments in one call.', reader.lexer.peek().start);
      (positional ??= []).push(reader.expr.expression());
      if (reader.expr.accept(',') && reader.lexer.peek().type === 'tag-end') {
        throw reader.expr.unexpected(reader.lexer.peek());
      }
    }
  }
  const loopVars = loopVariables(reader);
  if (reader.tagEnd() === '/>') {
    return { kind: 'call', callee, positional, named, loopVars, body: null, ...reader.span(start) };
  }
  const body = reader.block();
  const stop = reader.stop();
  if (stop?.kind !== 'call-end') throw reader.unclosed('@', start, stop);
  reader.enter(stop.after);
  if (reader.lexer.peek().type !== 'tag-end') {
    const closing = reader.expr.expression();
    if (dotted(closing) !== dotted(callee)) {
      throw new SyntaxFault('The closing tag names another macro than the opening tag.', stop.at);
    }
  }
  reader.tagEnd();
  return { kind: 'call', callee, positional, named, loopVars, body, ...reader.span(start) };
}

function startsNamed(reader: BlockReader): boolean {
  const { lexer } = reader;
  if (lexer.peek().type !== 'name') return false;
  return lexer.lookahead(() => {
    lexer.next();
    const after = lexer.next();
    return after.type === 'op' && after.text === '=';
  });
}

function loopVariables(reader: BlockReader): string[] {
  const names: string[] = [];
  if (!reader.expr.accept(';')) return names;
  while (reader.lexer.peek().type !== 'tag-end') {
    names.push(reader.identifier());
    if (!reader.expr.accept(',')) break;
  }
  return names;
}

/** `a.b.c` as text; anything else has no name a closing tag could repeat. */
function dotted(expr: Expr): string | null {
  if (expr.kind === 'variable') return expr.name;
  if (expr.kind === 'special') return `.${expr.name}`;
  if (expr.kind !== 'dot') return null;
  const target = dotted(expr.target);
  return target === null ? null : `${target}.${expr.name}`;
}
