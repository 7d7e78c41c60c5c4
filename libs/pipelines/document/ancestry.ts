/** Nodes with their dependencies, as far as they could be read. */
export interface Dependent {
  id?: string | undefined;
  dependsOn: readonly string[];
}

/**
 * Which nodes are sure to have run before which, by their positions. One row of bits per node, filled in topological
 * order: a thousand nodes with every edge there can be take milliseconds.
 */
export class Ancestry {
  readonly #words: number;
  readonly #bits: Uint32Array;
  /** In a circle, or behind one: nothing is known of its order. */
  readonly #unordered: Uint8Array;

  private constructor(parents: readonly (readonly number[])[]) {
    this.#words = Math.ceil(parents.length / 32);
    this.#bits = new Uint32Array(this.#words * parents.length);
    this.#unordered = new Uint8Array(parents.length).fill(1);
    for (const node of topologicalOrder(parents)) {
      this.#unordered[node] = 0;
      for (const parent of parents[node]!) this.#inherit(node, parent);
    }
  }

  /** Names that no node has, and repeated ids, are passed over: other rules tell of them. */
  static of(nodes: readonly Dependent[]): Ancestry {
    const positions = new Map<string, number>();
    for (const [position, { id }] of nodes.entries()) {
      if (id !== undefined && !positions.has(id)) positions.set(id, position);
    }
    return new Ancestry(nodes.map(({ dependsOn }) => [...new Set(dependsOn)].flatMap((id) => positions.get(id) ?? [])));
  }

  /** True also where circles leave the question without an answer. */
  precedes(first: number, second: number): boolean {
    if (this.#unordered[second]) return true;
    return ((this.#bits[second * this.#words + (first >>> 5)]! >>> (first & 31)) & 1) === 1;
  }

  #inherit(node: number, parent: number): void {
    const to = node * this.#words;
    const from = parent * this.#words;
    for (let word = 0; word < this.#words; word++) this.#bits[to + word]! |= this.#bits[from + word]!;
    this.#bits[to + (parent >>> 5)]! |= 1 << (parent & 31);
  }
}

/** Parents before children; what stands in a circle or behind one is left out. */
function topologicalOrder(parents: readonly (readonly number[])[]): number[] {
  const children: number[][] = parents.map(() => []);
  const waiting = parents.map((list) => list.length);
  for (const [node, list] of parents.entries()) for (const parent of list) children[parent]!.push(node);
  const order = waiting.flatMap((count, node) => (count === 0 ? [node] : []));
  for (let next = 0; next < order.length; next++) {
    for (const child of children[order[next]!]!) if (--waiting[child]! === 0) order.push(child);
  }
  return order;
}
