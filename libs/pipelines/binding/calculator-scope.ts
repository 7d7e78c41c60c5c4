import type { ContextValue } from '#libs/ftl';
import type { TypedValue } from '#libs/typesystem';
import { Ancestry } from '../document/ancestry.js';
import type { PipelineDocument } from '../document/pipeline-document.js';

interface Writer {
  key: string;
  position: number;
}

/**
 * What each node of a run sees of the calculators (contract 01 §3.3, tier 5): the outputs of those it depends on, so
 * that a value never hangs on which node was faster. Holds the values of one run.
 */
export class CalculatorScope {
  readonly #values = new Map<string, ContextValue>();
  readonly #positions: ReadonlyMap<string, number>;
  readonly #writers: readonly Writer[];
  readonly #ancestry: Ancestry | undefined;

  constructor(
    { nodes }: Pick<PipelineDocument, 'nodes'>,
    private readonly base: ReadonlyMap<string, ContextValue>,
  ) {
    this.#writers = nodes.flatMap((node, position) =>
      node.type === 'CALCULATOR' ? node.outputs.map(({ key }) => ({ key, position })) : [],
    );
    this.#positions = new Map(nodes.map(({ id }, position) => [id, position]));
    this.#ancestry = this.#writers.length === 0 ? undefined : Ancestry.of(nodes);
  }

  set(key: string, { type, value }: TypedValue): void {
    this.#values.set(key, { type, value, origin: 'calculator' });
  }

  /** The Context of one node. */
  of(nodeId: string): ReadonlyMap<string, ContextValue> {
    const position = this.#positions.get(nodeId);
    if (!this.#ancestry || position === undefined) return this.base;
    const context = new Map(this.base);
    for (const writer of this.#writers) {
      const value = this.#values.get(writer.key);
      if (value && this.#ancestry.precedes(writer.position, position)) context.set(writer.key, value);
    }
    return context;
  }

  /** The Context with everything that was computed: what `parameters_json` keeps at the end. */
  whole(): ReadonlyMap<string, ContextValue> {
    return this.#values.size === 0 ? this.base : new Map([...this.base, ...this.#values]);
  }
}
