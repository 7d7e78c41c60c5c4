import { SyntaxFault } from '../problems.js';
import type { BlockReader } from './block-reader.js';
import type { Branch, Node, SwitchCase } from './nodes.js';

export function parseIf(reader: BlockReader, start: number, after: number): Node {
  const branches: Branch[] = [];
  reader.enter(after);
  let test = reader.expr.expression();
  let from = start;
  reader.blockEnd();
  for (;;) {
    branches.push({ test, body: reader.block(), ...reader.span(from) });
    const stop = reader.stop();
    if (stop?.kind === 'tag' && stop.name === 'elseif') {
      from = stop.at;
      reader.enter(stop.after);
      test = reader.expr.expression();
      reader.tagEnd();
    } else if (stop?.kind === 'tag' && stop.name === 'else') {
      reader.bareTag(stop.after);
      branches.push({ test: null, body: reader.closedBlock('if', start), ...reader.span(stop.at) });
      return { kind: 'if', branches, ...reader.span(start) };
    } else if (stop?.kind === 'tag-end' && stop.name === 'if') {
      reader.bareBlockTag(stop.after);
      return { kind: 'if', branches, ...reader.span(start) };
    } else {
      throw reader.unclosed('if', start, stop);
    }
  }
}

const LOOP = { inLoop: true, breakable: true, awaitsItems: false };

export function parseList(reader: BlockReader, name: 'list' | 'foreach' | 'items', start: number, after: number): Node {
  reader.enter(after);
  if (name === 'items') return parseItems(reader, start);
  if (name === 'foreach') {
    const item = reader.identifier();
    reader.keyword('in');
    const source = reader.expr.expression();
    reader.blockEnd();
    const body = reader.closedBlock('foreach', start, LOOP);
    return { kind: 'list', source, item, value: null, body, otherwise: null, ...reader.span(start) };
  }
  const source = reader.expr.expression();
  const { item, value } = loopNames(reader);
  reader.blockEnd();
  const outerItems = reader.items;
  reader.items = 0;
  const body = reader.blockIn(item === null ? { awaitsItems: true } : LOOP);
  const stop = reader.stop();
  if (item === null && reader.items === 0) {
    throw new SyntaxFault('<#list> needs "as" or an <#items> inside.', start);
  }
  reader.items = outerItems;
  if (stop?.kind === 'tag' && stop.name === 'else') {
    reader.bareTag(stop.after);
    const otherwise = reader.closedBlock('list', start);
    return { kind: 'list', source, item, value, body, otherwise, ...reader.span(start) };
  }
  if (stop?.kind !== 'tag-end' || stop.name !== 'list') throw reader.unclosed('list', start, stop);
  reader.bareBlockTag(stop.after);
  return { kind: 'list', source, item, value, body, otherwise: null, ...reader.span(start) };
}

function loopNames(reader: BlockReader): { item: string | null; value: string | null } {
  if (reader.lexer.peek().type === 'tag-end') return { item: null, value: null };
  reader.keyword('as');
  const item = reader.identifier();
  if (!reader.expr.accept(',')) return { item, value: null };
  const value = reader.identifier();
  if (value === item) throw new SyntaxFault('Key and value need different names.', reader.lexer.peek().start);
  return { item, value };
}

function parseItems(reader: BlockReader, start: number): Node {
  if (!reader.surroundings.awaitsItems) throw new SyntaxFault('<#items> outside a <#list> without "as".', start);
  const { item, value } = loopNames(reader);
  if (item === null) throw new SyntaxFault('<#items> needs "as".', start);
  reader.blockEnd();
  const body = reader.closedBlock('items', start, LOOP);
  reader.items++;
  return { kind: 'items', item, value, body, ...reader.span(start) };
}

export function parseSwitch(reader: BlockReader, start: number, after: number): Node {
  reader.enter(after);
  const subject = reader.expr.expression();
  reader.blockEnd();
  const lead = reader.block();
  const stray = lead.find((node) => node.kind !== 'comment' && (node.kind !== 'text' || node.text.trim() !== ''));
  if (stray) throw new SyntaxFault('Only blanks and comments may stand before the first <#case>.', stray.start);
  const cases: SwitchCase[] = [];
  for (;;) {
    const stop = reader.stop();
    if (stop?.kind === 'tag-end' && stop.name === 'switch') {
      reader.bareBlockTag(stop.after);
      return { kind: 'switch', subject, cases, ...reader.span(start) };
    }
    if (stop?.kind !== 'tag' || (stop.name !== 'case' && stop.name !== 'on' && stop.name !== 'default')) {
      throw reader.unclosed('switch', start, stop);
    }
    cases.push(parseCase(reader, stop.name, stop.at, stop.after, cases));
  }
}

function parseCase(
  reader: BlockReader,
  kind: SwitchCase['kind'],
  start: number,
  after: number,
  before: readonly SwitchCase[],
): SwitchCase {
  const clash = kind === 'case' ? 'on' : kind === 'on' ? 'case' : 'default';
  if (before.some((one) => one.kind === clash)) {
    const message = kind === 'default' ? 'Two <#default> in one switch.' : '<#case> and <#on> in one switch.';
    throw new SyntaxFault(message, start);
  }
  const tests = [];
  if (kind === 'default') reader.bareBlockTag(after);
  else {
    reader.enter(after);
    do tests.push(reader.expr.expression());
    while (kind === 'on' && reader.expr.accept(','));
    reader.blockEnd();
  }
  return { kind, tests, body: reader.blockIn({ breakable: true }), ...reader.span(start) };
}
