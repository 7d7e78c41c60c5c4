import {
  getArgumentValues,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  typeFromAST,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { PenstockError } from '#libs/kernel';

/** Name under which a field's own cost stands in its `extensions`, where the general rule would be wrong. */
export const COST = 'cost';

/** What selecting one field costs (03 §12). */
const OBJECT_COST = 1;
const DOCUMENT_COST = 5;
const DOCUMENTS = new Set(['JSON', 'JsonText']);
/** Carriers of a page: they are not objects of their own. */
const CARRIERS = new Set(['edges', 'nodes', 'pageInfo']);
/** What stands below these is there once per row of the page. */
const PER_ROW = new Set(['edges', 'nodes']);

export interface CostRules {
  defaultPage: number;
  maxPage: number;
}

/** Inside a connection, what its rows cost is multiplied by the page size, and the rest is not. */
interface Cost {
  once: number;
  perRow: number;
}

const FREE: Cost = { once: 0, perRow: 0 };

/**
 * Judges a valid operation with its variables: the pages it asks for, and what it costs. Fragments are expanded, each
 * is judged once; it stands on its own type, so its cost is the same wherever it is spread.
 */
export class OperationCost {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #judged = new Map<string, Cost>();

  constructor(
    private readonly schema: GraphQLSchema,
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    private readonly variables: Record<string, unknown>,
    private readonly rules: CostRules,
  ) {
    this.#fragments = fragments;
  }

  /** @throws `graphql.pagination_invalid` */
  of(operation: OperationDefinitionNode): number {
    const root = this.schema.getRootType(operation.operation);
    return root ? this.#set(operation.selectionSet, root).once : 0;
  }

  #set(set: SelectionSetNode, parent: GraphQLNamedType): Cost {
    const sum = { ...FREE };
    for (const selection of set.selections) {
      const cost = this.#selection(selection, parent);
      sum.once += cost.once;
      sum.perRow += cost.perRow;
    }
    return sum;
  }

  #selection(selection: SelectionNode, parent: GraphQLNamedType): Cost {
    if (selection.kind === Kind.FIELD) return this.#field(selection, parent);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value);
    const { typeCondition } = selection;
    const type = typeCondition ? typeFromAST(this.schema, typeCondition) : parent;
    return type ? this.#set(selection.selectionSet, type) : FREE;
  }

  #fragment(name: string): Cost {
    const known = this.#judged.get(name);
    if (known) return known;
    const fragment = this.#fragments.get(name);
    const type = fragment && typeFromAST(this.schema, fragment.typeCondition);
    const cost = type ? this.#set(fragment.selectionSet, type) : FREE;
    this.#judged.set(name, cost);
    return cost;
  }

  #field(node: FieldNode, parent: GraphQLNamedType): Cost {
    const field = fieldOf(parent, node.name.value);
    // Introspection has a bound of its own and reads nothing but memory.
    if (!field) return FREE;
    const type = getNamedType(field.type);
    const page = isConnection(type) ? this.#pageSize(field, node) : 0;
    const below = node.selectionSet ? this.#set(node.selectionSet, type) : FREE;
    const inside = below.once + below.perRow * page;
    const own = ownCost(field, type, isConnection(parent));
    return isConnection(parent) && PER_ROW.has(field.name)
      ? { once: 0, perRow: own + inside }
      : { once: own + inside, perRow: 0 };
  }

  #pageSize(field: GraphQLField<unknown, unknown>, node: FieldNode): number {
    const { first, after, last, before } = getArgumentValues(field, node, this.variables);
    const { maxPage, defaultPage } = this.rules;
    const reason = pageDefect({ first, after, last, before }, maxPage);
    if (reason !== undefined) {
      throw new PenstockError('graphql.pagination_invalid', {
        message: `Page of “${node.alias?.value ?? node.name.value}”: ask for first with after, or last with before, from 0 to ${maxPage}.`,
        details: { field: node.alias?.value ?? node.name.value, reason, max: maxPage },
      });
    }
    return typeof first === 'number' ? first : typeof last === 'number' ? last : defaultPage;
  }
}

type PageArguments = Record<'first' | 'after' | 'last' | 'before', unknown>;

function pageDefect({ first, after, last, before }: PageArguments, max: number): string | undefined {
  if (first != null && last != null) return 'first_and_last';
  if (last == null && before != null) return 'before_without_last';
  if (last != null && after != null) return 'after_with_last';
  const size = first ?? last;
  if (typeof size === 'number' && size < 0) return 'negative';
  if (typeof size === 'number' && size > max) return 'too_large';
  return undefined;
}

function fieldOf(parent: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

/** A connection is known by its shape, so that a new one cannot forget to count. */
function isConnection(type: GraphQLNamedType): boolean {
  return isObjectType(type) && type.name.endsWith('Connection') && 'pageInfo' in type.getFields();
}

function ownCost(field: GraphQLField<unknown, unknown>, type: GraphQLNamedType, inConnection: boolean): number {
  const declared = field.extensions[COST];
  if (typeof declared === 'number') return declared;
  if (inConnection && CARRIERS.has(field.name)) return 0;
  if (inConnection && field.name === 'totalCount') return DOCUMENT_COST;
  if (isCompositeType(type)) return OBJECT_COST;
  return DOCUMENTS.has(type.name) ? DOCUMENT_COST : 0;
}
