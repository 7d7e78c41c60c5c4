import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import { amount } from '../options.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

export const storedResult: BenchPath = {
  name: 'stored-result',
  about: 'Postgres → staging → stored result, 500 k rows × 8 mixed columns',
  async measure({ author, server, keys, sourceUrl }, options) {
    const rows = amount(options, { full: 500_000, quick: 100_000, smoke: 2000 });
    await benchRows(sourceUrl, rows);
    const body = `SELECT ${COLUMNS} FROM bench_rows WHERE id <= ${rows}`;
    await releasedTemplate(author, 'bench/result/rows.sql', 'POSTGRES', body);
    await releasedTemplate(author, 'bench/result/read.sql', 'DUCKDB', `SELECT ${COLUMNS} FROM staged`);
    const stage = {
      id: 'stage',
      type: 'DQL',
      source: SOURCE,
      template: { id: 'bench/result/rows.sql', version: 1 },
      output: { target: 'tempdb', table: 'staged' },
    };
    const read = {
      id: 'read',
      type: 'DQL',
      source: 'tempdb',
      template: { id: 'bench/result/read.sql', version: 1 },
      depends_on: ['stage'],
      output: { target: 'caller' },
    };
    const whole = await releasedPipeline(author, 'bench/result/whole', [stage, read]);
    const firstHalf = await releasedPipeline(author, 'bench/result/stage', [stage]);
    const runs = new Runs(server.baseUrl, keys, 1);
    try {
      const turns = await repeat(options.runs, async () => ({
        whole: await runs.seconds(whole),
        firstHalf: await runs.seconds(firstHalf),
      }));
      const seconds = median(turns.map((turn) => turn.whole));
      const staging = median(turns.map((turn) => turn.firstHalf));
      return [
        {
          path: `Postgres → staging → stored result, ${rows.toLocaleString('en')} rows × 8`,
          unit: 'rows/s',
          better: 'higher',
          value: rows / seconds,
          asked: { of: 'value', good: 250_000, great: 450_000 },
          note: `staging ${staging.toFixed(2)} s of ${seconds.toFixed(2)} s`,
        },
      ];
    } finally {
      runs.close();
    }
  },
};
