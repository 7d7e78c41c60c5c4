import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';

/** Takes sixteen gigabytes if nothing stops it: a list does not count against the limit of its engine. */
const GREEDY = 'SELECT list_sum(range(2000000000)) AS s';
/** Six hundred megabytes in one function that hears of nothing until it is done. */
const OVER_BUDGET = 'SELECT list_sum(range(75000000 + n)) AS s FROM range(1) AS t(n)';

describeWithProgram('redis-server', 'a statement that takes memory its engine does not count', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      env: {
        DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '1024',
        DATAPIPELINES_STAGING_MAX_MEMORY_MB: '128',
        DATAPIPELINES_STAGING_OVERRUN_MEMORY_MB: '64',
      },
    });
    scene = await RunScene.build(deployment);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  const pipelineOf = (name: string, sql: string) =>
    oneNodePipeline(deployment.author, { name: `wall/${name}`, source: 'tempdb', dialect: 'DUCKDB', sql });

  /** The most physical memory the server has ever held, in MB. */
  const peakMb = async () => {
    const status = await readFile(`/proc/${deployment.server.process.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  };

  const failureOf = async (executionId: string) => {
    expect(await scene.ended(executionId)).toBe('FAILED');
    const { error } = await deployment.author.data('GET', `/api/v1/executions/${executionId}`);
    return error as { code: string; details: Record<string, unknown>; node: { id: string } };
  };

  it('is refused the memory by the system; the server and a run beside it go on as if nothing were', async () => {
    const greedy = await pipelineOf('greedy', GREEDY);
    const sleeping = await scene.launch(deployment.author, scene.sleeping, { seconds: 3 });
    await scene.untilSleeping(1);
    const launched = await scene.launch(deployment.author, greedy);
    const failure = await failureOf(launched);
    expect([failure.code, failure.node.id]).toEqual(['pipeline.staging.memory_limit_exceeded', 'read']);
    expect([failure.details['limit_mb'], failure.details['spill_limit_mb']].map(Number)).toEqual([128, 8192]);
    const staged = await scene.launch(deployment.author, scene.staged, { rows: 50_000 });
    expect(await scene.ended(staged)).toBe('SUCCESS');
    expect(await scene.ended(sleeping)).toBe('SUCCESS');
    expect(await peakMb()).toBeLessThan(4096);
  });

  it('is stopped when the process has grown beyond what its engines were lent, and nobody else is', async () => {
    const over = await pipelineOf('over', OVER_BUDGET);
    const staged = await scene.launch(deployment.author, scene.staged, { rows: 300_000 });
    const launched = await scene.launch(deployment.author, over);
    const failure = await failureOf(launched);
    expect(failure.code).toBe('pipeline.staging.memory_limit_exceeded');
    expect(Number(failure.details['used_mb'])).toBeGreaterThan(64);
    expect(await scene.ended(staged)).toBe('SUCCESS');
    await eventually('the log to say so', () => deployment.server.output.includes('staging.memory_overrun'));
  });
});
