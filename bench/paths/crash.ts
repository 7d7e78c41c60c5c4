import { EventStream } from '../../test/fixtures/event-stream.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import type { BenchPath } from './bench-path.js';

/** Seconds between signs of life, in production and for a first look. */
const HEARTBEAT = { full: 15, quick: 3 };
const SWEEP_SECONDS = 15;

export const crash: BenchPath = {
  name: 'crash',
  about: 'the server that runs a run is killed: until its watchers on another server are told that it is aborted',
  async measure(deployment, options) {
    const { author } = deployment;
    await releasedTemplate(author, 'bench/crash/sleep.sql', 'POSTGRES', 'SELECT pg_sleep(240) AS slept');
    const template = { id: 'bench/crash/sleep.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/crash/run', [
      { id: 'sleep', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    const heartbeat = options.quick ? HEARTBEAT.quick : HEARTBEAT.full;
    const env = { DATAPIPELINES_EXECUTOR_HEARTBEAT_SECONDS: String(heartbeat) };
    const [owner, witness] = await Promise.all([deployment.anotherServer(env), deployment.anotherServer(env)]);
    try {
      const { executionId } = await EventStream.run(author.on(owner.baseUrl), pipeline);
      const watching = await EventStream.watch(author.on(witness.baseUrl), executionId);
      await watching.until('node_started');
      const begun = performance.now();
      await owner.end('SIGKILL');
      await watching.ended;
      if (watching.events.at(-1) !== 'execution_aborted') {
        throw new TypeError(`The run of a killed server ended with ${watching.events.at(-1)}.`);
      }
      return [
        {
          path: `owner killed → ABORTED told by another server, heartbeat of ${heartbeat} s`,
          unit: 's',
          better: 'lower',
          value: (performance.now() - begun) / 1000,
          // Three missed beats, a sweep, and a moment for its rows.
          asked: { of: 'value', good: 3 * heartbeat + SWEEP_SECONDS + 5 },
        },
      ];
    } finally {
      await owner.end('SIGKILL');
      await witness.end();
    }
  },
};
