import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { KeepAliveClient } from '../load/keep-alive-client.js';
import { Paced } from '../load/pace.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import { amount } from '../options.js';
import { median, percentile } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const NODES = 4;
const EVERY_MS = 20;

export const apiUnderLoad: BenchPath = {
  name: 'api-under-load',
  about: 'the event loop, /health and a list of runs while four nodes of one run stage rows at once',
  async measure({ author, server, keys, sourceUrl }, options) {
    const rows = amount(options, { full: 1_000_000, quick: 300_000, smoke: 2000 });
    await benchRows(sourceUrl, rows);
    const body = `SELECT ${COLUMNS} FROM bench_rows WHERE id <= ${rows}`;
    await releasedTemplate(author, 'bench/load/rows.sql', 'POSTGRES', body);
    const pipeline = await releasedPipeline(
      author,
      'bench/load/run',
      Array.from({ length: NODES }, (_, index) => ({
        id: `stage${index}`,
        type: 'DQL',
        source: SOURCE,
        template: { id: 'bench/load/rows.sql', version: 1 },
        output: { target: 'tempdb', table: `staged${index}` },
      })),
    );
    const runs = new Runs(server.baseUrl, keys, 1);
    const client = new KeepAliveClient(server.baseUrl, 2);
    const headers = { 'DP-API-Key': keys[0]! };
    try {
      const turns = await repeat(options.runs, async () => {
        await loopDelayMs(server.managementUrl);
        const health = new Paced(EVERY_MS, () => client.send({ method: 'GET', path: '/health' }));
        const list = new Paced(EVERY_MS, () =>
          client.send({ method: 'GET', path: '/api/v1/executions?limit=20', headers }),
        );
        const seconds = await runs.seconds(pipeline);
        const delay = await loopDelayMs(server.managementUrl);
        return { delay, seconds, health: await health.end(), list: await list.end() };
      });
      const p99 = (samples: number[][]): string => percentile(samples.flat(), 0.99).toFixed(1);
      return [
        {
          path: 'event loop while four nodes stage, p99',
          unit: 'ms',
          better: 'lower',
          value: median(turns.map(({ delay }) => delay)),
          asked: { of: 'value', good: 60, great: 20 },
          note: `p99 of /health ${p99(turns.map(({ health }) => health))} ms, of a list of runs ${p99(turns.map(({ list }) => list))} ms; ${((NODES * rows) / median(turns.map(({ seconds }) => seconds))).toLocaleString('en', { maximumFractionDigits: 0 })} rows/s staged beside them`,
        },
      ];
    } finally {
      runs.close();
      client.close();
    }
  },
};

/** As the server's own metrics say it; each look begins anew. */
async function loopDelayMs(managementUrl: string): Promise<number> {
  const metrics = await (await fetch(`${managementUrl}/metrics`)).text();
  const seconds = /^datapipelines_eventloop_delay_seconds ([\d.e+-]+)$/m.exec(metrics)?.[1];
  if (seconds === undefined) throw new TypeError('The server does not tell the delay of its event loop.');
  return Number(seconds) * 1000;
}
