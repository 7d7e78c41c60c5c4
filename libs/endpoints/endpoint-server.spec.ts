import { describe, expect, it } from '@jest/globals';
import { AuditJournal, AuditObserver } from '#libs/audit';
import {
  VersionMoved,
  type ExecutionResults,
  type Launcher,
  type LaunchRequest,
  type TerminalOutcome,
} from '#libs/executions';
import { loadConfiguration, PenstockError, SilentLogger, type Principal } from '#libs/kernel';
import type { Database } from '#libs/persistence';
import type { PipelineCatalog, ReadOnlyPipelines } from '#libs/pipelines';
import type { EndpointRegistry } from './endpoint-registry.js';
import { EndpointServer } from './endpoint-server.js';
import { ServedVersions } from './served-versions.js';

const WORKSPACE = '11111111-1111-4111-8111-111111111111';

const principal = {
  userId: '22222222-2222-4222-8222-222222222222',
  method: 'api_key',
  keyKind: 'user',
  keyId: '33333333-3333-4333-8333-333333333333',
  scopes: ['read', 'execute'],
  superAdmin: false,
  mustChangePassword: false,
  correlationId: 'c',
  workspace: {
    id: WORKSPACE,
    name: 'w',
    flags: { author: true, promoter: false, admin: false },
    superAdmin: false,
    implicit: false,
  },
} as unknown as Principal;

/** What becomes of a launch: its end, or a refusal. `committed` tells which rows of the trail went along with it. */
type Launch = (request: LaunchRequest, committed: (outcome: string) => void) => Promise<TerminalOutcome> | undefined;

const outcomeIn = (detailsJson: string) => (JSON.parse(detailsJson) as { outcome: string }).outcome;

/** Commits the row of the launch, then the row of an end with this outcome. */
const ends =
  (outcome: Partial<TerminalOutcome> & Pick<TerminalOutcome, 'status'>): Launch =>
  ({ trail }, committed) => {
    committed(outcomeIn(trail!.started.detailsJson));
    const last = outcome.unrecorded ? undefined : trail!.ended(outcome.status);
    if (last) committed(outcomeIn(last.detailsJson));
    return Promise.resolve({ executionId: 'x', ...outcome });
  };

const documentWith = (...names: string[]) => ({
  parameters: new Map(names.map((name) => [name, { type: 'STRING', required: true }])),
  nodes: [{ id: 'n', type: 'DQL' }],
});

/** Where authors work, and where only what was released elsewhere arrives. */
const DEVELOPED = {};
const RECEIVING = { DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false' };
const KEY = Buffer.alloc(32, 7).toString('base64');
/** Hardened, although somebody let people author there. */
const HARDENED = {
  NODE_ENV: 'production',
  DATAPIPELINES_ENV: 'prod',
  DATAPIPELINES_POSTURE: 'hardened',
  DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'true',
  DATABASE_URL: 'postgres://db.example.com/penstock',
  REDIS_URL: 'rediss://redis.example.com',
  DATAPIPELINES_MASTER_KEY: KEY,
  DATAPIPELINES_JWT_SECRET: KEY,
  DATAPIPELINES_AUTH_BASE_URL: 'https://data.example.com',
  DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true',
  DATAPIPELINES_AUTH_ALLOW_LOCAL_ONLY: 'true',
};

function scene(
  launch: Launch,
  rows: () => Promise<string> = async () => '{}',
  environment: Record<string, string> = DEVELOPED,
) {
  const outcomes: string[] = [];
  const journal = new AuditJournal({
    execute: (_sql: string, values: readonly unknown[]) => {
      for (const details of values.at(-1) as string[]) outcomes.push(outcomeIn(details));
      return Promise.resolve();
    },
  } as unknown as Database);
  const endpoint = { id: 'e', workspaceId: WORKSPACE, pipelineId: 'p', timeoutSeconds: 0.02 };
  const registry = {
    match: () => Promise.resolve({ target: endpoint, variables: new Map() }),
    decidingBindings: () => Promise.resolve([]),
  } as unknown as EndpointRegistry;
  const current = { pipelineId: 'p', version: 1, status: 'RELEASED', document: documentWith(), workspaceId: WORKSPACE };
  let reads = 0;
  const catalog = { released: () => Promise.resolve((reads++, { ...current })) } as unknown as PipelineCatalog;
  const requests: LaunchRequest[] = [];
  const server = new EndpointServer(
    registry,
    new ServedVersions(
      catalog,
      { judge: () => Promise.resolve({ ok: true }) } as unknown as ReadOnlyPipelines,
      loadConfiguration(environment),
    ),
    {
      launch: (_principal: Principal, request: LaunchRequest) => {
        requests.push(request);
        const finished = launch(request, (outcome) => outcomes.push(outcome));
        return finished ? Promise.resolve({ finished }) : Promise.reject(new VersionMoved());
      },
      resultTtlSeconds: (asked?: number) => asked ?? 300,
    } as unknown as Launcher,
    { firstPageJson: rows } as unknown as ExecutionResults,
    new AuditObserver(journal, new SilentLogger()),
    { now: () => new Date('2026-02-28T23:59:30.000Z') },
  );
  const call = (query: [string, string][] = []) =>
    server.serve(principal, { rawPath: '/api/x/a', query }).then(
      ({ kind }) => kind as string,
      (error: unknown) => (error as PenstockError).code,
    );
  return { call, current, outcomes, requests, reads: () => reads };
}

async function served(launch: Launch, rows?: () => Promise<string>) {
  const { call, outcomes } = scene(launch, rows);
  return { answer: await call(), outcomes };
}

const refuse = (code: 'pipeline.execution.concurrency_limit' | 'result.storage_unavailable') => () =>
  Promise.reject(new PenstockError(code));

describe('the trail of a served call', () => {
  it('says first that it started, then how it was answered', async () => {
    expect(await served(ends({ status: 'SUCCESS' }))).toEqual({ answer: 'data', outcomes: ['started', 'completed'] });
    const never: Launch = ({ trail }, committed) => {
      committed(outcomeIn(trail!.started.detailsJson));
      return new Promise(() => undefined);
    };
    expect(await served(never)).toEqual({ answer: 'running', outcomes: ['started', 'accepted'] });
  });

  it('says that it failed: refused at the launch, ended badly, ended by somebody else, or left without its rows', async () => {
    const refused: Launch = () => {
      throw new PenstockError('pipeline.execution.concurrency_limit');
    };
    expect(await served(refused)).toEqual({ answer: 'pipeline.execution.concurrency_limit', outcomes: ['failed'] });
    const outcomes = ['started', 'failed'];
    expect(await served(ends({ status: 'FAILED' }))).toEqual({ answer: 'pipeline.execution.aborted', outcomes });
    expect(await served(ends({ status: 'ABORTED', unrecorded: true }))).toEqual({
      answer: 'pipeline.execution.aborted',
      outcomes,
    });
    expect(await served(ends({ status: 'SUCCESS' }), refuse('result.storage_unavailable'))).toEqual({
      answer: 'result.storage_unavailable',
      outcomes: ['started', 'completed', 'failed'],
    });
  });

  it('tells no end to whom it told that the run goes on; and that it goes on even while an end is being written', async () => {
    let end: () => unknown = () => undefined;
    const slow: Launch = ({ trail }, committed) => {
      committed(outcomeIn(trail!.started.detailsJson));
      end = () => trail!.ended('SUCCESS');
      return new Promise(() => undefined);
    };
    const late = scene(slow);
    expect(await late.call()).toBe('running');
    expect(end()).toBeUndefined();
    // Whether that write commits nobody knows yet; what the caller was told is known.
    const inTime: Launch = ({ trail }, committed) => {
      committed(outcomeIn(trail!.ended('SUCCESS')!.detailsJson));
      return new Promise(() => undefined);
    };
    expect(await served(inTime)).toEqual({ answer: 'running', outcomes: ['completed', 'accepted'] });
  });
});

describe('the version of a served call', () => {
  it('is read and judged once, and launched afterwards only while it stands', async () => {
    const { call, requests, reads } = scene(ends({ status: 'SUCCESS' }));
    for (let time = 0; time < 3; time++) expect(await call()).toBe('data');
    expect(requests.map(({ runnable, remembered }) => [runnable?.version, remembered])).toEqual([
      [1, false],
      [1, true],
      [1, true],
    ]);
    expect(reads()).toBe(1);
  });

  it('is read again when the pointer has moved, and the call that finds out is answered by the new one', async () => {
    const world = scene((request, committed) =>
      request.remembered && request.version !== world.current.version
        ? undefined
        : ends({ status: 'SUCCESS' })(request, committed),
    );
    expect(await world.call()).toBe('data');
    world.current.version = 2;
    expect(await world.call()).toBe('data');
    expect(await world.call()).toBe('data');
    expect(world.requests.map(({ version, remembered }) => [version, remembered])).toEqual([
      [1, false],
      [1, true],
      [2, false],
      [2, true],
    ]);
    expect(world.outcomes).toEqual(['started', 'completed', 'started', 'completed', 'started', 'completed']);
  });

  const onlyFresh: Launch = (request, committed) =>
    request.remembered ? undefined : ends({ status: 'SUCCESS' })(request, committed);

  it.each([
    ['where nothing is developed', RECEIVING],
    ['in a hardened deployment, whoever may author there', HARDENED],
  ])('is not released any more: 503 %s, and nothing of the old one runs', async (_where, environment) => {
    const world = scene(onlyFresh, undefined, environment);
    expect(await world.call()).toBe('data');
    for (const status of ['DRAFT', 'DISCARDED']) {
      world.current.status = status;
      expect(await world.call()).toBe('endpoint.pipeline_not_released');
    }
    expect(world.outcomes).toEqual(['started', 'completed']);
  });

  it('is the draft that the pointer names where pipelines are developed, read anew at each call', async () => {
    const world = scene(onlyFresh, undefined, DEVELOPED);
    world.current.status = 'DRAFT';
    expect(await world.call()).toBe('data');
    world.current.document = documentWith('city');
    expect(await world.call()).toBe('endpoint.request.invalid');
    expect(await world.call([['city', 'Ulm']])).toBe('data');
    expect([world.reads(), world.requests.map(({ remembered }) => remembered)]).toEqual([3, [false, false]]);
    world.current.status = 'DISCARDED';
    expect(await world.call()).toBe('endpoint.pipeline_not_released');
  });

  it('judges the parameters: those of a version that is gone refuse nobody', async () => {
    const world = scene(ends({ status: 'SUCCESS' }));
    expect(await world.call()).toBe('data');
    expect(await world.call([['city', 'Ulm']])).toBe('endpoint.request.invalid');
    world.current.document = documentWith('city');
    world.current.version = 2;
    expect(await world.call([['city', 'Ulm']])).toBe('data');
    expect(world.requests.at(-1)?.version).toBe(2);
  });
});
