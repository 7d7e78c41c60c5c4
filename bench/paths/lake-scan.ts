import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import { releasedPipeline, releasedTemplate } from '../content.js';
import { repeat } from '../load/repeat.js';
import { Runs } from '../load/runs.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const FILES = 8;
const SCAN = `SELECT region, count(*) AS orders, sum(amount) AS amount, max(moment) AS latest, count(DISTINCT label) AS labels
                FROM orders WHERE flag GROUP BY region ORDER BY region`;

export const lakeScan: BenchPath = {
  name: 'lake-scan',
  about: 'a grouping scan of Parquet files through a lake, against DuckDB alone on the same files',
  async measure({ admin, author, server, keys, fileRoot }, options) {
    const rows = options.quick ? 8_000_000 : 24_000_000;
    const folder = join(fileRoot, 'lake-scan');
    const alone = await DuckDBInstance.create(':memory:');
    const engine = await alone.connect();
    await writeFiles(engine, folder, rows);
    await engine.run(`SET threads = ${Math.min(4, availableParallelism())}`);
    await engine.run(
      `CREATE VIEW orders AS SELECT * FROM read_parquet('${folder}/**/*.parquet', hive_partitioning = true)`,
    );
    const lake = { name: 'bench-lake', display_name: 'Lake', dialect: 'LAKE', jdbc_url: 'jdbc:duckdb:' };
    await admin.data('POST', '/api/v1/datasources', lake);
    const table = { namespace: 'shop', name: 'orders', format: 'parquet', location: `file://${folder}/` };
    await author.data('POST', '/api/v1/datasources/bench-lake/tables', table);
    await releasedTemplate(author, 'bench/lake/scan.sql', 'LAKE', SCAN);
    const template = { id: 'bench/lake/scan.sql', version: 1 };
    const node = { id: 'scan', type: 'DQL', source: 'bench-lake', template, output: { target: 'caller' } };
    const pipeline = await releasedPipeline(author, 'bench/lake/run', [node]);
    const runs = new Runs(server.baseUrl, keys, 1);
    try {
      const turns = await repeat(options.runs, async () => ({
        lake: await runs.seconds(pipeline),
        alone: await seconds(() => engine.runAndReadAll(SCAN)),
      }));
      return [
        {
          path: `lake scan, ${rows.toLocaleString('en')} rows in ${FILES} Parquet files, whole run over HTTP`,
          unit: 's',
          better: 'lower',
          value: median(turns.map((turn) => turn.lake)),
          limit: { what: 'DuckDB alone, the same files', value: median(turns.map((turn) => turn.alone)) },
          asked: { of: 'ratio', good: 0.83, great: 0.95 },
        },
      ];
    } finally {
      runs.close();
      engine.disconnectSync();
      alone.closeSync();
    }
  },
};

async function writeFiles(engine: DuckDBConnection, folder: string, rows: number): Promise<void> {
  for (let file = 0; file < FILES; file += 1) {
    const day = join(folder, `day=${file}`);
    mkdirSync(day, { recursive: true });
    await engine.run(
      `COPY (SELECT i AS id, 'region ' || (i % 50) AS region, (i % 100000000)::DECIMAL(12, 2) / 100 AS amount,
                    'label ' || (i % 1000) AS label, TIMESTAMP '2020-01-01' + to_seconds(i) AS moment, i % 3 > 0 AS flag
               FROM range(${(rows / FILES) * file}, ${(rows / FILES) * (file + 1)}) t(i)) TO '${join(day, 'part.parquet')}'`,
    );
  }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
