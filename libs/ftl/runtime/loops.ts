import type { Block, ListNode, Node, Span } from '../syntax/nodes.js';
import { fragmentFault } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import type { Signal } from './signal.js';
import type { Frame, ItemSource, LoopTurn } from './scopes.js';
import { describe, isNothing, type Value } from './values.js';

export function listDirective(run: Interpretation, node: ListNode): Signal {
  const source = sourceOf(run, run.need(node.source), node);
  if (source.size === 0) return node.otherwise ? run.execute(node.otherwise) : 'done';
  if (node.item !== null) return loop(run, source, [node.item, node.value], node);
  const { scope } = run;
  run.scope = { ...scope, items: { source, done: false } };
  const signal = run.execute(node.body);
  run.scope = scope;
  return signal;
}

export function itemsDirective(run: Interpretation, node: Extract<Node, { kind: 'items' }>): Signal {
  const pending = run.scope.items;
  if (!pending) throw run.fault(node, '<#items> without its <#list>.');
  if (pending.done) throw run.fault(node, '<#items> ran already for this <#list>.');
  pending.done = true;
  return loop(run, pending.source, [node.item, node.value], node);
}

function sourceOf(run: Interpretation, value: Value, node: ListNode): ItemSource {
  if (value.kind === 'hash') {
    const entries = value.entries();
    if (!entries) throw run.fault(node.source, 'The names of this hash cannot be listed.');
    return { size: entries.length, paired: true, at: (i) => [entries[i]!.key, entries[i]!.value] };
  }
  if (value.kind === 'sequence') return { size: value.size, paired: false, at: (i) => [value.at(i)] };
  if (isNothing(value)) return { size: 0, paired: false, at: () => [] };
  if (value.kind === 'fragment') throw fragmentFault(run, node.source);
  throw run.fault(node.source, `Expected a sequence or hash, found ${describe(value)}.`);
}

function loop(
  run: Interpretation,
  source: ItemSource,
  names: [string, string | null],
  node: Span & { body: Block },
): Signal {
  if (source.paired !== (names[1] !== null)) {
    const needed = source.paired ? 'A hash needs two loop variables (as k, v).' : 'A sequence takes one loop variable.';
    throw run.fault(node, needed);
  }
  const { scope } = run;
  const turn: LoopTurn = { name: names[0], index: 0, hasNext: true };
  const vars = new Map<string, Value | undefined>();
  const frame: Frame = { vars, loop: turn, parent: scope.frame };
  run.scope = { ...scope, frame, items: null };
  let signal: Signal = 'done';
  for (; turn.index < source.size; turn.index++) {
    run.budget.iterate();
    turn.hasNext = turn.index + 1 < source.size;
    const [item, value] = source.at(turn.index);
    vars.set(names[0], item);
    if (names[1] !== null) vars.set(names[1], value);
    signal = run.execute(node.body);
    if (signal === 'break' || signal === 'return') break;
  }
  run.scope = scope;
  return signal === 'return' ? 'return' : 'done';
}

export function separator(run: Interpretation, body: Block): Signal {
  for (let frame = run.scope.frame; frame; frame = frame.parent) {
    if (frame.loop) return frame.loop.hasNext ? run.execute(body) : 'done';
  }
  return 'done';
}
