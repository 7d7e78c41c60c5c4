import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { bullmq, graphileWorker, pgBoss } from '../load/job-queues.js';
import { closedLoop, medianLoad } from '../load/closed-loop.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import type { Measurement } from '../measurement.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 32;

export const peers: BenchPath = {
  name: 'peers',
  about:
    'launch to finish beside graphile-worker, pg-boss and bullmq with a job of one SELECT 1 each; 1, then 32 at a time',
  async measure({ author, server, keys, sourceUrl, redis }, options) {
    if (!redis) throw new TypeError('The peer bullmq needs redis-server.');
    await releasedTemplate(author, 'bench/peers/one.sql', 'POSTGRES', 'SELECT 1 AS one');
    const template = { id: 'bench/peers/one.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/peers/run', [
      { id: 'read', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    const where = { databaseUrl: sourceUrl, redisUrl: redis.url, workers: CLIENTS };
    const measured = async (job: (client: number) => Promise<unknown>) => {
      const turns = await repeat(options.runs, async () => ({
        one: await closedLoop(1, options.seconds, job),
        many: await closedLoop(CLIENTS, options.seconds, job),
      }));
      return {
        one: medianLoad(turns.map(({ one }) => one)),
        many: medianLoad(turns.map(({ many }) => many)),
      };
    };
    const runs = new Runs(server.baseUrl, keys, CLIENTS);
    const own = await measured((client) => runs.run(pipeline, client));
    runs.close();
    const rows: Measurement[] = [];
    for (const open of [graphileWorker, pgBoss, bullmq]) {
      const queue = await open(where);
      try {
        const peer = await measured(() => queue.job());
        rows.push(
          {
            path: 'trivial run, 1 client, p50',
            unit: 'ms',
            better: 'lower',
            value: own.one.p50,
            limit: { what: queue.name, value: peer.one.p50 },
          },
          {
            path: 'trivial run, 32 clients',
            unit: 'runs/s',
            better: 'higher',
            value: own.many.perSecond,
            limit: { what: queue.name, value: peer.many.perSecond },
            note: 'a job of the peer keeps no log, result, version, permission or audit row',
          },
        );
      } finally {
        await queue.close();
      }
    }
    return rows;
  },
};
