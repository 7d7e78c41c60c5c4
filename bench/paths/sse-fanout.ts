import { EventStream } from '../../test/fixtures/event-stream.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE, type BenchDeployment } from '../deployment.js';
import { Watchers } from '../load/watchers.js';
import { amount } from '../options.js';
import { percentile } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

/** Each node sleeps a fifth of a second and tells of four events on its way. */
const PAUSE = 0.2;

export const sseFanout: BenchPath = {
  name: 'sse-fanout',
  about: '500 watchers on two servers, 20 events a second: from the event to each, and reads of the store',
  async measure(deployment, options) {
    const count = amount(options, { full: 500, quick: 200, smoke: 10 });
    const nodes = amount(options, { full: 60, quick: 25, smoke: 4 });
    const { author } = deployment;
    await releasedTemplate(author, 'bench/fanout/pause.sql', 'POSTGRES', `SELECT pg_sleep(${PAUSE}) AS slept`);
    const pipeline = await releasedPipeline(
      author,
      'bench/fanout/run',
      Array.from({ length: nodes }, (_, index) => ({
        id: `n${index}`,
        type: 'DQL',
        source: SOURCE,
        template: { id: 'bench/fanout/pause.sql', version: 1 },
        depends_on: index === 0 ? [] : [`n${index - 1}`],
        output: { target: 'tempdb', table: `t${index}` },
      })),
    );
    const other = await deployment.anotherServer();
    try {
      const few = await watched(deployment, other.baseUrl, pipeline, Math.ceil(count / 10));
      const many = await watched(deployment, other.baseUrl, pipeline, count);
      return [
        {
          path: `${count} watchers on two servers, event → watcher, p99`,
          unit: 'ms',
          better: 'lower',
          value: percentile(many.delays, 0.99),
          asked: { of: 'value', good: 250 },
          note: `${(many.delays.length / count / many.seconds).toFixed(0)} events/s each`,
        },
        {
          path: `reads of the store an event with ${count} watchers`,
          unit: 'commands',
          better: 'lower',
          value: many.reads / many.events,
          limit: { what: `with ${Math.ceil(count / 10)} watchers`, value: few.reads / few.events },
          asked: { of: 'ratio', good: 0.8, great: 0.95 },
        },
      ];
    } finally {
      await other.end();
    }
  },
};

interface Watched {
  delays: readonly number[];
  seconds: number;
  /** Commands that read streams or results, over the run. */
  reads: number;
  events: number;
}

async function watched(
  { author, server, keys, redis }: BenchDeployment,
  otherUrl: string,
  pipeline: string,
  count: number,
): Promise<Watched> {
  const watchers = new Watchers();
  try {
    const own = await EventStream.run(author, pipeline);
    await watchers.open(count, own.executionId, (nth) => ({
      baseUrl: nth % 2 === 0 ? server.baseUrl : otherUrl,
      key: keys[nth % keys.length]!,
    }));
    watchers.begin();
    const begun = performance.now();
    const readsBefore = await storeReads(redis!.client);
    const seenBefore = own.blocks.length;
    await own.last();
    const reads = (await storeReads(redis!.client)) - readsBefore;
    const seconds = (performance.now() - begun) / 1000;
    return { delays: [...watchers.arrivals], seconds, reads, events: own.blocks.length - seenBefore };
  } finally {
    watchers.close();
  }
}

/** Commands so far that read what runs have stored. */
async function storeReads(client: { info(section: string): Promise<string> }): Promise<number> {
  const statistics = await client.info('commandstats');
  return [...statistics.matchAll(/^cmdstat_(?:xrange|xread|xrevrange|get|mget|hget|hmget|lrange|zrange):calls=(\d+)/gm)]
    .map(([, calls]) => Number(calls))
    .reduce((sum, calls) => sum + calls, 0);
}
