import { releasedPipeline, releasedTemplate } from '../content.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const NODES = 40;

export const nodeOverhead: BenchPath = {
  name: 'node-overhead',
  about: 'a chain of 40 tempdb nodes, launch to finish ÷ 40, with events and progress on',
  async measure({ author, server, keys }, options) {
    await releasedTemplate(author, 'bench/chain/one.sql', 'DUCKDB', 'SELECT 1 AS one');
    const pipeline = await releasedPipeline(
      author,
      'bench/chain/run',
      Array.from({ length: NODES }, (_, index) => ({
        id: `n${index}`,
        type: 'DQL',
        source: 'tempdb',
        template: { id: 'bench/chain/one.sql', version: 1 },
        depends_on: index === 0 ? [] : [`n${index - 1}`],
        output: { target: 'tempdb', table: `t${index}` },
      })),
    );
    const runs = new Runs(server.baseUrl, keys, 1);
    try {
      const seconds = await repeat(options.runs * 2, () => runs.seconds(pipeline));
      return [
        {
          path: 'node overhead, chain of 40 tempdb nodes',
          unit: 'ms/node',
          better: 'lower',
          value: (median(seconds) * 1000) / NODES,
          asked: { of: 'value', good: 8, great: 4 },
        },
      ];
    } finally {
      runs.close();
    }
  },
};
