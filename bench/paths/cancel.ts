import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { EventStream } from '../../test/fixtures/event-stream.js';
import type { ApiClient } from '../../test/fixtures/api-client.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { repeat } from '../load/repeat.js';
import { amount } from '../options.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const SLEEP = 'SELECT pg_sleep(600) AS slept';
const PATIENCE_MS = 10_000;
/** Each waits for the next look of the owner, five seconds at most. */
const LOST_NUDGES = { full: 5, quick: 3, smoke: 1 };

const FLAG_SECONDS = 600;

interface Flags {
  set(key: string, value: string, unit: 'EX', seconds: number): Promise<unknown>;
}

export const cancel: BenchPath = {
  name: 'cancel',
  about: 'a run in pg_sleep: from DELETE until the database runs it no more, asked where it runs and of another server',
  async measure(deployment, options) {
    const { author } = deployment;
    await releasedTemplate(author, 'bench/cancel/sleep.sql', 'POSTGRES', SLEEP);
    const template = { id: 'bench/cancel/sleep.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/cancel/run', [
      { id: 'sleep', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    const other = await deployment.anotherServer();
    const watcher = new pg.Client({ connectionString: deployment.sourceUrl });
    await watcher.connect();
    try {
      const turns = await repeat(options.runs * 2, async () => ({
        here: await untilGone(watcher, author, author, pipeline),
        elsewhere: await untilGone(watcher, author, author.on(other.baseUrl), pipeline),
      }));
      const unheard: number[] = [];
      for (let turn = 0; deployment.redis && turn < amount(options, LOST_NUDGES); turn += 1) {
        unheard.push(await untilGone(watcher, author, author.on(other.baseUrl), pipeline, deployment.redis.client));
      }
      return [
        {
          path: 'cancel of pg_sleep, asked where it runs',
          unit: 'ms',
          better: 'lower',
          value: median(turns.map(({ here }) => here)),
          asked: { of: 'value', good: 300 },
        },
        {
          path: 'cancel of pg_sleep, asked of another server',
          unit: 'ms',
          better: 'lower',
          value: median(turns.map(({ elsewhere }) => elsewhere)),
          asked: { of: 'value', good: 1000 },
        },
        ...unheard.slice(0, 1).map(() => ({
          path: 'cancel of pg_sleep, asked of another server and the nudge lost, slowest',
          unit: 'ms',
          better: 'lower' as const,
          value: Math.max(...unheard),
          asked: { of: 'value' as const, good: 6000 },
          note: `of ${unheard.length}: the owner looks every five seconds`,
        })),
      ];
    } finally {
      await watcher.end();
      await other.end();
    }
  },
};

/**
 * Milliseconds from the request to cancel until the statement has left the database. With `flags` the request leaves what
 * another server leaves whose nudge nobody hears: the flag alone.
 */
async function untilGone(
  watcher: pg.Client,
  owner: ApiClient,
  asked: ApiClient,
  pipeline: string,
  flags?: Flags,
): Promise<number> {
  const stream = await EventStream.run(owner, pipeline);
  await untilRunning(watcher, true);
  const begun = performance.now();
  const gone = untilRunning(watcher, false);
  if (flags) await flags.set(`dp:cancel:${stream.executionId}`, 'cancelled', 'EX', FLAG_SECONDS);
  else await asked.data('DELETE', `/api/v1/executions/${stream.executionId}`);
  await gone;
  const took = performance.now() - begun;
  await stream.last();
  return took;
}

async function untilRunning(watcher: pg.Client, wanted: boolean): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < PATIENCE_MS; await delay(1)) {
    const { rows } = await watcher.query<{ running: boolean }>(
      `SELECT count(*) > 0 AS running FROM pg_stat_activity WHERE query LIKE $1 AND state = 'active' AND pid <> pg_backend_pid()`,
      [`%${SLEEP}%`],
    );
    if (rows[0]?.running === wanted) return;
  }
  throw new TypeError(`pg_sleep was ${wanted ? 'never there' : 'still there'} after ${PATIENCE_MS} ms.`);
}
