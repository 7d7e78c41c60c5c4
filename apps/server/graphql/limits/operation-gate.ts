import {
  getOperationAST,
  getVariableValues,
  GraphQLError,
  Kind,
  NoFragmentCyclesRule,
  OperationTypeNode,
  parse,
  validate,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { isPenstockError, PenstockError } from '#libs/kernel';
import { asGraphqlError } from '../errors/error-format.js';
import { protocolError, withProtocolCode, type ProtocolCode } from '../errors/protocol-error.js';
import { DocumentShapes, type OperationShape } from './document-shape.js';
import { judgeTokens, judgeLiterals } from './literals.js';
import { OperationCost } from './operation-cost.js';

export interface OperationLimits {
  documentBytes: number;
  tokens: number;
  depth: number;
  aliases: number;
  rootFields: number;
  cost: number;
  pageMax: number;
  introspection: boolean;
}

export interface OperationRequest {
  query: string;
  operationName?: string | undefined;
  variables?: Record<string, unknown> | undefined;
}

/** An operation that may run. */
export interface AdmittedOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  cost: number;
}

/** Refused before anything ran: the status is the first error's. */
export interface RefusedOperation {
  refused: readonly GraphQLError[];
}

export type Verdict = AdmittedOperation | RefusedOperation;

const MAX_MUTATION_FIELDS = 10;
export const DEFAULT_PAGE = 50;
const CACHED_DOCUMENTS = 500;
/** A parsed document takes some hundred times the bytes of its text: without this, 500 large ones would fill the heap. */
const CACHED_CHARS = 500_000;
/** Each tells the whole value it is about: 50, as graphql-js lists, would write a body of 1 MB fifty times. */
const MAX_VARIABLE_ERRORS = 5;
/** Each names every fragment on its way, with its place. */
const MAX_CIRCLES = 2;
/** Of the message of one refusal; it may quote what was sent. */
const MAX_MESSAGE_CHARS = 1000;

/**
 * The one judge of operations, for both paths (03 §12). In this order: size and tokens, shape (depth, aliases, root
 * fields; by syntax alone), rules of validation, which operation, variables, pages and cost. A document is parsed and
 * validated once; only variables are judged each time.
 */
export class OperationGate {
  readonly #documents = new LRUCache<string, DocumentNode | RefusedOperation>({
    max: CACHED_DOCUMENTS,
    maxSize: CACHED_CHARS,
  });
  /** What operations without variables cost; theirs never changes. */
  readonly #costs = new WeakMap<OperationDefinitionNode, number>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly limits: OperationLimits,
  ) {}

  judge({ query, operationName, variables }: OperationRequest): Verdict {
    try {
      const document = this.#document(query);
      if ('refused' in document) return document;
      const operation = getOperationAST(document, operationName);
      if (!operation) return { refused: [unresolved(operationName)] };
      return this.#withVariables(document, operation, variables ?? {});
    } catch (error) {
      if (isPenstockError(error)) return { refused: [asGraphqlError(error)] };
      // An argument that a variable should have filled.
      if (error instanceof GraphQLError) return refusal([error], 'BAD_USER_INPUT');
      throw error;
    }
  }

  #document(query: string): DocumentNode | RefusedOperation {
    const limit = this.limits.documentBytes;
    if (Buffer.byteLength(query) > limit) throw over('graphql.document_too_large', 'The document', limit, 'bytes');
    const known = this.#documents.get(query);
    if (known) return known;
    const fresh = this.#read(query);
    this.#documents.set(query, fresh, { size: query.length });
    return fresh;
  }

  #read(query: string): DocumentNode | RefusedOperation {
    let document: DocumentNode;
    try {
      judgeTokens(query, this.limits.tokens);
      document = parse(query);
    } catch (error) {
      if (error instanceof GraphQLError) return refusal([error], 'GRAPHQL_PARSE_FAILED');
      throw error;
    }
    this.#judgeShapes(document);
    judgeLiterals(document);
    const hideSuggestions = !this.limits.introspection;
    // Circles first: the rule that compares fragments by pairs would run through them as deep as there are pairs.
    const circles = validate(this.schema, document, [NoFragmentCyclesRule], { maxErrors: MAX_CIRCLES });
    if (circles.length > 0) return refusal(circles, 'GRAPHQL_VALIDATION_FAILED');
    const errors = validate(this.schema, document, undefined, { hideSuggestions });
    if (errors.length > 0) return refusal(errors, 'GRAPHQL_VALIDATION_FAILED');
    return document;
  }

  /** Every operation of the document, also those that are not asked for: validation will read them all. */
  #judgeShapes(document: DocumentNode): void {
    const shapes = new DocumentShapes(document);
    for (const definition of document.definitions) {
      if (definition.kind === Kind.OPERATION_DEFINITION) this.#judgeShape(definition, shapes.of(definition));
    }
  }

  #judgeShape({ operation }: OperationDefinitionNode, shape: OperationShape): void {
    const { limits } = this;
    if (shape.introspects && !limits.introspection) throw new PenstockError('graphql.introspection_disabled');
    if (shape.depth > limits.depth)
      throw over('graphql.too_deep', 'The operation', limits.depth, 'levels', shape.depth);
    if (shape.aliases > limits.aliases) {
      throw over('graphql.too_many_aliases', 'The operation', limits.aliases, 'aliases', shape.aliases);
    }
    const roots = operation === OperationTypeNode.MUTATION ? MAX_MUTATION_FIELDS : limits.rootFields;
    if (shape.rootFields > roots) {
      throw over('graphql.too_many_root_fields', `The ${operation}`, roots, 'root fields', shape.rootFields);
    }
  }

  #withVariables(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Record<string, unknown>,
  ): Verdict {
    const given = getVariableValues(this.schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: MAX_VARIABLE_ERRORS,
      hideSuggestions: !this.limits.introspection,
    });
    if (given.errors) return refusal(given.errors, 'BAD_USER_INPUT');
    const max = this.limits.cost;
    const cost = this.#costs.get(operation) ?? this.#costOf(document, operation, given.coerced);
    if (cost > max) {
      throw new PenstockError('graphql.too_complex', {
        message: `The operation costs ${cost}; at most ${max} is allowed. Ask for smaller pages or fewer fields.`,
        details: { requested: cost, max },
      });
    }
    return { document, operation, cost };
  }

  #costOf(document: DocumentNode, operation: OperationDefinitionNode, variables: Record<string, unknown>): number {
    const { pageMax } = this.limits;
    const rules = { defaultPage: Math.min(DEFAULT_PAGE, pageMax), maxPage: pageMax };
    const cost = new OperationCost(this.schema, fragmentsOf(document), variables, rules).of(operation);
    if (!operation.variableDefinitions?.length) this.#costs.set(operation, cost);
    return cost;
  }
}

function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  return new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  );
}

type LimitCode =
  'graphql.document_too_large' | 'graphql.too_deep' | 'graphql.too_many_aliases' | 'graphql.too_many_root_fields';

function over(code: LimitCode, subject: string, limit: number, unit: string, actual?: number): PenstockError {
  const found = actual === undefined ? '' : `has ${counted(actual)} ${unit}; `;
  return new PenstockError(code, {
    message: `${subject} ${found}${found ? '' : 'may have '}at most ${limit}${found ? ' are allowed' : ` ${unit}`}.`,
    details: { limit, ...(actual === undefined ? {} : { actual: counted(actual) }) },
  });
}

/** An expansion may have more fields than a number can say. */
function counted(actual: number): number {
  return Math.min(actual, Number.MAX_SAFE_INTEGER);
}

function refusal(errors: readonly GraphQLError[], code: ProtocolCode): RefusedOperation {
  return { refused: errors.map((error) => withProtocolCode(error, code, MAX_MESSAGE_CHARS)) };
}

function unresolved(operationName: string | undefined): GraphQLError {
  const message = operationName
    ? 'The document has no operation of the name given in “operationName”.'
    : 'The document must have exactly one operation, or “operationName” must name one.';
  return protocolError(message, 'OPERATION_RESOLUTION_FAILURE');
}
