import { NodePermits } from './permit-board.js';

/**
 * Node permits of a family of executions: one set for each generation. A PIPELINE node holds one of its own generation
 * while its child's nodes wait for those of the next, so the youngest generation always gets on and nobody waits in a
 * circle; and however wide the generations are, at most `limit` nodes of each run at a time, not `limit` to the power of
 * the depth.
 */
export class FamilyPermits {
  readonly #generations: NodePermits[] = [];

  constructor(private readonly limit: number) {}

  /** `depth`: 1 for the root. */
  at(depth: number): NodePermits {
    return (this.#generations[depth] ??= new NodePermits(this.limit));
  }
}
