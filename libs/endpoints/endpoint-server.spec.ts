import { describe, expect, it } from '@jest/globals';
import { AuditJournal, AuditObserver } from '#libs/audit';
import type { ExecutionResults, Launched, Launcher, LaunchRequest, TerminalOutcome } from '#libs/executions';
import { PenstockError, SilentLogger, type Principal } from '#libs/kernel';
import type { Database } from '#libs/persistence';
import type { PipelineCatalog, ReadOnlyPipelines } from '#libs/pipelines';
import type { EndpointRegistry } from './endpoint-registry.js';
import { EndpointServer } from './endpoint-server.js';

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

type Launch = (principal: Principal, request: LaunchRequest) => Promise<Partial<Launched>>;

/** Serves one call whose launch is what the test says; returns what the trail says of it. */
async function served(launch: Launch, rows: () => Promise<string> = async () => '{}') {
  const outcomes: string[] = [];
  const database = {
    execute: (_sql: string, values: readonly unknown[]) => {
      for (const details of values.at(-1) as string[]) {
        outcomes.push((JSON.parse(details) as { outcome: string }).outcome);
      }
      return Promise.resolve();
    },
  } as unknown as Database;
  const endpoint = { id: 'e', workspaceId: WORKSPACE, pipelineId: 'p', timeoutSeconds: 0.02 };
  const registry = {
    match: () => Promise.resolve({ target: endpoint, variables: new Map() }),
    decidingBindings: () => Promise.resolve([]),
  } as unknown as EndpointRegistry;
  const document = { parameters: [], nodes: [{ id: 'n', type: 'DQL' }] };
  const released = { pipelineId: 'p', version: 1, status: 'RELEASED', document, workspaceId: WORKSPACE };
  const journal = new AuditJournal(database);
  const server = new EndpointServer(
    registry,
    { released: () => Promise.resolve(released) } as unknown as PipelineCatalog,
    { judge: () => Promise.resolve({ ok: true }) } as unknown as ReadOnlyPipelines,
    { launch, resultTtlSeconds: (asked?: number) => asked ?? 300 } as unknown as Launcher,
    { firstPageJson: rows } as unknown as ExecutionResults,
    journal,
    new AuditObserver(journal, new SilentLogger()),
    { now: () => new Date('2026-02-28T23:59:30.000Z') },
  );
  const answer = await server.serve(principal, { rawPath: '/api/x/a', query: [] }).then(
    ({ kind }) => kind as string,
    (error: unknown) => (error as PenstockError).code,
  );
  return { answer, outcomes };
}

const ends = (outcome: Partial<TerminalOutcome>) => () =>
  Promise.resolve({ finished: Promise.resolve({ executionId: 'x', ...outcome } as TerminalOutcome) });

describe('the trail of a served call', () => {
  it('says first that it started, then how it was answered', async () => {
    expect(await served(ends({ status: 'SUCCESS' }))).toEqual({ answer: 'data', outcomes: ['started', 'completed'] });
    const never = () => Promise.resolve({ finished: new Promise<never>(() => undefined) });
    expect(await served(never)).toEqual({ answer: 'running', outcomes: ['started', 'accepted'] });
  });

  it('says that it failed: refused at the launch, ended badly, or left without its rows', async () => {
    const outcomes = ['started', 'failed'];
    const refuse = (code: 'pipeline.execution.concurrency_limit' | 'result.storage_unavailable') => () =>
      Promise.reject(new PenstockError(code));
    expect(await served(refuse('pipeline.execution.concurrency_limit'))).toEqual({
      answer: 'pipeline.execution.concurrency_limit',
      outcomes,
    });
    expect(await served(ends({ status: 'ABORTED' }))).toEqual({ answer: 'pipeline.execution.aborted', outcomes });
    expect(await served(ends({ status: 'SUCCESS' }), refuse('result.storage_unavailable'))).toEqual({
      answer: 'result.storage_unavailable',
      outcomes,
    });
  });
});

describe('a served call', () => {
  it('hands the version it read and judged to the run, so that none is read between the two', async () => {
    const asked: unknown[] = [];
    await served((_principal, request) => {
      asked.push(request.runnable?.version);
      return ends({ status: 'SUCCESS' })();
    });
    expect(asked).toEqual([1]);
  });
});
