import { setTimeout as delay } from 'node:timers/promises';
import { EventStream } from '../../test/fixtures/event-stream.js';
import { DEBUGGED, heapAfterCollection } from '../../test/fixtures/heap.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { Watchers } from '../load/watchers.js';
import { amount } from '../options.js';
import { percentile } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

/** Rows of a batch: the source sleeps a second before each, so that the node tells of one a second. */
const BATCH = 2000;
const STREAMS_EACH = 2000;

export const sseStreams: BenchPath = {
  name: 'sse-streams',
  about:
    '5,000 open streams of a run that tells one event a second: from the event to each watcher, and memory a stream',
  async measure(deployment, options) {
    const streams = amount(options, { full: 5000, quick: 1000, smoke: 20 });
    const seconds = amount(options, { full: 20, quick: 8, smoke: 2 });
    const { author } = deployment;
    const body = `SELECT i, CASE WHEN i % ${BATCH} = 0 THEN pg_sleep(1) END AS slept FROM generate_series(1, 1000000) i`;
    await releasedTemplate(author, 'bench/streams/slow.sql', 'POSTGRES', body);
    const template = { id: 'bench/streams/slow.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/streams/run', [
      { id: 'tell', type: 'DQL', source: SOURCE, template, output: { target: 'tempdb', table: 'told' } },
    ]);
    const server = await deployment.anotherServer({
      ...DEBUGGED,
      DATAPIPELINES_SSE_MAX_STREAMS_PER_USER: String(STREAMS_EACH),
      DATAPIPELINES_EXECUTOR_NODE_QUERY_TIMEOUT_SECONDS: '900',
    });
    const watchers = new Watchers();
    try {
      const own = await EventStream.run(author.on(server.baseUrl), pipeline);
      const before = await heapAfterCollection(server);
      const { baseUrl } = server;
      const { keys } = deployment;
      await watchers.open(streams, own.executionId, (nth) => ({ baseUrl, key: keys[nth % keys.length]! }));
      await delay(1000);
      const kilobytesEach = (((await heapAfterCollection(server)) - before) * 1024) / streams;
      watchers.begin();
      await delay(seconds * 1000);
      const delays = [...watchers.arrivals];
      await author.on(baseUrl).data('DELETE', `/api/v1/executions/${own.executionId}`);
      await own.last();
      return [
        {
          path: `${streams.toLocaleString('en')} open streams, one event a second, event → watcher, p95`,
          unit: 'ms',
          better: 'lower',
          value: percentile(delays, 0.95),
          asked: { of: 'value', good: 250, great: 120 },
          note: `p99 ${percentile(delays, 0.99).toFixed(0)} ms; ${(delays.length / streams).toFixed(1)} events each in ${seconds} s`,
        },
        {
          path: `heap of the server for each of ${streams.toLocaleString('en')} open streams`,
          unit: 'KiB',
          better: 'lower',
          value: Math.max(0, kilobytesEach),
          asked: { of: 'value', good: 20 },
          note: 'heap that a collection leaves',
        },
      ];
    } finally {
      watchers.close();
      await server.end();
    }
  },
};
