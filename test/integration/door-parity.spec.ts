import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GraphQLField } from 'graphql';
import { operationRow } from '#libs/identity';
import { operationOf } from '../../apps/server/graphql/engine/guarded-schema.js';
import { declaredRoutes } from '../../apps/server/openapi/declared-routes.js';
import { bareSchema } from '../../apps/server/graphql/schema/render-schema.js';
import type { Answer } from '../fixtures/api-client.js';
import { DOOR_ACTS, REFUSED_ACTS, WITHOUT_SUCCESS, type ActGround } from '../fixtures/door-acts.js';
import { FIELD_VECTORS } from '../fixtures/graphql-vectors.js';
import type { Deployment } from '../fixtures/deployment.js';
import type { Caller } from '../fixtures/matrix-callers.js';
import type { Address } from '../fixtures/matrix-scene.js';
import { VECTORS } from '../fixtures/matrix-vectors.js';
import { MutationScene } from '../fixtures/mutation-scene.js';
import { TWINS } from '../fixtures/mutation-twins.js';
import { errorOf } from '../fixtures/refusals.js';
import { RowWitness } from '../fixtures/row-changes.js';

/*
 * One act, two doors (03 §12: thin resolvers over REST's services): every mutation and its route are asked the same
 * thing by the same callers, and must refuse it with the same code or leave the same rows, those of the trail among them.
 */

const paired = Object.entries(TWINS).flatMap(([mutation, route]) =>
  typeof route === 'string' ? [[mutation, route] as const] : [],
);

let mutations: Record<string, GraphQLField<unknown, unknown>>;
let server: MutationScene;
let ground: ActGround;
let witness: RowWitness;
/** Operations of routes, by the name of the vector. */
let operations: Map<string, string>;

beforeAll(async () => {
  mutations = (await bareSchema()).getMutationType()?.getFields() ?? {};
  const routes = await declaredRoutes();
  operations = new Map(routes.map(({ method, path, operation }) => [`${method} ${path}`, operation]));
  server = await MutationScene.start();
  const { matrix: scene } = server;
  const database = server.server.test.database;
  const metadata = (sql: string, params: unknown[] = []) => database.query(sql, params);
  const deployment = { server: { baseUrl: server.server.baseUrl }, metadata } as unknown as Deployment;
  ground = { scene, keeper: who('ws admin').client, chief: who('super admin').client, deployment };
  witness = await RowWitness.open(database);
}, 120_000);

afterAll(async () => {
  const errors = server?.server.errors;
  await server?.stop();
  expect(errors).toEqual([]);
});

function who(label: string): Caller {
  return server.matrix.callers.find((caller) => caller.label === label) as Caller;
}

function overRest(route: string, caller: Caller, at: Address): Promise<Answer> {
  const [method = ''] = route.split(' ');
  const { path, body, headers } = VECTORS[route]!.request(at, server.matrix, caller);
  return caller.client.call(method, path, body, { headers });
}

function overGraphql(mutation: string, caller: Caller, at: Address): Promise<Answer> {
  const { input } = FIELD_VECTORS[mutation]!.args?.(at, server.matrix) ?? {};
  return mutate(mutation, caller, input);
}

function mutate(mutation: string, { client }: Pick<Caller, 'client'>, input: unknown): Promise<Answer> {
  const type = String(mutations[mutation]!.args[0]!.type);
  const query = `mutation($input: ${type}) { ${mutation}(input: $input) { __typename } }`;
  return client.call('POST', '/graphql', { query, variables: { input } });
}

/** The code of the refusal, or that there was none. */
const verdictOf = (answer: Answer): string => errorOf(answer)?.code ?? (answer.status < 300 ? 'done' : answer.text);

describe('the table of twins', () => {
  it('names every mutation of the schema, and only routes and mutations that have vectors', () => {
    expect(Object.keys(TWINS).sort()).toEqual(Object.keys(mutations).sort());
    for (const [mutation, route] of paired) {
      expect([mutation, mutation in FIELD_VECTORS]).toEqual([mutation, true]);
      expect([route, route in VECTORS]).toEqual([route, true]);
    }
  });
});

describe.each(paired)('%s and %s', (mutation, route) => {
  it('are judged by the same row of the operations table, and refuse alike behind it', () => {
    expect(operationOf(mutations[mutation]!)).toBe(operations.get(route));
    const [field, vector] = [FIELD_VECTORS[mutation]!, VECTORS[route]!];
    // Each table is held against its own door by the matrices; here they are held against each other.
    expect([field.admitted, field.absent]).toEqual([vector.admitted.code, vector.absent]);
  });
});

describe('what is wrong with an act is told by both doors with the same code', () => {
  it.each(Object.entries(REFUSED_ACTS))('%s', async (_what, { mutation, code, act }) => {
    const { rest, input } = act(server.matrix);
    const caller = who('ws admin');
    const { method, path, body, headers } = rest;
    const told = [
      verdictOf(await caller.client.call(method, path, body, { headers })),
      verdictOf(await mutate(mutation, caller, input)),
    ];
    expect(told).toEqual([code, code]);
  });
});

describe('the same act through both doors leaves the same rows', () => {
  it.each(paired.filter(([mutation]) => !(mutation in WITHOUT_SUCCESS)))('%s and %s', async (mutation, route) => {
    const rest = await asked(mutation, route, 'rest');
    const graphql = await asked(mutation, route, 'graphql');
    expect([rest.verdict, graphql.verdict]).toEqual(['done', 'done']);
    expect(graphql.changes).toEqual(rest.changes);
  });

  async function asked(mutation: string, route: string, door: 'rest' | 'graphql') {
    let answer: Answer | undefined;
    const act = await prepared(mutation, route, door);
    const changes = await witness.during(async () => (answer = await act()));
    return { verdict: verdictOf(answer as Answer), changes };
  }

  /** The act on something of its own; where nothing is, it has been done before, so that both find the same. */
  async function prepared(mutation: string, route: string, door: 'rest' | 'graphql'): Promise<() => Promise<Answer>> {
    const { capability } = operationRow(operationOf(mutations[mutation]!));
    const caller = who(capability === 'super_admin' ? 'super admin' : 'ws admin');
    const own = DOOR_ACTS[mutation];
    if (own) {
      const { rest, input } = await own(ground);
      const { method, path, body, headers } = rest;
      return door === 'rest'
        ? () => caller.client.call(method, path, body, { headers })
        : () => mutate(mutation, caller, input);
    }
    const { fresh } = FIELD_VECTORS[mutation]!;
    if (!fresh) await overRest(route, caller, server.matrix.own);
    const at = fresh ? await server.matrix.fresh(fresh) : server.matrix.own;
    return door === 'rest' ? () => overRest(route, caller, at) : () => overGraphql(mutation, caller, at);
  }
});
