import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CsrfCheck } from '../../apps/server/http/csrf.js';
import { OPERATION } from '../../apps/server/http/operation.decorator.js';
import { routesOfController, type ControllerClass } from '../../apps/server/http/routes-of.js';
import { declaredControllers, declaredRoutes } from '../../apps/server/openapi/declared-routes.js';
import { CsrfTokens, type OperationId } from '#libs/identity';
import { anonymised } from '../fixtures/anonymised.js';
import type { Answer } from '../fixtures/api-client.js';
import { denialFaults, deniedCallers, withoutFloodLimit } from '../fixtures/denial-rows.js';
import type { Caller } from '../fixtures/matrix-callers.js';
import type { Address, MatrixScene } from '../fixtures/matrix-scene.js';
import { routeOf, VECTORS, type Vector } from '../fixtures/matrix-vectors.js';
import { readOperationsTable } from '../fixtures/operations-table.js';
import { addPerson, signIn } from '../fixtures/people.js';
import { errorOf } from '../fixtures/refusals.js';
import { dropped, holds, MutationScene } from '../fixtures/mutation-scene.js';
import type { StatementTap } from '../fixtures/statement-tap.js';

/*
 * The judges of the matrix, held against a server with one guard taken out of the running process: a judge that stays
 * content is no judge.
 */

let mutation: MutationScene;
let tap: StatementTap;
let scene: MatrixScene;
let keeper: Caller;

beforeAll(async () => {
  mutation = await MutationScene.start();
  ({ matrix: scene, tap } = mutation);
  keeper = scene.callers.find(({ label }) => label === 'ws admin') as Caller;
}, 120_000);
afterAll(() => mutation?.stop());
afterEach(() => {
  tap.rewrite = (sql) => sql;
});

async function send(
  name: string,
  vector: Vector,
  at: Address,
  headers: Record<string, string> = {},
  caller = keeper,
): Promise<Answer> {
  const request = vector.request(at, scene, caller);
  const [method = ''] = name.split(' ');
  const client = vector.disposable && caller.again ? await caller.again() : caller.client;
  return client.call(method === 'ALL' ? 'GET' : method, request.path, request.body, {
    headers: { ...request.headers, ...headers },
  });
}

/**
 * The judge of "a foreign row is as absent as one that never was": the code of the route's own 404, and the body of an
 * absent row but for the correlation id and what was asked for. Empty when it is content.
 */
async function foreignRowFaults(name: string, vector: Vector): Promise<string[]> {
  const answer = await send(name, vector, scene.foreign);
  const told = `${name}: ${answer.status} ${String(errorOf(answer)?.code)}`;
  if (answer.status !== 404 || errorOf(answer)?.code !== vector.absent) return [told];
  const absent = await send(name, vector, scene.absent);
  return anonymised(answer, scene.foreign) === anonymised(absent, scene.absent) ? [] : [`${told}, in other words`];
}

/** Where promotion goes to is asked last, and here nowhere. */
const BEHIND_ALL = 'pipeline.promotion.target_unreachable';

/** What a guard that is gone must give: the foreign row itself, or a refusal behind all rights; never a failure. */
function expectShown(seen: string[]): void {
  expect(seen).not.toEqual([]);
  expect(seen.filter((fault) => / 5\d\d |internal/.test(fault) && !fault.endsWith(BEHIND_ALL))).toEqual([]);
}

/** Routes that name a workspace are held by what their caller is a member of. */
const NAMED = /\/workspaces?\//;
/** The receiver is held by the pin of its key, and reads no cookie (04 §2, §6.4); the matrix asks it for another workspace. */
const RECEIVER = /^\w+ \/api\/v1\/promotion\//;

describe('a membership that is not looked at', () => {
  const named = Object.entries(VECTORS).filter(([name, { absent }]) => absent !== undefined && NAMED.test(name));

  it.each(named)('shows at %s', async (name, vector) => {
    expect(await foreignRowFaults(name, vector)).toEqual([]);
    expectShown(await mutation.withoutMembership(() => foreignRowFaults(name, vector)));
  });
});

describe('a workspace predicate that is dropped', () => {
  /** Routes by which a person addresses a row that the database alone holds apart from another workspace's. */
  const addressing = Object.entries(VECTORS).filter(
    ([name, { absent }]) =>
      absent !== undefined && /^(GET|POST|PUT|DELETE) /.test(name) && !NAMED.test(name) && !RECEIVER.test(name),
  );
  // What is removed without its guard is gone for those that come after.
  addressing.sort(([one], [two]) => Number(one.startsWith('DELETE')) - Number(two.startsWith('DELETE')));

  it.each(addressing)('shows at %s', async (name, vector) => {
    tap.seen.clear();
    expect(await foreignRowFaults(name, vector)).toEqual([]);
    const guarded = [...tap.seen].filter(holds);
    const alone: string[] = [];
    for (const one of guarded) {
      tap.rewrite = (sql) => (sql === one ? dropped(sql) : sql);
      const seen = await foreignRowFaults(name, vector);
      if (seen.length > 0) alone.push(one);
      if (seen.length > 0) expectShown(seen);
    }
    // Writes look again under their lock, so that one predicate may stand in for the other; reads have one.
    if (name.startsWith('GET') && !name.endsWith('/export')) expect(alone).not.toEqual([]);
    if (alone.length > 0) return;
    tap.rewrite = dropped;
    expectShown(await foreignRowFaults(name, vector));
  });
});

describe('an @Operation that is missing', () => {
  const guarded = declaredControllers().then((controllers) =>
    controllers.flatMap((controller) => routesOfController(controller).map((route) => ({ controller, route }))),
  );

  const routes = Object.entries(VECTORS).filter(([name]) => routeOf(name) === name);
  /** Read at the start and put ahead of the router. */
  const AHEAD = /^(ALL \/api\/x|POST \/graphql$)/;
  /** Who comes in where no session does. */
  const callerAt = (name: string): Caller => {
    const byKey = /^(ALL|POST \/mcp)/.test(name) ? 'execute key' : 'ws admin';
    const label = RECEIVER.test(name) ? 'promotion key' : byKey;
    return scene.callers.find((each) => each.label === label) as Caller;
  };

  /** Runs `work` while one handler has no operation. */
  async function withoutOperation(name: string, work: (controller: ControllerClass) => unknown): Promise<void> {
    const found = (await guarded).find(({ route }) => `${route.method} ${route.path}` === name);
    if (!found) throw new TypeError(`no handler of ${name}`);
    const restore = without(found.controller.prototype as object, found.route.handler.split('.')[1] ?? '');
    try {
      await work(found.controller);
    } finally {
      restore();
    }
  }

  it.each(routes)('stops the boot at %s', async (name) => {
    await withoutOperation(name, (controller) =>
      expect(() => routesOfController(controller)).toThrow(/has no @Operation/),
    );
  });

  it.each(routes.filter(([name]) => !AHEAD.test(name)))('serves nothing at %s', async (name, vector) => {
    await withoutOperation(name, async () => {
      const answer = await send(name, vector, scene.own, {}, callerAt(name));
      expect([answer.status, errorOf(answer)?.code]).toEqual([500, 'internal']);
    });
  });

  it.each(routes.filter(([name]) => AHEAD.test(name)))('is no way in where it is another: %s', async (name, vector) => {
    const { route } = (await guarded).find((each) => `${each.route.method} ${each.route.path}` === name)!;
    const attempt = async () => errorOf(await send(name, vector, scene.own, {}, callerAt(name)))?.code;
    expect(await attempt()).toBeUndefined();
    const nobodys = await mutation.judgedAs(route.operation as OperationId, 'promotion.receive', attempt);
    expect(nobodys).toBe('auth.promotion.key_invalid');
  });
});

describe('a denial', () => {
  const table = readOperationsTable();
  let restore: () => void;
  let operations: Map<string, string>;
  let loner: Caller;
  beforeAll(async () => {
    await addPerson(mutation.deployment, 'loner');
    loner = { label: 'loner', client: await signIn(mutation.deployment, 'loner'), kind: 'session' };
    restore = withoutFloodLimit();
    const routes = await declaredRoutes();
    operations = new Map(routes.map(({ method, path, operation }) => [`${method} ${path}`, operation]));
  });
  afterAll(() => restore());

  it.each(Object.entries(VECTORS))('is written down once at %s, whether the guard or a service judged it', async (name, vector) => {
    const asked = [operations.get(routeOf(name)) ?? '', ...(vector.operation === undefined ? [] : [vector.operation])];
    const denied = deniedCallers(scene.callers, table, asked, vector.narrower);
    const faults = denialFaults(mutation.server.test.database, asked, denied, async (caller) => {
      const error = errorOf(await send(name, vector, scene.own, {}, caller));
      return { code: error?.code, reason: error?.details?.reason };
    });
    expect(await faults).toEqual([]);
  }); // prettier-ignore

  const NARROWER: [what: string, operation: string, code: string, label: string, method: string, path: () => string][] = [
    ["another workspace's fact", 'semantic.retire', 'auth.role_required', 'author', 'POST', () => `/api/v1/semantics/${scene.ground.caveatId}/retire`],
    ['a path that another key is bound to', 'endpoint.serve', 'endpoint.key_not_bound', 'execute key', 'GET', () => `/api/x${scene.own.endpoint}`],
    ['a path that nothing is bound to', 'endpoint.serve', 'endpoint.key_kind_refused', 'endpoint key', 'GET', () => '/api/x/own-open'],
    ['a right that needs a workspace, of somebody in none', 'pipeline.read', 'workspace.membership_required', 'loner', 'GET', () => '/api/v1/pipelines'],
  ]; // prettier-ignore

  it.each(NARROWER)('is written down once for %s', async (_what, operation, code, label, method, path) => {
    const caller = [...scene.callers, loner].find((each) => each.label === label) as Caller;
    const faults = denialFaults(mutation.server.test.database, [operation], [caller], async ({ client }) => {
      const error = errorOf(await client.call(method, path(), method === 'POST' ? { reason: 'gone' } : undefined));
      expect(error?.code).toBe(code);
      return { code, reason: error?.details?.reason };
    });
    expect(await faults).toEqual([]);
  });
});

/** Takes the operation off one handler of the running process. */
function without(prototype: object, handler: string): () => void {
  const target = (prototype as Record<string, object>)[handler] as object;
  const operation: unknown = Reflect.getMetadata(OPERATION, target);
  Reflect.deleteMetadata(OPERATION, target);
  return () => Reflect.defineMetadata(OPERATION, operation, target);
}

describe('a CSRF check that is dropped', () => {
  const writes = Object.entries(VECTORS).filter(
    ([name]) => /^(POST|PUT|PATCH|DELETE) /.test(name) && !/[,?]|\/mcp/.test(name) && !RECEIVER.test(name),
  );
  const FORGED: [reason: string, headers: Record<string, string>][] = [
    ['missing', { 'DP-CSRF-Token': '' }],
    ['mismatch', { 'DP-CSRF-Token': `${'0'.repeat(64)}.forged` }],
    ['origin', { Origin: 'https://evil.example' }],
  ];

  /** Requests that another page could have sent, and that were not refused for it; empty when the check stands. */
  async function forgedFaults(name: string, vector: Vector): Promise<string[]> {
    const faults: string[] = [];
    for (const [reason, headers] of FORGED) {
      const answer = await send(name, vector, scene.absent, headers);
      const error = errorOf(answer);
      if (error?.code === 'auth.csrf.invalid' && error['details'].reason === reason) continue;
      faults.push(`${name}, ${reason}: ${answer.status}`);
    }
    return faults;
  }

  it.each(writes)('shows at %s', async (name, vector) => {
    expect(await forgedFaults(name, vector)).toEqual([]);
    const verify = CsrfTokens.prototype.verify;
    CsrfTokens.prototype.verify = () => 'ok';
    try {
      expect(await forgedFaults(name, vector)).toHaveLength(2);
    } finally {
      CsrfTokens.prototype.verify = verify;
    }
  });

  it('shows when the origin is not looked at, and when nothing is', async () => {
    const [name, vector] = ['PATCH /api/v1/auth/me', VECTORS['PATCH /api/v1/auth/me'] as Vector];
    const { require } = CsrfCheck.prototype;
    CsrfCheck.prototype.require = function (request, sessionId) {
      const blind = Object.create(request, {
        get: { value: (header: string) => (header === 'Origin' ? undefined : request.get(header)) },
      });
      return require.call(this, blind, sessionId);
    };
    expect(await forgedFaults(name, vector)).toEqual([`${name}, origin: 200`]);
    CsrfCheck.prototype.require = () => Promise.resolve();
    expect(await forgedFaults(name, vector)).toHaveLength(3);
    CsrfCheck.prototype.require = require;
  });
});
