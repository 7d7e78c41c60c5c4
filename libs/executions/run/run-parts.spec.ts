import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DriverFailure, type DatasourceAccess } from '#libs/datasources';
import { PenstockError, SilentLogger } from '#libs/kernel';
import type { PipelineDocument, SqlNode } from '#libs/pipelines';
import { MemoryTransientStore } from '#libs/transient';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../../test/fixtures/eventually.js';
import { createTestDatabase, TestInstance, TestWorkspace, type TestDatabase } from '../executions.fixture.js';
import { Batcher } from '#libs/persistence';
import { failureRecord } from './failure-record.js';
import { NodeBudget } from './node-budget.js';
import { statementSeconds, wallClockSeconds } from './node-limits.js';
import type { NodeStat } from './node-stats.js';
import { OutcomeLatch } from './outcome.js';
import { RunEvents } from './run-events.js';

const never = new AbortController().signal;
const context = { correlationId: 'c', baseUrl: 'https://x.test', detail: 'full' as const };

describe('node budget', () => {
  it('counts only the waits for the database against the statement, not the time between them', async () => {
    let now = 0;
    // So long that none of its timers fires before the test is over: what ends the last wait is what the others have used.
    const budget = new NodeBudget(never, 1000, () => now);
    budget.limitStatement(500);
    for (let n = 0; n < 5; n++) {
      await budget.statement(() => Promise.resolve((now += 75_000)));
      now += 10_000; // our own writing
    }
    expect(budget.signal.aborted).toBe(false);
    await budget.statement(() => Promise.resolve((now += 450_000)));
    await expect(
      budget.statement(() => new Promise((resolve) => budget.signal.addEventListener('abort', resolve))),
    ).resolves.toBeDefined();
    expect(budget.signal.reason).toMatchObject({
      code: 'pipeline.node.query_timeout',
      details: { timeout_seconds: 500 },
    });
    budget.dispose();
  });

  it('leaves the database what is left of the wall clock and the grace behind it, should this process be gone', () => {
    let now = 0;
    const budget = new NodeBudget(never, 100, () => now, 5000);
    now = 30_000;
    expect([budget.leftMs, budget.backstopMs]).toEqual([70_000, 75_000]);
    now = 130_000;
    expect([budget.leftMs, budget.backstopMs]).toEqual([0, 5000]);
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
    const deep = new Error('x'.repeat(3000));
    deep.stack = `Error: deep\n${'    at f (/srv/libs/x.ts:1:1)\n'.repeat(60)}`;
    const { message, frames } = failureRecord(deep, context).exception!;
    expect([message.length, frames]).toEqual([2000, Array(40).fill('at f (libs/x.ts:1:1)')]);
    expect(text).not.toContain(process.cwd());
    expect(record.sql!.length).toBeLessThanOrEqual(16_384);
    expect(record.doc_url).toBe('https://x.test/docs/errors#pipeline.node.query_execution_failed');
    const circle = new Error('a');
    circle.cause = circle;
    expect(JSON.stringify(failureRecord(circle, { ...context, phase: 'execute' })).length).toBeLessThan(200_000);
  });
});

describe('what is stored of an event', () => {
  const facts = {
    executionId: 'e',
    correlationId: 'c',
    pipelineId: 'p',
    pipelineVersion: 1,
    startedAt: '2026-01-01T00:00:00.000000Z',
  };
  const at = new Date('2026-01-01T00:00:01Z');
  const stats = (count: number, message: string): NodeStat[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ node_id: `node-${index}`, status: 'FAILED', started_at: null, completed_at: null, duration_ms: 0 },
      ...{ rows_out: -1, bytes_out: 0, error_code: 'pipeline.node.timeout', error_message: message },
    }));

  it('keeps of node statistics that are too long to be stored ids, states and codes, of every node', () => {
    const told = (count: number, message: string) => {
      const { data } = new RunEvents(facts).executionAborted(at, stats(count, message), 'cancelled');
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(256 * 1024);
      return (JSON.parse(data) as { node_stats: Record<string, unknown>[] }).node_stats;
    };
    expect(told(10, 'short')[9]).toMatchObject({ error_message: 'short', rows_out: -1 });
    // A thousand nodes; and as few characters as would fit, were each one byte.
    for (const [count, message] of [
      [1000, 'x'.repeat(500)],
      [100, '€'.repeat(1500)],
    ] as const) {
      const kept = told(count, message);
      expect(kept).toHaveLength(count);
      expect(kept.at(-1)).toEqual({
        node_id: `node-${count - 1}`,
        status: 'FAILED',
        error_code: 'pipeline.node.timeout',
      });
    }
  });

  it('leaves out what a caller sent or a result is wide by, when it is too long to be stored, and says so', () => {
    const events = new RunEvents(facts);
    const told = ({ data }: { data: string }) => {
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(256 * 1024);
      return JSON.parse(data) as Record<string, unknown>;
    };
    const started = (text: string) => told(events.executionStarted(at, JSON.stringify({ text })));
    expect(started('short')).toMatchObject({ parameters: { text: 'short' } });
    expect(started('short')).not.toHaveProperty('parameters_omitted');
    expect(started('€'.repeat(100_000))).toMatchObject({
      execution_id: 'e',
      pipeline_version: 1,
      parameters: {},
      parameters_omitted: true,
    });

    const ready = (columns: number) =>
      told(
        events.dataReady(at, {
          pipeline_id: 'p',
          schema: Array.from({ length: columns }, (_, index) => ({ name: `column ${index}`, type: 'STRING' })),
          ...{ row_count: 1, total_rows: 1, has_more: false, result_url: '/r', expires_at: 'soon', ttl_seconds: 300 },
          warnings: [],
        }),
      );
    expect((ready(1600)['schema'] as unknown[]).length).toBe(1600);
    expect(ready(20_000)).toMatchObject({ schema: [], schema_omitted: true, rows_omitted: true, total_rows: 1 });
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

  it.each([
    ['gives a connection and never an answer', { query_timeout_seconds: 1 }, 'pipeline.node.query_timeout'],
    ['gives its connection when nobody wants it any more', { timeout_seconds: 1 }, 'pipeline.node.timeout'],
  ])(
    'and %s, is given up after the grace: the connection is destroyed, it is said once',
    async (_what, settings, code) => {
      const released: unknown[] = [];
      const late = Promise.withResolvers<void>();
      if (code === 'pipeline.node.query_timeout') late.resolve();
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
        lease: () => late.promise.then(() => lease),
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
        settings,
      };
      const { finished } = await server.launch(me, await workspace.pipeline([node]));
      expect(await finished).toMatchObject({ status: 'FAILED', failure: { code } });
      late.resolve();
      await eventually('the connection to be let go', () => released.length > 0);
      expect(said.filter((message) => message === 'node.statement_abandoned')).toHaveLength(1);
      expect(released).toEqual(['destroy']);
      await server.stop();
    },
  );
});
