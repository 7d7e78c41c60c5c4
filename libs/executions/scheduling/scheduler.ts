import { DependencyGraph, type Schedulable } from './dependency-graph.js';
import { NodePermits, type Permit, type PermitBoard } from './permit-board.js';

/** What the scheduler asks of the run it serves. */
export interface NodeDispatch<N extends Schedulable> {
  /** Whether the node runs at once, without a permit: it waits for nothing. */
  inPlace?(node: N): boolean;
  /** Datasources the node needs a permit of; a write-back names source and target. */
  datasources(node: N): readonly string[];
  /** Runs the node to its end. True lets its dependents go on; it never rejects. */
  run(node: N): Promise<boolean>;
  /** The node got no permit in time; recorded as a failed node. Never rejects. */
  refused(node: N, reason: unknown): Promise<void>;
}

/**
 * Runs the nodes of one execution in topological order, as many at a time as its permits allow (contract 02 §4).
 * It decides nothing about outcomes: when the signal aborts, nothing new starts and `run` resolves as soon as what
 * has started is back.
 */
export class Scheduler<N extends Schedulable> {
  readonly #graph: DependencyGraph;
  readonly #permits: NodePermits;

  constructor(
    private readonly nodes: readonly N[],
    private readonly board: PermitBoard,
    private readonly dispatch: NodeDispatch<N>,
    maxParallelNodes: number,
    graph: DependencyGraph = DependencyGraph.of(nodes),
  ) {
    this.#graph = graph;
    this.#permits = new NodePermits(maxParallelNodes);
  }

  /**
   * Resolves when every node has run, or, after an abort, when every started node has ended. Rejects when the dispatch
   * breaks its promise and rejects: to wait on would keep the run, its slot and its heartbeats for ever.
   */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let open = 0;
      const begin = (indexes: readonly number[]) => {
        for (const index of indexes) {
          open++;
          void this.#runNode(index, signal).then((ready) => {
            begin(ready);
            if (--open === 0) resolve();
          }, reject);
        }
      };
      begin(this.#graph.roots());
      if (open === 0) resolve();
    });
  }

  /** The nodes that became ready by this one. */
  async #runNode(index: number, signal: AbortSignal): Promise<readonly number[]> {
    const node = this.nodes[index]!;
    let permit: Permit | undefined;
    try {
      signal.throwIfAborted();
      if (!this.dispatch.inPlace?.(node))
        permit = await this.board.take(this.#permits, this.dispatch.datasources(node), signal);
    } catch (reason) {
      if (!signal.aborted) await this.dispatch.refused(node, reason);
      return [];
    }
    try {
      const goOn = await this.dispatch.run(node);
      return goOn && !signal.aborted ? this.#graph.finish(index) : [];
    } finally {
      permit?.release();
    }
  }
}
