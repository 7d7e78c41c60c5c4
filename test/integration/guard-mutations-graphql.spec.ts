import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getNamedType, isLeafType, type GraphQLField, type GraphQLSchema } from 'graphql';
import type { OperationId } from '#libs/identity';
import { operationOf } from '../../apps/server/graphql/engine/guarded-schema.js';
import { OPERATION_EXTENSION } from '../../apps/server/graphql/schema/root-field.js';
import { bareSchema } from '../../apps/server/graphql/schema/render-schema.js';
import { FIELD_VECTORS, type FieldVector } from '../fixtures/graphql-vectors.js';
import type { Answer } from '../fixtures/api-client.js';
import { denialFaults, deniedCallers, withoutFloodLimit } from '../fixtures/denial-rows.js';
import type { Caller } from '../fixtures/matrix-callers.js';
import type { Address } from '../fixtures/matrix-scene.js';
import { refusedBy } from '../fixtures/matrix-verdicts.js';
import { MutationScene } from '../fixtures/mutation-scene.js';
import { readOperationsTable } from '../fixtures/operations-table.js';
import { errorOf } from '../fixtures/refusals.js';

/*
 * The judges of the matrix of root fields, held against a server with one guard taken out of the running process.
 */

interface RootField {
  kind: 'query' | 'mutation' | 'subscription';
  field: GraphQLField<unknown, unknown>;
}

const table = readOperationsTable();
/** An operation that no session may do, and what a session is told. */
const NO_SESSION: OperationId = 'endpoint.serve';
const REFUSAL = 'auth.api_key.missing';

let scene: MutationScene;
let fields: Map<string, RootField>;

beforeAll(async () => {
  fields = rootFieldsOf(await bareSchema());
  scene = await MutationScene.start();
}, 120_000);
afterAll(() => scene?.stop());

const rootOf = (name: string): RootField => fields.get(name.split(',')[0] as string) as RootField;
const callerOf = (label: string): Caller => scene.matrix.callers.find((each) => each.label === label) as Caller;

/** What a caller gets of one field: the code of the refusal, `null` for nothing, or `done`. */
async function outcome(name: string, vector: FieldVector, caller: Caller, at: Address): Promise<string | null> {
  const answer = await ask(name, vector, caller, at);
  const code = errorOf(answer)?.code as string | undefined;
  return code ?? (answer.body.data[rootOf(name).field.name] === null ? null : 'done');
}

async function ask(name: string, vector: FieldVector, caller: Caller, at: Address): Promise<Answer> {
  const { kind, field } = rootOf(name);
  const variables = vector.args?.(at, scene.matrix) ?? {};
  const given = field.args.filter((arg) => arg.name in variables);
  const declared = given.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = given.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
  const head = declared === '' ? kind : `${kind}(${declared})`;
  const query = `${head} { ${field.name}${passed === '' ? '' : `(${passed})`} ${selection} }`;
  return caller.client.call('POST', '/graphql', { query, variables });
}

/** Fields that name a workspace are held by what their caller is a member of. */
const byMembership = (name: string, { absent }: FieldVector): boolean =>
  name === 'workspace' || absent === 'workspace.not_found';
const removes = (name: string): boolean => /^(retire|revoke|unpublish|delete|purge|discard|remove)/.test(name);

describe('a workspace predicate or a membership that is not looked at', () => {
  const addressing = Object.entries(FIELD_VECTORS).filter(([, { absent }]) => absent !== undefined);
  // What is removed without its guard is gone for those that come after.
  addressing.sort(([one], [two]) => Number(removes(one)) - Number(removes(two)));

  it.each(addressing)('shows at %s', async (name, vector) => {
    const foreign = () => outcome(name, vector, callerOf('ws admin'), scene.matrix.foreign);
    expect(await foreign()).toBe(vector.absent);
    const without = byMembership(name, vector)
      ? () => scene.withoutMembership(foreign)
      : () => scene.withoutPredicates(foreign);
    const seen = await without();
    expect([vector.absent, 'internal']).not.toContain(seen);
  });
});

describe('a root field that names no operation', () => {
  it('stops the boot, whichever it is', () => {
    for (const [name, { field }] of fields) {
      const { [OPERATION_EXTENSION]: _named, ...others } = field.extensions;
      expect(() => operationOf({ name, extensions: others })).toThrow(`the root field ${name} names no operation`);
    }
  });
});

describe('a root field that names another operation', () => {
  // A denial is no judge here: the services refuse once more what the door let through.
  it.each(Object.entries(FIELD_VECTORS))('shows at %s: whom the table admits is refused', async (name, vector) => {
    const operation = operationOf(rootOf(name).field);
    const operations = vector.operation === undefined ? [operation] : [operation, vector.operation];
    const admitted = scene.matrix.callers.find(
      (each) => each.kind === 'session' && !refusedBy(table, operations, each),
    );
    const attempt = () => outcome(name, vector, admitted as Caller, scene.matrix.absent);
    expect(await attempt()).not.toBe(REFUSAL);
    expect(await scene.judgedAs(operation, NO_SESSION, attempt)).toBe(REFUSAL);
  });
});

describe('a denial', () => {
  let restore: () => void;
  beforeAll(() => {
    restore = withoutFloodLimit();
  });
  afterAll(() => restore());

  it.each(Object.entries(FIELD_VECTORS))('is written down once at %s, whether the guard or a service judged it', async (name, vector) => {
    const asked = [operationOf(rootOf(name).field), ...(vector.operation === undefined ? [] : [vector.operation])];
    const denied = deniedCallers(scene.matrix.callers, table, asked, vector.narrower);
    const faults = denialFaults(scene.server.test.database, asked, denied, async (caller) => {
      const error = errorOf(await ask(name, vector, caller, scene.matrix.own));
      return { code: error?.code, reason: error?.details?.reason };
    });
    expect(await faults).toEqual([]);
  });
}); // prettier-ignore

describe('a subscription that names another operation', () => {
  it.each(['executionEvents', 'executionUpdated'])('shows at %s: whom the table admits is refused', async (name) => {
    const operation = operationOf(rootOf(name).field);
    const query = `subscription($id: ID!) { ${name}(executionId: $id) { __typename } }`;
    const attempt = async (): Promise<string | undefined> => {
      const variables = { id: scene.matrix.absent.executionId };
      const headers = { Accept: 'text/event-stream' };
      const { text } = await callerOf('ws admin').client.call('POST', '/graphql/stream', { query, variables }, { headers });
      return /"code":"([\w.]+)"/.exec(text)?.[1];
    };
    expect(await attempt()).toBe('result.execution_not_found');
    expect(await scene.judgedAs(operation, NO_SESSION, attempt)).toBe(REFUSAL);
  });
}); // prettier-ignore

function rootFieldsOf(schema: GraphQLSchema): Map<string, RootField> {
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  return new Map(
    Object.entries(roots).flatMap(([kind, type]) =>
      Object.values(type?.getFields() ?? {}).map((field) => [field.name, { kind, field } as RootField] as const),
    ),
  );
}
