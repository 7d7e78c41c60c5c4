import { releasedPipeline, releasedTemplate } from '../content.js';
import { KeepAliveClient } from '../load/keep-alive-client.js';
import { Runs } from '../load/runs.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const PAGE = 1000;
const READS = 60;

export const resultPage: BenchPath = {
  name: 'result-page',
  about: 'a page of 1,000 rows of a stored result of about 100 MB, at its beginning, middle and end',
  async measure({ author, server, keys }, options) {
    const rows = options.quick ? 100_000 : 850_000;
    const body = `SELECT i AS id, i * 4294967311 AS big, 'label of row ' || i AS label, repeat('x', 60) AS filler, i % 3 = 0 AS flag FROM range(${rows}) AS r(i)`;
    await releasedTemplate(author, 'bench/page/rows.sql', 'DUCKDB', body);
    const template = { id: 'bench/page/rows.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/page/run', [
      { id: 'read', type: 'DQL', source: 'tempdb', template, output: { target: 'caller' } },
    ]);
    const runs = new Runs(server.baseUrl, keys, 1);
    const client = new KeepAliveClient(server.baseUrl, 1);
    try {
      const execution = /"execution_id":"([0-9a-f-]{36})"/.exec(await runs.run(pipeline))?.[1];
      const offsets = { beginning: 0, middle: Math.floor(rows / 2), end: rows - PAGE };
      const times = { beginning: [] as number[], middle: [] as number[], end: [] as number[] };
      for (let read = -10; read < READS; read += 1) {
        for (const place of ['beginning', 'middle', 'end'] as const) {
          const path = `/api/v1/executions/${execution}/result?offset=${offsets[place]}&limit=${PAGE}`;
          const begun = performance.now();
          await client.send({ method: 'GET', path, headers: { 'DP-API-Key': keys[0]! } });
          if (read >= 0) times[place].push(performance.now() - begun);
        }
      }
      const p50 = { beginning: median(times.beginning), middle: median(times.middle), end: median(times.end) };
      return [
        {
          path: `result page, 1,000 of ${rows.toLocaleString('en')} rows, p50`,
          unit: 'ms',
          better: 'lower',
          value: Math.max(p50.beginning, p50.middle, p50.end),
          asked: { of: 'value', good: 8, great: 3 },
          note: `offset at the beginning ${p50.beginning.toFixed(1)}, middle ${p50.middle.toFixed(1)}, end ${p50.end.toFixed(1)} ms`,
        },
      ];
    } finally {
      runs.close();
      client.close();
    }
  },
};
