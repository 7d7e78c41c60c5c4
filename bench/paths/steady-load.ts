import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { closedLoop, type LoadResult } from '../load/closed-loop.js';
import { Runs } from '../load/runs.js';
import { amount } from '../options.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 32;
const SLICES = 10;

export const steadyLoad: BenchPath = {
  name: 'steady-load',
  about: 'five minutes of trivial runs by 32 clients of 4 users: the rate, and whether the tail stays flat',
  async measure({ author, server, keys }, options) {
    const seconds = amount(options, { full: 300, quick: 30, smoke: 1 });
    await releasedTemplate(author, 'bench/steady/one.sql', 'POSTGRES', 'SELECT 1 AS one');
    const template = { id: 'bench/steady/one.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/steady/run', [
      { id: 'read', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    const runs = new Runs(server.baseUrl, keys, CLIENTS);
    const slices: LoadResult[] = [];
    try {
      await closedLoop(CLIENTS, seconds / 30, (client) => runs.run(pipeline, client));
      for (let slice = 0; slice < SLICES; slice += 1) {
        slices.push(await closedLoop(CLIENTS, seconds / SLICES, (client) => runs.run(pipeline, client)));
      }
    } finally {
      runs.close();
    }
    const half = SLICES / 2;
    const p99 = (part: LoadResult[]): number => median(part.map((slice) => slice.p99));
    const first = p99(slices.slice(0, half));
    return [
      {
        path: `trivial runs for ${seconds} s, 32 clients`,
        unit: 'runs/s',
        better: 'higher',
        value: median(slices.map(({ perSecond }) => perSecond)),
        asked: { of: 'value', good: 200, great: 800 },
        note: `p99 of the slowest tenth ${Math.max(...slices.map((slice) => slice.p99)).toFixed(0)} ms`,
      },
      {
        path: `p99 of the second half of ${seconds} s`,
        unit: 'ms',
        better: 'lower',
        value: p99(slices.slice(half)),
        limit: { what: 'first half', value: first },
        asked: { of: 'ratio', good: 0.8, great: 0.95 },
      },
    ];
  },
};
