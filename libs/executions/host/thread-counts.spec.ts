import { expect, it } from '@jest/globals';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ThreadCounts } from './thread-counts.js';

/** What one thread counts. */
function thread() {
  const registry = new Registry();
  const registers = [registry];
  const runs = new Counter({ name: 'runs_total', help: 'Runs.', labelNames: ['status'], registers });
  const seconds = new Histogram({ name: 'run_seconds', help: 'Time.', buckets: [1], registers });
  const running = new Gauge({ name: 'running', help: 'Now.', registers });
  return {
    ran(count: number) {
      runs.inc({ status: 'SUCCESS' }, count);
      for (let run = 0; run < count; run++) seconds.observe(0.5);
      running.set(count);
    },
    /** A copy, as it crosses from a thread. */
    scraped: async () => structuredClone(await registry.getMetricsAsJSON()),
  };
}

async function told(counts: ThreadCounts<object>): Promise<string> {
  return AggregatorRegistry.aggregate(counts.all()).metrics();
}

it('counters and histograms of threads that are gone stay in the sum; of their gauges nothing does', async () => {
  const counts = new ThreadCounts<object>();
  const [first, second, third] = [thread(), thread(), thread()];
  first.ran(3);
  second.ran(5);
  third.ran(7);
  for (const one of [first, second, third]) counts.answered(one, await one.scraped());
  await counts.departed(first);
  await counts.departed(second);
  const text = await told(counts);
  expect(text).toContain('runs_total{status="SUCCESS"} 15');
  expect(text).toContain('run_seconds_count 15');
  expect(text).toContain('run_seconds_bucket{le="1"} 15');
  expect(text).toMatch(/^running 7$/m);
});

it('a thread that is too busy to answer counts as when it last did, and as what it says when it does again', async () => {
  const counts = new ThreadCounts<object>();
  const busy = thread();
  busy.ran(2);
  counts.answered(busy, await busy.scraped());
  busy.ran(2);
  expect(await told(counts)).toContain('runs_total{status="SUCCESS"} 2');
  counts.answered(busy, await busy.scraped());
  expect(await told(counts)).toContain('runs_total{status="SUCCESS"} 4');
});

it('one that never answered, or died before the first scrape, takes nothing from the others', async () => {
  const counts = new ThreadCounts<object>();
  await counts.departed(thread());
  expect(counts.all()).toEqual([]);
});
