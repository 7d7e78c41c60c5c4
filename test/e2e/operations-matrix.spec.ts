import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { HandlerRoute } from '../../apps/server/http/routes-of.js';
import type { Answer, ApiClient } from '../fixtures/api-client.js';
import { anonymised } from '../fixtures/anonymised.js';
import { Deployment } from '../fixtures/deployment.js';
import type { Caller } from '../fixtures/matrix-callers.js';
import { LAKE_ROOT } from '../fixtures/matrix-documents.js';
import { Checksum, matrixScene, type Address, type MatrixScene } from '../fixtures/matrix-scene.js';
import { routeOf, VECTORS, type Vector } from '../fixtures/matrix-vectors.js';
import {
  mismatches,
  reachesEverywhere,
  refusedBy,
  unnoticedErrors,
  type Observation,
} from '../fixtures/matrix-verdicts.js';
import { readOperationsTable } from '../fixtures/operations-table.js';
import { processRoutes } from '../fixtures/process-routes.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { errorOf, expectEnvelope } from '../fixtures/refusals.js';

/** The public list (04 §2), frozen: a handler that becomes public has to be written here. */
const PUBLIC = [
  'GET /', 'GET /api/v1/auth/providers', 'GET /docs/api', 'GET /docs/errors', 'GET /docs/openapi.json', 'GET /docs/pipeline.schema.json', 'GET /docs/schema.graphql', 'GET /graphql', 'GET /health', 'GET /info', 'GET /llms.txt', 'GET /login',
  'GET /login/oauth2/code/:provider', 'GET /oauth2/authorization/:provider', 'GET /ready', 'GET /reset-password',
  'GET /settings/password', 'GET /skill.md', 'GET /skill/:file', 'POST /api/v1/auth/password-reset/confirm', 'POST /api/v1/auth/password-reset/request', 'POST /login',
]; // prettier-ignore

const table = readOperationsTable();

describeWithProgram('redis-server', 'the matrix of operations', (redis) => {
  let deployment: Deployment;
  let scene: MatrixScene;
  let routes: HandlerRoute[];
  let checksum: Checksum;
  const observations: Observation[] = [];

  beforeAll(async () => {
    routes = await processRoutes();
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

  const keyOf = ({ method, path }: HandlerRoute) => `${method} ${path}`;
  /** The operation of the route, then the narrower one that its argument makes of it. */
  const operationsOf = (name: string, vector: Vector): string[] => {
    const route = routes.find((each) => keyOf(each) === routeOf(name)) as HandlerRoute;
    return vector.operation === undefined ? [route.operation] : [route.operation, vector.operation];
  };

  async function call(name: string, vector: Vector, caller: Caller, at: Address): Promise<Answer> {
    const { path, body, headers } = vector.request(at, scene, caller);
    const [method = ''] = name.split(' ');
    const client = vector.disposable && caller.again ? await caller.again() : caller.client;
    return (client as ApiClient).call(method === 'ALL' ? 'GET' : method, path, body, { headers });
  }

  it('has a vector for every route, and no vector for a route that is gone', () => {
    const guarded = routes.filter(({ operation }) => operation !== 'public').map(keyOf);
    expect([...new Set(Object.keys(VECTORS).map(routeOf))].sort()).toEqual([...guarded].sort());
    const open = routes.filter(({ operation }) => operation === 'public').map(keyOf);
    expect([...open].sort()).toEqual(PUBLIC);
  });

  it('names for every route the operation that the table gives to its path', () => {
    for (const { method, path, operation } of routes) {
      // `/graphql` and `/mcp` have no rows of their own: each root field and each tool has one.
      if (operation === 'public' || /^\/(graphql|mcp)/.test(path)) continue;
      const sample = path.replace(/:\w+|\{\*\w+\}/g, 'x');
      const named = [...table.rows].filter(([, row]) => row.answers(method === 'ALL' ? 'GET' : method, sample));
      expect([method, path, named.map(([id]) => id)]).toEqual([method, path, expect.arrayContaining([operation])]);
    }
  });

  it.each(Object.entries(VECTORS))('%s: each caller gets what the table says, and denials change nothing', async (name, vector) => {
    const operations = operationsOf(name, vector);
    const denied: Caller[] = [];
    const admitted: Caller[] = [];
    for (const caller of scene.callers) (refusedBy(table, operations, caller) ? denied : admitted).push(caller);

    const before = await checksum.now();
    for (const caller of denied) observations.push(await observe(name, vector, operations, caller, scene.own));
    expect(await checksum.now()).toBe(before);
    for (const caller of admitted) {
      const at = vector.fresh ? await scene.fresh(vector.fresh) : scene.own;
      observations.push(await observe(name, vector, operations, caller, at));
    }

    const mine = observations.filter((each) => each.door === name);
    expect(mismatches(mine, table)).toEqual([]);
  }); // prettier-ignore

  async function observe(
    name: string,
    vector: Vector,
    operations: string[],
    caller: Caller,
    at: Address,
  ): Promise<Observation> {
    const answer = await call(name, vector, caller, at);
    const { status } = answer;
    if (status >= 400) expectEnvelope(`${name} ${caller.label}`, answer);
    // Nothing of the other workspace shows in any answer; only a super admin's instance-wide lists may name it.
    const mayName =
      caller.role === 'super admin' &&
      /datasources\?all|audit\?instance|^GET \/api\/v1\/(workspaces|auth\/users)$/.test(name);
    expect([name, caller.label, answer.text.includes('zzforeign') && !mayName]).toEqual([name, caller.label, false]);
    const code = errorOf(answer)?.code as string | undefined;
    const { admitted, narrower } = vector;
    return { door: name, operations, caller, admitted, narrower, outcome: { status, code } };
  }

  const addressing = Object.entries(VECTORS).filter(([, vector]) => vector.absent !== undefined);
  it.each(addressing)('%s: a foreign row is as absent as one that never was', async (name, vector) => {
    const operations = operationsOf(name, vector);
    const before = await checksum.now();
    for (const caller of scene.callers) {
      if (refusedBy(table, operations, caller) || (caller.role === 'super admin' && operations.some(reachesEverywhere))) continue;
      const [foreign, absent] = [await call(name, vector, caller, scene.foreign), await call(name, vector, caller, scene.absent)];
      const label = `${name} ${caller.label}`;
      expect([label, foreign.status, errorOf(foreign)?.code]).toEqual([label, 404, vector.absent]);
      expect([label, anonymised(foreign, scene.foreign)]).toEqual([label, anonymised(absent, scene.absent)]);
    }
    expect(await checksum.now()).toBe(before);
  }); // prettier-ignore

  it('shuts every member out of a workspace that he names and does not belong to', async () => {
    for (const caller of scene.callers) {
      if (caller.kind !== 'session' || caller.role === 'super admin') continue;
      for (const name of ['zzforeign', 'absent', 'idle']) {
        for (const path of ['/api/v1/pipelines', '/api/v1/auth/me', '/api/v1/nothing']) {
          const answer = await caller.client.call('GET', path, undefined, { headers: { 'DP-Workspace': name } });
          expect([caller.label, name, answer.status, errorOf(answer)?.code]).toEqual([caller.label, name, 404, 'workspace.not_found']);
        }
      }
    }
  }); // prettier-ignore

  it('fails when any row of the table is other than what the server does', () => {
    // Without this the matrix could be comparing nothing.
    expect(observations.length).toBeGreaterThan(Object.keys(VECTORS).length * 10);
    expect(mismatches(observations, table)).toEqual([]);
    expect(unnoticedErrors(observations, table)).toEqual([]);
  }); // prettier-ignore
});
