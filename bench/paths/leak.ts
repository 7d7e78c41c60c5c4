import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { EventStream } from '../../test/fixtures/event-stream.js';
import { heapAfterCollection } from '../../test/fixtures/heap.js';
import type { ApiClient } from '../../test/fixtures/api-client.js';
import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE, type BenchDeployment } from '../deployment.js';
import { ProcessMemory } from '../load/process-memory.js';
import { Runs } from '../load/runs.js';
import { amount } from '../options.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 8;

export const leak: BenchPath = {
  name: 'leak',
  about:
    '1,000 mixed runs (completed, failed, cancelled, dropped): what is left of memory, connections, leases, keys, files',
  async measure(deployment, options) {
    const total = amount(options, { full: 1000, quick: 100, smoke: 8 });
    const rest = amount(options, { full: 75, quick: 62, smoke: 2 });
    const { author, server, keys } = deployment;
    const kinds = await mixedRuns(deployment);
    const runs = new Runs(server.baseUrl, keys, CLIENTS);
    const memory = new ProcessMemory(server.process.pid);
    let resident: number;
    const some = async (from: number, to: number): Promise<void> => {
      let next = from;
      const client = async (): Promise<void> => {
        while (next < to) {
          const nth = next++;
          await kinds[nth % kinds.length]!(runs, author);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
    };
    let warm: number;
    let worked: number;
    try {
      // The first tenth warms up: caches fill, code is compiled.
      await some(0, Math.ceil(total / 10));
      warm = await heapAfterCollection(server);
      resident = memory.resident;
      await some(0, total);
      worked = await heapAfterCollection(server);
    } finally {
      runs.close();
    }
    // Logs of runs that have just ended are kept for a moment, for watchers who come back.
    await delay(rest * 1000);
    const rested = await heapAfterCollection(server);
    const left = await leftBehind(deployment);
    return [
      {
        path: 'heap of the server that stays, for each 1,000 mixed runs',
        unit: 'MB',
        better: 'lower',
        value: (Math.max(0, rested - warm) / total) * 1000,
        asked: { of: 'value', good: 8, great: 2 },
        note: `${total} runs; ${warm.toFixed(0)} MB when warm, ${worked.toFixed(0)} MB at their end, ${rested.toFixed(0)} MB ${rest} s later; resident ${resident.toFixed(0)} → ${memory.resident.toFixed(0)} MB`,
      },
      {
        path: `left behind by ${total} mixed runs`,
        unit: 'things',
        better: 'lower',
        value: Object.values(left).reduce((sum, count) => sum + count, 0),
        asked: { of: 'value', good: 0 },
        note: Object.entries(left)
          .map(([what, count]) => `${what} ${count}`)
          .join(', '),
      },
    ];
  },
};

type OneRun = (runs: Runs, author: ApiClient) => Promise<unknown>;

async function mixedRuns({ author, sourceUrl }: BenchDeployment): Promise<OneRun[]> {
  await benchRows(sourceUrl, 5000);
  await releasedTemplate(author, 'bench/leak/one.sql', 'POSTGRES', 'SELECT 1 AS one');
  await releasedTemplate(
    author,
    'bench/leak/rows.sql',
    'POSTGRES',
    `SELECT ${COLUMNS} FROM bench_rows WHERE id <= 5000`,
  );
  await releasedTemplate(author, 'bench/leak/read.sql', 'DUCKDB', 'SELECT * FROM staged');
  await releasedTemplate(author, 'bench/leak/broken.sql', 'POSTGRES', 'SELECT 1 / 0 AS broken');
  await releasedTemplate(author, 'bench/leak/sleep.sql', 'POSTGRES', 'SELECT pg_sleep(60) AS slept');
  const caller = { target: 'caller' };
  const read = (id: string, template: string) => ({
    id,
    type: 'DQL',
    source: SOURCE,
    template: { id: `bench/leak/${template}.sql`, version: 1 },
    output: caller,
  });
  const trivial = await releasedPipeline(author, 'bench/leak/trivial', [read('one', 'one')]);
  const staged = await releasedPipeline(author, 'bench/leak/staged', [
    { ...read('stage', 'rows'), output: { target: 'tempdb', table: 'staged' } },
    { ...read('read', 'read'), source: 'tempdb', depends_on: ['stage'] },
  ]);
  const failing = await releasedPipeline(author, 'bench/leak/failing', [read('broken', 'broken')]);
  const sleeping = await releasedPipeline(author, 'bench/leak/sleeping', [read('sleep', 'sleep')]);
  const completed: OneRun = (runs) => runs.run(trivial);
  return [
    completed,
    (runs) => runs.run(staged),
    completed,
    async (_runs, client) => (await EventStream.run(client, failing)).last(),
    (runs) => runs.run(staged),
    completed,
    async (_runs, client) => {
      const stream = await EventStream.run(client, sleeping);
      await client.data('DELETE', `/api/v1/executions/${stream.executionId}`);
      await stream.last();
    },
    async (_runs, client) => {
      const watched = await EventStream.run(client, staged);
      (await EventStream.watch(client, watched.executionId)).drop();
      await watched.last();
    },
  ];
}

/** What a server at rest must not have. */
async function leftBehind({ metadataUrl, sourceUrl, redis, spillDirectory }: BenchDeployment) {
  const busy = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                   AND state <> 'idle'`;
  const client = redis!.client;
  let keysWithoutTtl = 0;
  let leases = 0;
  for (const key of await client.keys('dp:*')) {
    if ((await client.ttl(key)) === -1) keysWithoutTtl += 1;
    if (/^dp:(slots|sse):/.test(key)) leases += await client.zcard(key);
  }
  const files = await readdir(spillDirectory, { recursive: true, withFileTypes: true }).catch(() => []);
  return {
    'runs under way': await count(metadataUrl, `SELECT count(*) FROM pipeline_executions WHERE status = 'RUNNING'`),
    'connections at work': (await count(metadataUrl, busy)) + (await count(sourceUrl, busy)),
    leases,
    'keys without an end': keysWithoutTtl,
    'spill files': files.filter((file) => file.isFile()).length,
  };
}

async function count(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(sql);
    return Number(rows[0]!.count);
  } finally {
    await client.end();
  }
}
