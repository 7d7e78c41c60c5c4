import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DriverFailure, type DatasourceAccess } from '#libs/datasources';
import { PenstockError, SilentLogger } from '#libs/kernel';
import type { PipelineDocument, SqlNode } from '#libs/pipelines';
import { MemoryTransientStore } from '#libs/transient';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase, TestInstance, TestWorkspace, type TestDatabase } from '../executions.fixture.js';
import { Batcher } from '#libs/persistence';
import { failureRecord } from './failure-record.js';
import { NodeBudget } from './node-budget.js';
import { statementSeconds, wallClockSeconds } from './node-limits.js';
import { OutcomeLatch } from './outcome.js';

const never = new AbortController().signal;
const context = { correlationId: 'c', baseUrl: 'https://x.test', detail: 'full' as const };

describe('node budget', () => {
  it('counts only the waits for the database against the statement, not the time between them', async () => {
    let now = 0;
    const budget = new NodeBudget(never, 100, () => now);
    budget.limitStatement(1);
    for (let n = 0; n < 5; n++) {
      await budget.statement(() => Promise.resolve((now += 150)));
      now += 10_000; // our own writing
    }
    expect(budget.signal.aborted).toBe(false);
    await budget.statement(() => Promise.resolve((now += 900)));
    await expect(
      budget.statement(() => new Promise((resolve) => budget.signal.addEventListener('abort', resolve))),
    ).resolves.toBeDefined();
    expect(budget.signal.reason).toMatchObject({
      code: 'pipeline.node.query_timeout',
      details: { timeout_seconds: 1 },
    });
    budget.dispose();
  });

  it('passes the stop of the run on, also one that came first', () => {
    const run = new AbortController();
    const before = new NodeBudget(run.signal, 100);
    run.abort('stop');
    const after = new NodeBudget(run.signal, 100);
    expect([before.signal.reason, after.signal.reason]).toEqual(['stop', 'stop']);
    before.dispose();
    after.dispose();
  });
});

describe('the time limits of a node', () => {
  const limits = {
    nodeTimeoutSeconds: 300,
    nodeTimeoutMaxSeconds: 900,
    queryTimeoutSeconds: 60,
    stagingQueryTimeoutSeconds: 45,
  };
  const node = (source: string, settings: object) => ({ type: 'DQL', source, settings }) as unknown as SqlNode;

  it('are clamped again at run: the body may be older than today’s ceiling', () => {
    const seconds = (timeoutSeconds?: number) => wallClockSeconds(node('pg', { timeoutSeconds }), limits);
    expect([undefined, 10, 900, 5000].map(seconds)).toEqual([300, 10, 900, 900]);
  });

  it('for a statement are the first one set: of the node, its pipeline, the datasource, the application', () => {
    const seconds = (ofNode?: number, ofPipeline?: number, ofSource: number | null = null, source = 'pg') =>
      statementSeconds(
        node(source, { queryTimeoutSeconds: ofNode }),
        { settings: { queryTimeoutSeconds: ofPipeline } } as unknown as PipelineDocument,
        ofSource,
        limits,
      );
    expect([seconds(1, 2, 3), seconds(undefined, 2, 3), seconds(undefined, undefined, 3), seconds()]).toEqual([
      1, 2, 3, 60,
    ]);
    expect(seconds(undefined, undefined, null, 'tempdb')).toBe(45);
  });
});

describe('outcome', () => {
  it('is set once: the first cause wins, and a cancel after the last node changes nothing', () => {
    const latch = new OutcomeLatch();
    expect(latch.set({ kind: 'aborted', reason: 'cancelled' })).toBe(true);
    expect(latch.set({ kind: 'success' })).toBe(false);
    const finalising = new OutcomeLatch();
    finalising.finalise();
    expect(finalising.set({ kind: 'aborted', reason: 'shutdown' })).toBe(false);
    expect(finalising.signal.aborted).toBe(false);
    expect(finalising.set({ kind: 'fenced' })).toBe(true);
  });
});

describe('failure record', () => {
  it('is built from the phase, unless a collaborator had a code of its own', () => {
    const codeIn = (phase: NodeBudget['phase'], error: unknown) => failureRecord(error, { ...context, phase }).code;
    const driver = new DriverFailure('other', 'boom');
    expect(codeIn('connect', driver)).toBe('pipeline.node.datasource_connection_failed');
    expect(codeIn('execute', driver)).toBe('pipeline.node.query_execution_failed');
    expect(codeIn('stage', driver)).toBe('pipeline.node.query_execution_failed');
    expect(codeIn('stage', new TypeError('x'))).toBe('pipeline.node.staging_failed');
    expect(codeIn('writeback', driver)).toBe('pipeline.node.writeback_failed');
    expect(codeIn('writeback', new DriverFailure('missing_table', 'x'))).toBe('pipeline.node.writeback_target_missing');
    expect(codeIn('execute', new PenstockError('result.too_large'))).toBe('result.too_large');
  });

  it('never claims that a write whose commit was not answered did not happen', () => {
    const lost = new DriverFailure('connection', 'gone', { commitUnknown: true });
    expect(failureRecord(lost, { ...context, phase: 'writeback' })).toMatchObject({
      code: 'pipeline.node.writeback_failed',
      details: { commit: 'unknown' },
    });
  });

  it('shows causes with the root last, cut and without bound values, and only what JSONB can store', () => {
    const root = new Error(`value 'hunter22' and "ab" and ab, \u0000 and \ud83d`);
    const error = new DriverFailure('other', `outer hunter22 ${'x'.repeat(3000)}`, { cause: root });
    const record = failureRecord(error, {
      ...context,
      phase: 'execute',
      sql: `SELECT :a ${'y'.repeat(20_000)}`,
      boundTexts: ['hunter22', 'ab'],
    });
    const text = JSON.stringify(record);
    expect(text).not.toContain('hunter22');
    expect(record.exception!.caused_by).toMatchObject({
      class: 'Error',
      message: `value '…' and "…" and ab, \uFFFD and \uFFFD`,
    });
    expect(record.exception!.frames.length).toBeLessThanOrEqual(40);
    expect(text).not.toContain(process.cwd());
    expect(record.sql!.length).toBeLessThanOrEqual(16_384);
    expect(record.doc_url).toBe('https://x.test/docs/errors#pipeline.node.query_execution_failed');
    const circle = new Error('a');
    circle.cause = circle;
    expect(JSON.stringify(failureRecord(circle, { ...context, phase: 'execute' })).length).toBeLessThan(200_000);
  });
});

describe('batcher', () => {
  const options = { maxItems: 10, concurrency: 1, separable: (error: unknown) => error !== 'lost' };

  it('lets what arrives together share a flush, and one bad item fail alone', async () => {
    const flushes: number[][] = [];
    const batcher = new Batcher<number, number>(async (items) => {
      flushes.push([...items]);
      await delay(2);
      if (items.includes(13)) throw new TypeError('bad');
      return items.map((item) => item * 2);
    }, options);
    const results = await Promise.allSettled([1, 13, 3].map((item) => batcher.add(item)));
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
      2,
      'failed',
      6,
    ]);
    expect(flushes).toEqual([[1, 13, 3], [1], [13], [3]]);
  });

  it('never repeats a flush whose outcome nobody knows', async () => {
    let flushes = 0;
    const batcher = new Batcher<number, number>(() => {
      flushes++;
      return Promise.reject('lost' as unknown as Error);
    }, options);
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(flushes).toBe(1);
  });
});

describe('a driver that does not stop when asked', () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
  }, 60_000);

  afterAll(() => db?.drop());

  it('is given up after the grace: the node ends, the connection is destroyed, it is said once', async () => {
    const released: unknown[] = [];
    const said: string[] = [];
    const logger = new (class extends SilentLogger {
      override warn(message?: string): void {
        said.push(String(message));
      }
    })();
    const record = { name: 'stuck', dialect: 'POSTGRES', isReadonly: false, queryTimeoutSeconds: null };
    const lease = {
      openCursor: () => new Promise<never>(() => undefined),
      release: (outcome: unknown) => Promise.resolve(void released.push(outcome)),
    };
    const datasources = {
      visible: () => Promise.resolve(new Map([['stuck', record]])),
      checkReachable: () => Promise.resolve([]),
      live: () => Promise.resolve(record),
      lease: () => Promise.resolve(lease),
      poolSize: () => 5,
      connectionTimeoutMs: () => 1000,
    } as unknown as DatasourceAccess;
    const server = await TestInstance.start({
      database: db.database,
      store: new MemoryTransientStore({ maxBytes: 1 << 20 }),
      datasources,
      logger,
      settings: { DATAPIPELINES_EXECUTOR_CANCEL_GRACE_SECONDS: '1' },
    });
    const workspace = await TestWorkspace.create(db.database);
    const me = workspace.principal();
    const node = {
      id: 'n',
      sql: 'SELECT 1',
      source: 'stuck',
      dialect: 'POSTGRES',
      settings: { query_timeout_seconds: 1 },
    };
    const { finished } = await server.launch(me, await workspace.pipeline([node]));
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'pipeline.node.query_timeout' } });
    expect(said.filter((message) => message === 'node.statement_abandoned')).toHaveLength(1);
    expect(released).toEqual(['destroy']);
    await server.stop();
  });
});
