import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getNamedType, isLeafType, type GraphQLField, type GraphQLSchema } from 'graphql';
import { catalogueEntry, type ErrorCode } from '#libs/kernel';
import { operationOf } from '../../apps/server/graphql/engine/guarded-schema.js';
import { bareSchema } from '../../apps/server/graphql/schema/render-schema.js';
import type { Answer } from '../fixtures/api-client.js';
import { anonymised } from '../fixtures/anonymised.js';
import { Deployment } from '../fixtures/deployment.js';
import { FIELD_VECTORS, type FieldVector } from '../fixtures/graphql-vectors.js';
import type { Caller } from '../fixtures/matrix-callers.js';
import { LAKE_ROOT } from '../fixtures/matrix-documents.js';
import { Checksum, matrixScene, type Address, type MatrixScene } from '../fixtures/matrix-scene.js';
import { mismatches, reachesEverywhere, refusedBy, unnoticedErrors, type Observation } from '../fixtures/matrix-verdicts.js'; // prettier-ignore
import { readOperationsTable } from '../fixtures/operations-table.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { errorOf, expectEnvelope } from '../fixtures/refusals.js';

interface RootField {
  kind: 'query' | 'mutation' | 'subscription';
  field: GraphQLField<unknown, unknown>;
}

const table = readOperationsTable();
const STREAM = { headers: { Accept: 'text/event-stream' } };
/** Endpoint keys may read their own runs elsewhere; here they may nothing. */
const OFF_SURFACE = { status: 403, code: 'endpoint.key_kind_refused' };
const refusalWith = (code: ErrorCode) => ({ status: catalogueEntry(code).status ?? 500, code });
const fieldOf = (name: string): string => name.split(',')[0] as string;

describeWithProgram('redis-server', 'the matrix of GraphQL root fields', (redis) => {
  let deployment: Deployment;
  let scene: MatrixScene;
  let fields: Map<string, RootField>;
  let checksum: Checksum;
  const observations: Observation[] = [];

  beforeAll(async () => {
    fields = rootFieldsOf(await bareSchema());
    deployment = await Deployment.start({
      redis,
      env: {
        DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100000',
        DATAPIPELINES_DATASOURCES_FILE_ROOTS: LAKE_ROOT,
      },
    });
    scene = await matrixScene(deployment);
    checksum = await Checksum.open(deployment.database.superuserUrl);
  }, 120_000);

  afterAll(async () => {
    await checksum?.close();
    const failures = deployment?.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment?.stop();
    await scene?.source.drop();
    expect(failures).toEqual([]);
  });

  it('has a vector for every query and mutation, and none for a field that is gone', () => {
    const asked = [...fields].filter(([, { kind }]) => kind !== 'subscription').map(([name]) => name);
    expect([...new Set(Object.keys(FIELD_VECTORS).map(fieldOf))].sort()).toEqual(asked.sort());
  });

  it('asks for no operation that the document keeps off GraphQL', () => {
    for (const [name, { field }] of fields) {
      expect([name, table.rows.get(operationOf(field))?.graphql]).toEqual([name, true]);
    }
  });

  it.each(Object.entries(FIELD_VECTORS))('%s: each caller gets what the table says, and denials change nothing', async (name, vector) => {
    const operations = operationsOf(name, vector);
    const admittedOf = (caller: Caller) => caller.kind !== 'endpoint key' && !refusedBy(table, operations, caller);
    const before = await checksum.now();
    const denied = scene.callers.filter((caller) => !admittedOf(caller));
    for (const caller of denied) observations.push(await observe(name, vector, operations, caller, scene.own));
    expect(await checksum.now()).toBe(before);
    for (const caller of scene.callers.filter(admittedOf)) {
      const at = vector.fresh ? await scene.fresh(vector.fresh) : scene.own;
      observations.push(await observe(name, vector, operations, caller, at));
    }
    expect(mismatches(observations.filter((each) => each.door === name), table)).toEqual([]);
  }); // prettier-ignore

  const addressing = Object.entries(FIELD_VECTORS).filter(([, vector]) => vector.absent !== undefined);
  it.each(addressing)('%s: a foreign row is as absent as one that never was', async (name, vector) => {
    const operations = operationsOf(name, vector);
    const before = await checksum.now();
    for (const caller of scene.callers) {
      if (caller.kind === 'endpoint key' || refusedBy(table, operations, caller) || (caller.role === 'super admin' && operations.some(reachesEverywhere))) continue;
      const [foreign, absent] = [await call(name, vector, caller, scene.foreign), await call(name, vector, caller, scene.absent)];
      const label = `${name} ${caller.label}`;
      expect([label, foreign.status, errorOf(foreign)?.code ?? foreign.body.data[fieldOf(name)]]).toEqual([label, 200, vector.absent]);
      expect([label, anonymised(foreign, scene.foreign)]).toEqual([label, anonymised(absent, scene.absent)]);
    }
    expect(await checksum.now()).toBe(before);
  }); // prettier-ignore

  it('lets every reader follow a run, nobody a foreign one, and no stranger any', async () => {
    const query = 'subscription($id: ID!) { executionEvents(executionId: $id) { eventId } }';
    for (const caller of scene.callers) {
      const follow = (id: string) => caller.client.call('POST', '/graphql/stream', { query, variables: { id } }, STREAM);
      const own = await follow(scene.own.executionId);
      const refusal = refusedBy(table, [operationOf((fields.get('executionEvents') as RootField).field)], caller);
      const off = caller.kind === 'endpoint key' ? OFF_SURFACE : refusal;
      expect([caller.label, own.status, errorOf(own)?.code]).toEqual([caller.label, off?.status ?? 200, off?.code]);
      if (off) continue;
      expect([caller.label, own.text.includes('"eventId":1')]).toEqual([caller.label, true]);
      for (const id of [scene.foreign.executionId, scene.absent.executionId]) {
        const answer = await follow(id);
        expect([caller.label, answer.status, answer.text.includes('result.execution_not_found')]).toEqual([caller.label, 200, true]);
        expect(answer.text.trim().split('\n').filter((line) => line.startsWith('event: '))).toEqual(['event: next', 'event: complete']);
      }
    }
  }); // prettier-ignore

  it('fails when any row of the table is other than what the server does', () => {
    expect(observations.length).toBeGreaterThan(Object.keys(FIELD_VECTORS).length * 10);
    expect(mismatches(observations, table)).toEqual([]);
    expect(unnoticedErrors(observations, table).filter((error) => !/: no E /.test(error))).toEqual([]);
  });

  function operationsOf(name: string, vector: FieldVector): string[] {
    const operation = operationOf((fields.get(fieldOf(name)) as RootField).field);
    return vector.operation === undefined ? [operation] : [operation, vector.operation];
  }

  async function observe(
    name: string,
    vector: FieldVector,
    operations: string[],
    caller: Caller,
    at: Address,
  ): Promise<Observation> {
    const answer = await call(name, vector, caller, at);
    const error = errorOf(answer);
    if (error) expectEnvelope(`${name} ${caller.label}`, answer);
    const status = Number(error?.http_status ?? answer.status);
    // Whoever may come in is told inside the answer; whoever may not, at the door.
    const inside = caller.kind === 'session' || caller.kind === 'user key';
    expect([name, caller.label, answer.status]).toEqual([name, caller.label, inside ? 200 : status]);
    const outcome = { status, code: error?.code as string | undefined };
    const admitted = vector.admitted === undefined ? { status: 200 } : refusalWith(vector.admitted as ErrorCode);
    const narrower = (who: Caller) => (who.kind === 'endpoint key' ? OFF_SURFACE : vector.narrower?.(who));
    return { door: name, operations, caller, outcome, admitted, narrower };
  }

  function call(name: string, vector: FieldVector, caller: Caller, at: Address): Promise<Answer> {
    const { kind, field } = fields.get(fieldOf(name)) as RootField;
    const variables = vector.args?.(at, scene) ?? {};
    const given = field.args.filter((arg) => arg.name in variables);
    const declared = given.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
    const passed = given.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
    const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
    const head = declared === '' ? kind : `${kind}(${declared})`;
    const query = `${head} { ${field.name}${passed === '' ? '' : `(${passed})`} ${selection} }`;
    return caller.client.call('POST', '/graphql', { query, variables });
  }
});

function rootFieldsOf(schema: GraphQLSchema): Map<string, RootField> {
  const roots = { query: schema.getQueryType(), mutation: schema.getMutationType(), subscription: schema.getSubscriptionType() };
  return new Map(
    Object.entries(roots).flatMap(([kind, type]) =>
      Object.values(type?.getFields() ?? {}).map((field) => [field.name, { kind, field } as RootField] as const),
    ),
  );
} // prettier-ignore
