import { reflected } from '#libs/templates';
import { quoteForMessage } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import type { ReadNode } from '../document/read-nodes.js';

/** Longest circle shown whole. */
const MAX_CIRCLE_SHOWN = 50;

/** Every dependency names a node, and no node waits for itself. All walks are iterative and linear in the edges. */
export function judgeGraph(nodes: readonly ReadNode[], notes: Notes): void {
  const positions = new Map<string, number>();
  for (const [position, { id }] of nodes.entries())
    if (id !== undefined && !positions.has(id)) positions.set(id, position);
  const edges = nodes.map((node) => resolve(node, positions, notes));
  for (const component of circularComponents(edges)) {
    const circle = shortestCircle(component, edges);
    const path = circle.map((position) => reflected(nodes[position]?.id ?? '')).slice(0, MAX_CIRCLE_SHOWN);
    notes.fail(
      'pipeline.validation.cycle_detected',
      `${nodes[component[0]!]!.path}.depends_on`,
      `These nodes wait for each other: ${path.slice(0, 10).join(' → ')}. Remove one of the dependencies.`,
      { cycle_path: path },
    );
  }
}

/** Positions of the nodes a node depends on, each once. */
function resolve(node: ReadNode, positions: ReadonlyMap<string, number>, notes: Notes): number[] {
  const targets = new Set<number>();
  for (const [index, id] of node.dependsOn.entries()) {
    const target = positions.get(id);
    if (target !== undefined) targets.add(target);
    else if (!notes.isFull) {
      notes.fail(
        'pipeline.validation.dangling_dependency',
        `${node.path}.depends_on[${index}]`,
        `There is no node ${quoteForMessage(id)}.`,
        { dependency: reflected(id) },
      );
    }
  }
  return [...targets];
}

/** Strongly connected components of more than one node, or of one that depends on itself (Tarjan, with its own stack). */
function circularComponents(edges: readonly (readonly number[])[]): number[][] {
  const order = new Array<number>(edges.length).fill(-1);
  const low = new Array<number>(edges.length).fill(0);
  const onStack = new Array<boolean>(edges.length).fill(false);
  const stack: number[] = [];
  const components: number[][] = [];
  let counter = 0;
  const enter = (node: number): void => {
    order[node] = low[node] = counter++;
    stack.push(node);
    onStack[node] = true;
  };
  for (let root = 0; root < edges.length; root++) {
    if (order[root] !== -1) continue;
    const frames: { node: number; next: number }[] = [{ node: root, next: 0 }];
    enter(root);
    for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
      const { node } = frame;
      const target = edges[node]![frame.next++];
      if (target !== undefined) {
        if (order[target] === -1) {
          enter(target);
          frames.push({ node: target, next: 0 });
        } else if (onStack[target]) low[node] = Math.min(low[node]!, order[target]!);
        continue;
      }
      frames.pop();
      const parent = frames.at(-1);
      if (parent) low[parent.node] = Math.min(low[parent.node]!, low[node]!);
      if (low[node] !== order[node]) continue;
      const component = stack.splice(stack.lastIndexOf(node));
      for (const member of component) onStack[member] = false;
      if (component.length > 1 || edges[node]!.includes(node)) components.push(component.sort((a, b) => a - b));
    }
  }
  return components.sort((a, b) => a[0]! - b[0]!);
}

/** A shortest circle through the first node of a component, beginning and ending with it. */
function shortestCircle(component: readonly number[], edges: readonly (readonly number[])[]): number[] {
  const start = component[0]!;
  const members = new Set(component);
  const cameFrom = new Map<number, number>();
  const queue = [start];
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head]!;
    for (const target of edges[node]!) {
      if (target === start) return backTo(start, node, cameFrom);
      if (!members.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, node);
      queue.push(target);
    }
  }
  return [start, start];
}

function backTo(start: number, end: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const path = [start];
  for (let node = end; node !== start; node = cameFrom.get(node) ?? start) path.unshift(node);
  path.unshift(start);
  return path;
}
