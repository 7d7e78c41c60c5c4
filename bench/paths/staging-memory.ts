import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { ProcessMemory } from '../load/process-memory.js';
import { Runs } from '../load/runs.js';
import { amount } from '../options.js';
import type { BenchPath } from './bench-path.js';

const LIMIT_MB = 512;

export const stagingMemory: BenchPath = {
  name: 'staging-memory',
  about: '10 M rows × 4 staged under a limit of 512 MB, then 1 M of them read out: peak memory of the process',
  async measure(deployment, options) {
    const rows = amount(options, { full: 10_000_000, quick: 2_000_000, smoke: 5000 });
    const read = rows / 10;
    const { author } = deployment;
    const columns = `i AS id, i::int8 * 4294967311 AS big, sqrt(i) AS ratio, 'label of row ' || i AS label`;
    const body = `SELECT ${columns} FROM (SELECT generate_series(1, ${rows}) AS i) AS numbers`;
    await releasedTemplate(author, 'bench/memory/rows.sql', 'POSTGRES', body);
    await releasedTemplate(author, 'bench/memory/read.sql', 'DUCKDB', `SELECT * FROM staged WHERE id <= ${read}`);
    const pipeline = await releasedPipeline(author, 'bench/memory/run', [
      {
        id: 'stage',
        type: 'DQL',
        source: SOURCE,
        template: { id: 'bench/memory/rows.sql', version: 1 },
        output: { target: 'tempdb', table: 'staged' },
      },
      {
        id: 'read',
        type: 'DQL',
        source: 'tempdb',
        template: { id: 'bench/memory/read.sql', version: 1 },
        depends_on: ['stage'],
        output: { target: 'caller' },
      },
    ]);
    const server = await deployment.anotherServer({ DATAPIPELINES_STAGING_MAX_MEMORY_MB: String(LIMIT_MB) });
    const runs = new Runs(server.baseUrl, deployment.keys, 1);
    try {
      const memory = new ProcessMemory(server.process.pid);
      const before = memory.resident;
      const seconds = await runs.seconds(pipeline);
      return [
        {
          path: `${rows.toLocaleString('en')} rows × 4 staged under ${LIMIT_MB} MB, peak memory above the limit`,
          unit: 'MB',
          better: 'lower',
          value: Math.max(0, memory.peak - LIMIT_MB),
          asked: { of: 'value', good: 450, great: 250 },
          note: `peak ${memory.peak.toFixed(0)} MB, ${before.toFixed(0)} MB before; ${seconds.toFixed(1)} s in all, ${read.toLocaleString('en')} rows read out`,
        },
      ];
    } finally {
      runs.close();
      await server.end();
    }
  },
};
