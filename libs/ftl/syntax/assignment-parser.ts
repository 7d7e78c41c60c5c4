import { SyntaxFault } from '../problems.js';
import type { BlockReader } from './block-reader.js';
import type { AssignOperator, AssignScope, AssignTarget, Expr, Node } from './nodes.js';

const OPERATORS: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '++', '--']);

/** `<#assign a=1 b+=2 in ns>`, or the capture form `<#assign a>…</#assign>`. */
export function parseAssignment(
  reader: BlockReader,
  tag: 'assign' | 'global' | 'local',
  start: number,
  after: number,
): Node {
  const scope: AssignScope = tag === 'assign' ? 'namespace' : tag;
  if (scope === 'local' && !reader.surroundings.macro) throw new SyntaxFault('<#local> outside a macro.', start);
  reader.enter(after);
  const targets: AssignTarget[] = [];
  for (;;) {
    const nameStart = reader.lexer.peek().start;
    const name = reader.name();
    const next = reader.lexer.peek();
    if (targets.length === 0 && (next.type === 'tag-end' || (next.type === 'name' && next.text === 'in'))) {
      const namespace = inNamespace(reader, scope);
      if (reader.tagEnd() === '/>') throw new SyntaxFault(`<#${tag} ${name}> needs a value or a block.`, start);
      const body = reader.closedBlock(tag, start);
      return { kind: 'capture', scope, name, namespace, body, ...reader.span(start) };
    }
    targets.push(parseTarget(reader, name, nameStart));
    const comma = reader.expr.accept(',');
    const after = reader.lexer.peek();
    if (comma && after.type === 'tag-end') throw reader.expr.unexpected(after);
    if (after.type === 'tag-end' || (after.type === 'name' && after.text === 'in')) break;
  }
  const namespace = inNamespace(reader, scope);
  reader.tagEnd();
  return { kind: 'assign', scope, targets, namespace, ...reader.span(start) };
}

function parseTarget(reader: BlockReader, name: string, start: number): AssignTarget {
  const token = reader.lexer.next();
  if (token.type !== 'op' || !OPERATORS.has(token.text)) throw reader.expr.unexpected(token, '"="');
  const op = token.text as AssignOperator;
  const value = op === '++' || op === '--' ? null : reader.expr.expression();
  return { name, op, value, start, end: value?.end ?? token.end };
}

function inNamespace(reader: BlockReader, scope: AssignScope): Expr | null {
  const token = reader.lexer.peek();
  if (token.type !== 'name' || token.text !== 'in') return null;
  if (scope !== 'namespace') throw new SyntaxFault('Only <#assign> takes "in".', token.start);
  reader.lexer.next();
  return reader.expr.expression();
}
