import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { startBareHandler } from '../limits/bare-handler.js';
import { closedLoop, medianLoad, type LoadResult } from '../load/closed-loop.js';
import { KeepAliveClient } from '../load/keep-alive-client.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 32;

export const trivialRun: BenchPath = {
  name: 'trivial-run',
  about: 'launch → execution_started → finished of one SELECT 1 caller node over HTTP; 1 client, then 32 of 4 users',
  async measure(deployment, options) {
    const { author } = deployment;
    await releasedTemplate(author, 'bench/trivial/one.sql', 'POSTGRES', 'SELECT 1 AS one');
    const template = { id: 'bench/trivial/one.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/trivial/run', [
      { id: 'read', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    const bare = await startBareHandler(deployment.sourceUrl);
    const runs = new Runs(deployment.server.baseUrl, deployment.keys, CLIENTS);
    const handler = new KeepAliveClient(bare.baseUrl, CLIENTS);
    try {
      // Product and limit take turns, so that both meet the same neighbours on the machine.
      const turns = await repeat(options.runs, async () => {
        const turn: Record<'one' | 'many' | 'bareOne' | 'bareMany', LoadResult> = {
          one: await closedLoop(1, options.seconds, () => runs.run(pipeline)),
          bareOne: await closedLoop(1, options.seconds / 2, () => handler.send({ method: 'POST', path: '/run' })),
          many: await closedLoop(CLIENTS, options.seconds, (client) => runs.run(pipeline, client)),
          bareMany: await closedLoop(CLIENTS, options.seconds / 2, () =>
            handler.send({ method: 'POST', path: '/run' }),
          ),
        };
        return turn;
      });
      const [one, many, bareOne, bareMany] = (['one', 'many', 'bareOne', 'bareMany'] as const).map((part) =>
        medianLoad(turns.map((turn) => turn[part])),
      );
      const what = 'bare handler, INSERT + UPDATE';
      return [
        {
          path: 'trivial run, 1 client, p50',
          unit: 'ms',
          better: 'lower',
          value: one!.p50,
          limit: { what, value: bareOne!.p50 },
          asked: { of: 'value', good: 15, great: 8 },
        },
        {
          path: 'trivial run, 32 clients of 4 users',
          unit: 'runs/s',
          better: 'higher',
          value: many!.perSecond,
          limit: { what, value: bareMany!.perSecond },
          asked: { of: 'value', good: 200, great: 800 },
        },
        {
          path: 'trivial run, 32 clients, p99',
          unit: 'ms',
          better: 'lower',
          value: many!.p99,
          limit: { what, value: bareMany!.p99 },
          asked: { of: 'value', good: 500 },
        },
      ];
    } finally {
      runs.close();
      handler.close();
      await bare.stop();
    }
  },
};
