import { setImmediate as nextTurn } from 'node:timers/promises';
import { DependencyGraph, type Schedulable } from './dependency-graph.js';
import type { NodePermits, Permit, NodeBoard } from './permit-board.js';

/** After this much work in place the event loop gets a turn (contract 02 §1). */
const LONGEST_TURN_MS = 5;

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
  /** When work in place began that no turn of the event loop has ended. */
  #heldSince: number | undefined;

  constructor(
    private readonly nodes: readonly N[],
    private readonly board: NodeBoard,
    private readonly dispatch: NodeDispatch<N>,
    private readonly permits: NodePermits,
    graph: DependencyGraph = DependencyGraph.of(nodes),
  ) {
    this.#graph = graph;
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
      if (this.dispatch.inPlace?.(node)) await this.#letOthersRun(signal);
      else permit = await this.board.take(this.permits, this.dispatch.datasources(node), signal);
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

  /** Nodes that wait for nothing follow each other without a turn of the event loop, however many there are. */
  async #letOthersRun(signal: AbortSignal): Promise<void> {
    this.#heldSince ??= performance.now();
    if (performance.now() - this.#heldSince < LONGEST_TURN_MS) return;
    await nextTurn();
    this.#heldSince = undefined;
    signal.throwIfAborted();
  }
}
