import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { drainCopy } from '../limits/copy-drain.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import { amount } from '../options.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

export const staging: BenchPath = {
  name: 'staging',
  about: 'Postgres → staging, 2 M rows × 8 mixed columns, against COPY … TO STDOUT (text) drained by the same client',
  async measure({ author, server, keys, sourceUrl }, options) {
    const rows = amount(options, { full: 2_000_000, quick: 500_000, smoke: 2000 });
    await benchRows(sourceUrl, rows);
    const query = `SELECT ${COLUMNS} FROM bench_rows WHERE id <= ${rows}`;
    await releasedTemplate(author, 'bench/staging/rows.sql', 'POSTGRES', query);
    const pipeline = await releasedPipeline(author, 'bench/staging/run', [
      {
        id: 'stage',
        type: 'DQL',
        source: SOURCE,
        template: { id: 'bench/staging/rows.sql', version: 1 },
        output: { target: 'tempdb', table: 'staged' },
      },
    ]);
    const runs = new Runs(server.baseUrl, keys, 1);
    try {
      const turns = await repeat(options.runs, async () => ({
        staged: rows / (await runs.seconds(pipeline)),
        drained: rows / (await drainCopy(sourceUrl, query)).seconds,
      }));
      return [
        {
          path: `Postgres → staging, ${rows.toLocaleString('en')} rows × 8`,
          unit: 'rows/s',
          better: 'higher',
          value: median(turns.map(({ staged }) => staged)),
          limit: { what: 'COPY drain, text', value: median(turns.map(({ drained }) => drained)) },
          asked: { of: 'ratio', good: 0.7, great: 0.9 },
          note: 'whole run over HTTP',
        },
      ];
    } finally {
      runs.close();
    }
  },
};
