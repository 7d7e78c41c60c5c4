import {
  getNullableType,
  isObjectType,
  OperationTypeNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { operationRow, type Admission, type OperationId } from '#libs/identity';
import { OPERATION_EXTENSION } from '../schema/root-field.js';
import { canonicalArguments } from './canonical-arguments.js';
import type { Lazy } from './lazy.js';
import type { OperationContext } from './operation-context.js';

const PATH = '/graphql';

type Field = GraphQLField<unknown, OperationContext>;
type Resolver = GraphQLFieldResolver<unknown, OperationContext>;

/**
 * Puts the guard before every root field and the operation's deadline around everything that takes time. Root fields
 * become nullable, so that a failed one voids neither its siblings nor the answer of a mutation that committed.
 *
 * @throws TypeError for a root field without a row of the operations table: the server then does not start
 */
export function guardSchema(schema: GraphQLSchema, guard: Admission): GraphQLSchema {
  openRoots(schema);
  describeRoots(schema);
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of fieldsOf(root)) {
      field.resolve = guarded(field, guard, required(field, field.resolve));
    }
  }
  for (const field of fieldsOf(schema.getSubscriptionType())) {
    field.subscribe = guarded(field, guard, required(field, field.subscribe));
  }
  const roots = new Set<unknown>(rootsOf(schema));
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || roots.has(type)) continue;
    for (const field of fieldsOf(type)) {
      if (field.resolve) field.resolve = timed(`${type.name}.${field.name}`, field.resolve, guard);
    }
  }
  return schema;
}

/** Makes every root field nullable. */
export function openRoots(schema: GraphQLSchema): void {
  for (const root of rootsOf(schema)) for (const field of fieldsOf(root)) field.type = getNullableType(field.type);
}

/** Says what the roots are for; no class of theirs could. */
export function describeRoots(schema: GraphQLSchema): void {
  const [query, mutation, subscription] = rootsOf(schema);
  if (query) query.description = 'What can be read, in the active workspace of who asks.';
  if (mutation) mutation.description = 'What can be changed: one after another, each by an `input` of its own.';
  if (subscription) subscription.description = 'What can be watched, over `POST /graphql/stream`.';
}

/** The row of the operations table a root field names. */
export function operationOf(field: Pick<GraphQLField<unknown, unknown>, 'name' | 'extensions'>): OperationId {
  const operation = field.extensions[OPERATION_EXTENSION] as OperationId | undefined;
  if (operation === undefined) throw new TypeError(`the root field ${field.name} names no operation`);
  operationRow(operation);
  return operation;
}

function rootsOf(schema: GraphQLSchema): (GraphQLObjectType | null | undefined)[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
}

function fieldsOf(type: GraphQLObjectType | null | undefined): Field[] {
  return type ? (Object.values(type.getFields()) as Field[]) : [];
}

function required(field: Field, resolver: Resolver | undefined): Resolver {
  if (!resolver) throw new TypeError(`the root field ${field.name} has no resolver`);
  return resolver;
}

function guarded(field: Field, guard: Admission, resolve: Resolver): Resolver {
  const operation = operationOf(field);
  const canonical = canonicalArguments(field.args);
  const work = async (...call: Parameters<Resolver>): Promise<unknown> => {
    if (call[3].operation.operation === OperationTypeNode.MUTATION) call[2].forget();
    await guard.admit(call[2].principal, operation, { path: PATH, method: 'POST' });
    const [source, args, context, info] = call;
    return guard.carryOut(
      context.principal,
      operation,
      () => resolve(source, canonical(args), context, info) as unknown,
    );
  };
  return (...call) => call[2].deadline.within(work(...call));
}

/** Reads what a field gives: a value, a promise, or a `Lazy` that is called now that the field is selected. */
function timed(name: string, resolve: Resolver, guard: Admission): Resolver {
  return (source, args, context, info) => {
    let given: unknown = resolve(source, args, context, info);
    if (typeof given === 'function') given = (given as Lazy<unknown>)(args, context);
    if (!(given instanceof Promise)) return given;
    return context.deadline.within(guard.carriedOut(context.principal, name, given));
  };
}
