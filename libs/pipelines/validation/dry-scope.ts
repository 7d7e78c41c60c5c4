import type { ContextValue } from '#libs/ftl';
import type { ColumnType } from '#libs/typesystem';
import type { Ancestry } from '../document/ancestry.js';
import type { KeyWriter } from './context-keys.js';

export type DryContexts = readonly ReadonlyMap<string, ContextValue>[];

/** The Contexts each node is rendered with at a save: like a run's, with the calculators it depends on. */
export class DryScope {
  readonly #contexts = new Map<string, DryContexts>();
  readonly #writers: readonly KeyWriter[];

  constructor(
    private readonly make: (computed: ReadonlyMap<string, ColumnType | undefined>) => DryContexts,
    readonly writers: ReadonlyMap<string, KeyWriter>,
    private readonly ancestry: () => Ancestry,
  ) {
    this.#writers = [...writers.values()];
  }

  /** The same object for nodes that see the same. */
  of(position: number): DryContexts {
    const seen = this.#writers.filter((writer) => this.ancestry().precedes(writer.position, position));
    const signature = seen.map((writer) => writer.key).join(' ');
    let contexts = this.#contexts.get(signature);
    if (!contexts) {
      contexts = this.make(new Map(seen.map(({ key, type }) => [key, type])));
      this.#contexts.set(signature, contexts);
    }
    return contexts;
  }
}
