import {
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** How large an operation is with its fragments expanded, whatever the schema says about it. */
export interface OperationShape {
  /** Levels of nested fields. Below `__schema` and `__type` nothing counts: another rule bounds introspection. */
  depth: number;
  aliases: number;
  rootFields: number;
  introspects: boolean;
}

/** The part of a shape that a selection adds to what holds it. */
interface Extent {
  depth: number;
  aliases: number;
  /** Fields of the selection itself, fragments expanded. */
  fields: number;
  introspects: boolean;
}

const EMPTY: Extent = { depth: 0, aliases: 0, fields: 0, introspects: false };
const INTROSPECTION = new Set(['__schema', '__type']);

/**
 * Measures operations by syntax alone, before any rule of validation runs over them. Each fragment is measured once:
 * a document whose expansion would have 2^100 fields is measured in the time of its text. A circle of fragments
 * counts as nothing here; validation reports it.
 */
export class DocumentShapes {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #measured = new Map<string, Extent>();

  constructor(document: DocumentNode) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    }
  }

  of(operation: OperationDefinitionNode): OperationShape {
    const { depth, aliases, fields, introspects } = this.#set(operation.selectionSet);
    return { depth, aliases, rootFields: fields, introspects };
  }

  #set(set: SelectionSetNode): Extent {
    return set.selections.reduce((sum, selection) => joined(sum, this.#selection(selection)), EMPTY);
  }

  #selection(selection: SelectionNode): Extent {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return this.#set(selection.selectionSet);
    const below = selection.selectionSet ? this.#set(selection.selectionSet) : EMPTY;
    const introspects = INTROSPECTION.has(selection.name.value);
    return {
      depth: introspects ? 1 : 1 + below.depth,
      aliases: below.aliases + (selection.alias ? 1 : 0),
      fields: 1,
      introspects: introspects || below.introspects,
    };
  }

  #fragment(name: string): Extent {
    const known = this.#measured.get(name);
    if (known) return known;
    const fragment = this.#fragments.get(name);
    if (!fragment) return EMPTY;
    // Until it is measured, a fragment that spreads itself adds nothing.
    this.#measured.set(name, EMPTY);
    const extent = this.#set(fragment.selectionSet);
    this.#measured.set(name, extent);
    return extent;
  }
}

function joined(left: Extent, right: Extent): Extent {
  return {
    depth: Math.max(left.depth, right.depth),
    aliases: left.aliases + right.aliases,
    fields: left.fields + right.fields,
    introspects: left.introspects || right.introspects,
  };
}
