import { PenstockError } from '#libs/kernel';

/** What a scheduler needs to know of a node. */
export interface Schedulable {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/**
 * The order of a pipeline: Kahn counting over `depends_on`, iterative, so that a chain of a thousand nodes needs no
 * stack (contract 02 §4). Nodes are handed out by their index in the body.
 */
export class DependencyGraph {
  readonly #waitsFor: Uint32Array;
  readonly #dependents: number[][];

  private constructor(waitsFor: Uint32Array, dependents: number[][]) {
    this.#waitsFor = waitsFor;
    this.#dependents = dependents;
  }

  /** A stored body is not validated again; one with a cycle or a dangling edge is `pipeline.execution.aborted`. */
  static of(nodes: readonly Schedulable[]): DependencyGraph {
    const indexOf = new Map(nodes.map((node, index) => [node.id, index]));
    const waitsFor = new Uint32Array(nodes.length);
    const dependents: number[][] = nodes.map(() => []);
    nodes.forEach((node, index) => {
      for (const id of new Set(node.dependsOn)) {
        const source = indexOf.get(id);
        if (source === undefined) throw invalidGraph(`Node "${node.id}" depends on "${id}", which does not exist.`);
        dependents[source]!.push(index);
        waitsFor[index]!++;
      }
    });
    const graph = new DependencyGraph(waitsFor, dependents);
    graph.#refuseCycle();
    return graph;
  }

  /** Indexes of the nodes that wait for nothing, in body order. */
  roots(): number[] {
    return [...this.#waitsFor.keys()].filter((index) => this.#waitsFor[index] === 0);
  }

  /** Marks a node as finished; the nodes that wait for nothing any more, in body order. */
  finish(index: number): number[] {
    const ready = this.#dependents[index]!.filter((dependent) => --this.#waitsFor[dependent]! === 0);
    return ready.sort((a, b) => a - b);
  }

  #refuseCycle(): void {
    const left = this.#waitsFor.slice();
    const queue = this.roots();
    for (let at = 0; at < queue.length; at++) {
      for (const dependent of this.#dependents[queue[at]!]!) {
        if (--left[dependent]! === 0) queue.push(dependent);
      }
    }
    if (queue.length < left.length) throw invalidGraph('The nodes of the pipeline wait for each other in a circle.');
  }
}

function invalidGraph(message: string): PenstockError {
  return new PenstockError('pipeline.execution.aborted', { message, details: { reason: 'invalid_graph' } });
}
