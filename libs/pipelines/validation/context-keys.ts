import type { ColumnType } from '#libs/typesystem';
import { SURROUNDING_TYPES } from '../binding/context-builder.js';
import type { Ancestry } from '../document/ancestry.js';
import { declaredType } from '../document/pipeline-document.js';
import type { ReadBody } from '../document/read-document.js';

/** A calculator key with the node that writes it. */
export interface KeyWriter {
  key: string;
  /** Undefined: any scalar. */
  type: ColumnType | undefined;
  position: number;
  path: string;
}

/** The calculator keys of a body; the first of two that are alike counts. */
export function keyWriters({ nodes }: Pick<ReadBody, 'nodes'>): Map<string, KeyWriter> {
  const writers = new Map<string, KeyWriter>();
  for (const [position, { calculator, path }] of nodes.entries()) {
    for (const { key, type } of calculator?.outputs ?? []) {
      if (!writers.has(key)) writers.set(key, { key, type, position, path });
    }
  }
  return writers;
}

/** What a reference to a Context key finds; `type` is undefined where only the run tells, or the declaration is wrong. */
export type FoundKey = { known: true; type: ColumnType | undefined } | { known: false; writer: KeyWriter | undefined };

/** The Context keys of a body as a node sees them at a save (contract 01 §3.3): with the calculators it depends on. */
export class ContextKeys {
  readonly #declared: ReadonlySet<string>;

  constructor(
    private readonly body: Pick<ReadBody, 'parameters' | 'parameterNames'>,
    private readonly writers: ReadonlyMap<string, KeyWriter>,
    private readonly ancestry: () => Ancestry,
  ) {
    this.#declared = new Set(body.parameterNames);
  }

  /** `writer` of an unknown key computes it, but need not have run before the node at `position`. */
  find(key: string, position: number): FoundKey {
    if (this.#declared.has(key)) {
      const declaration = this.body.parameters.get(key);
      return { known: true, type: declaration && declaredType(declaration) };
    }
    const writer = this.writers.get(key);
    if (writer && this.ancestry().precedes(writer.position, position)) return { known: true, type: writer.type };
    const surrounding = SURROUNDING_TYPES.get(key);
    return surrounding ? { known: true, type: { type: surrounding } } : { known: false, writer };
  }
}

/** How to get a key that is computed, but not surely in time. */
export function unorderedAdvice({ path, position, key }: KeyWriter, reader?: number): string {
  return position === reader
    ? `The node cannot read its own "${key}".`
    : `${path} computes "${key}", and need not have run by then: add it to "depends_on".`;
}
