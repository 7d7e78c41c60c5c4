import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import { TraceCollector, type CollectedSpan } from '../fixtures/trace-collector.js';

const EXECUTION = 'datapipelines.execution.id';
const ERROR = 2;

describeWithProgram('redis-server', 'tracing', (redis) => {
  let collector: TraceCollector;
  let deployment: Deployment;
  let scene: RunScene;

  beforeAll(async () => {
    collector = await TraceCollector.start();
    deployment = await Deployment.start({
      redis,
      env: {
        DATAPIPELINES_OBSERVABILITY_TRACING_ENABLED: 'true',
        DATAPIPELINES_OBSERVABILITY_TRACING_ENDPOINT: collector.endpoint,
        DATAPIPELINES_OBSERVABILITY_TRACING_REQUEST_PERCENT: '100',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
    scene = await RunScene.build(deployment);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
    await collector?.stop();
  });

  const spansOf = (executionId: string, count: number): Promise<CollectedSpan[]> =>
    eventually(`${count} spans of ${executionId}`, () => {
      const spans = collector.spans.filter(({ attributes }) => attributes[EXECUTION] === executionId);
      return spans.length >= count && spans;
    });

  it('shows a run as one span below its request, and every node below the run', async () => {
    const headers = { Prefer: 'respond-async', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const path = `/api/v1/pipelines/${scene.staged}/execute`;
    const { execution_id: id } = await deployment.author.data('POST', path, { parameters: { rows: 10 } }, { headers });
    await scene.ended(id as string);
    const spans = await spansOf(id as string, 4);
    const run = spans.find(({ name }) => name === 'pipeline execution')!;
    const nodes = spans.filter(({ name }) => name.startsWith('node '));
    expect(run.attributes).toMatchObject({
      'datapipelines.status': 'SUCCESS',
      'datapipelines.pipeline.id': scene.staged,
    });
    expect(nodes).toHaveLength(3);
    for (const node of nodes) {
      expect([node.traceId, node.parentSpanId]).toEqual([run.traceId, run.spanId]);
      expect(BigInt(node.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(node.startTimeUnixNano));
    }
    expect(nodes.map(({ attributes }) => attributes['db.system.name'])).toContain('postgresql');
    expect(nodes.map(({ attributes }) => attributes['db.system.name'])).toContain('duckdb');
    // The caller's own trace goes on in ours.
    expect(run.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    const request = collector.spans.find(({ spanId }) => spanId === run.parentSpanId)!;
    expect(request.name).toBe('POST /api/v1/pipelines/:id/execute');
    expect(request.parentSpanId).toBe('b7ad6b7169203331');
  });

  it('shows a failed node with its code, and neither SQL nor values', async () => {
    const id = await scene.launch(deployment.author, scene.failing);
    expect(await scene.ended(id)).toBe('FAILED');
    const spans = await spansOf(id, 2);
    for (const span of spans) {
      expect(span.status).toMatchObject({ code: ERROR });
      expect(span.attributes['error.type']).toBe('pipeline.node.query_execution_failed');
    }
    expect(collector.received).not.toMatch(/SELECT|random\(|division by zero/);
    expect(collector.received).not.toContain(deployment.authorKey);
  });

  it('a collector that is away harms no run', async () => {
    await collector.stop();
    const id = await scene.launch(deployment.author, scene.quick);
    expect(await scene.ended(id)).toBe('SUCCESS');
    await eventually('a warning about the traces', () =>
      /Traces could not be sent/.test(deployment.servers[0]!.output),
    );
    collector = await TraceCollector.start();
  });
});
