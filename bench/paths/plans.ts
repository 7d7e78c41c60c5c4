import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ApiClient } from '../../test/fixtures/api-client.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE, type BenchDeployment } from '../deployment.js';
import { amount } from '../options.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const EVENTS_EACH = 20;
const READS = 15;
/** Statistics of a session are written a second after it is idle at the latest. */
const STATISTICS_MS = 1500;
const TABLES = ['pipeline_executions', 'execution_events'];

export const plans: BenchPath = {
  name: 'plans',
  about: 'lists, replays and sweeps beside 1,000,000 runs with 20 events each: rows read without an index, and times',
  async measure(deployment, options) {
    const runs = amount(options, { full: 1_000_000, quick: 100_000, smoke: 2000 });
    const { author } = deployment;
    await releasedTemplate(author, 'bench/plans/one.sql', 'POSTGRES', 'SELECT 1 AS one');
    const template = { id: 'bench/plans/one.sql', version: 1 };
    const pipeline = await releasedPipeline(author, 'bench/plans/run', [
      { id: 'read', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    const client = await fill(deployment, pipeline, runs);
    try {
      const { rows } = await client.query<{ execution_id: string }>(
        'SELECT execution_id FROM pipeline_executions WHERE pipeline_id = $1 LIMIT 1 OFFSET $2',
        [pipeline, Math.floor(runs / 2)],
      );
      // What this session has read itself is not to be counted later.
      await client.query('SELECT pg_stat_force_next_flush()');
      const acts = readsOf(author, pipeline, rows[0]!.execution_id);
      // Every statement is prepared and every page of an index warm.
      for (const act of Object.values(acts)) await act();
      await delay(STATISTICS_MS);
      const before = await readings(client);
      const times: Record<string, number> = {};
      for (const [name, act] of Object.entries(acts)) times[name] = await p50(act);
      // The server's own sweep and heartbeat run beside the reads, every fifteen seconds.
      await delay(options.smoke ? STATISTICS_MS : 16_000);
      const after = await readings(client);
      const told = (of: Record<string, number>): string =>
        Object.entries(of)
          .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
          .join(', ');
      return [
        {
          path: `rows of runs and events read without an index, beside ${runs.toLocaleString('en')} runs and ${(runs * EVENTS_EACH).toLocaleString('en')} events`,
          unit: 'rows',
          better: 'lower',
          value: after.sequential - before.sequential,
          asked: { of: 'value', good: 0 },
          note: `indexes used: ${after.indexes.filter((index) => !before.unusedSince(index, after)).join(', ')}`,
        },
        {
          path: `slowest of lists and replays beside ${runs.toLocaleString('en')} runs, p50`,
          unit: 'ms',
          better: 'lower',
          value: Math.max(...Object.values(times)),
          asked: { of: 'value', good: 20 },
          note: `${told(times)} ms`,
        },
      ];
    } finally {
      await client.query('SET session_replication_role = replica');
      await client.query('TRUNCATE execution_events');
      await client.query('DELETE FROM pipeline_executions WHERE pipeline_id = $1', [pipeline]);
      await client.end();
    }
  },
};

function readsOf(author: ApiClient, pipeline: string, execution: string): Record<string, () => Promise<void>> {
  const page =
    (filter: string, after = '') =>
    async () => {
      const query = `{ executions(first: 50, filter: ${filter}${after}) { edges { node { id status } } pageInfo { endCursor } } }`;
      const answer = await author.call('POST', '/graphql', { query });
      const { edges, pageInfo } = answer.body.data?.executions ?? { edges: [] };
      if (edges.length === 0) throw new TypeError(`The list is refused: ${answer.text.slice(0, 1000)}`);
      return pageInfo.endCursor as string;
    };
  const first = page(`{}`);
  return {
    'first page': async () => void (await first()),
    'next page': async () => void (await page(`{}`, `, after: "${await first()}"`)()),
    'of a pipeline': async () => void (await page(`{pipelineId: "${pipeline}"}`)()),
    'one run': async () => void (await author.data('GET', `/api/v1/executions/${execution}`)),
    replay: async () => void (await author.data('GET', `/api/v1/executions/${execution}/events?format=json&limit=50`)),
  };
}

async function p50(act: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const begun = performance.now();
    await act();
    times.push(performance.now() - begun);
  }
  return median(times);
}

interface Readings {
  sequential: number;
  indexes: string[];
  /** True when the index has not been scanned between this reading and a later one. */
  unusedSince(index: string, later: Readings): boolean;
  scans: ReadonlyMap<string, number>;
}

async function readings(client: pg.Client): Promise<Readings> {
  const tables = await client.query<{ rows: string }>(
    'SELECT sum(seq_tup_read) AS rows FROM pg_stat_user_tables WHERE relname = ANY($1)',
    [TABLES],
  );
  const indexes = await client.query<{ name: string; scans: string }>(
    'SELECT indexrelname AS name, idx_scan AS scans FROM pg_stat_user_indexes WHERE relname = ANY($1) ORDER BY 1',
    [TABLES],
  );
  const scans = new Map(indexes.rows.map((row) => [row.name, Number(row.scans)]));
  return {
    sequential: Number(tables.rows[0]!.rows),
    indexes: [...scans.keys()],
    unusedSince: (index, later) => scans.get(index) === later.scans.get(index),
    scans,
  };
}

/** Runs of the last six days and their events, made in the database: each by itself would take days. */
async function fill(deployment: BenchDeployment, pipeline: string, runs: number): Promise<pg.Client> {
  const url = new URL(deployment.postgres.superuserUrl);
  url.pathname = new URL(deployment.metadataUrl).pathname;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  // Without a look at each foreign key, and with the unique index built when the rows are there.
  await client.query('SET session_replication_role = replica');
  await client.query('ALTER TABLE execution_events DROP CONSTRAINT uq_events_execution_event');
  await client.query(
    `INSERT INTO pipeline_executions (execution_id, root_execution_id, pipeline_id, pipeline_version, status, triggered_by,
                                      triggered_via, started_at, completed_at, duration_ms)
     SELECT id, id, $1, 1, CASE WHEN i % 50 = 0 THEN 'FAILED' ELSE 'SUCCESS' END, owner.user_id, 'REST',
            NOW() - i * interval '6 days' / $2::int, NOW() - i * interval '6 days' / $2::int, 1
       FROM (SELECT gen_random_uuid() AS id, i FROM generate_series(1, $2::int) i) made,
            (SELECT user_id FROM workspace_members LIMIT 1) owner`,
    [pipeline, runs],
  );
  await client.query(
    `INSERT INTO execution_events (execution_id, event_id, event_type, timestamp, payload_json)
     SELECT e.execution_id, n, 'node_progress', e.started_at, '{"node_id": "read", "state": "fetching"}'
       FROM pipeline_executions e, generate_series(1, ${EVENTS_EACH}) n WHERE e.pipeline_id = $1`,
    [pipeline],
  );
  await client.query(
    'ALTER TABLE execution_events ADD CONSTRAINT uq_events_execution_event UNIQUE (execution_id, event_id)',
  );
  await client.query('VACUUM ANALYZE pipeline_executions');
  await client.query('VACUUM ANALYZE execution_events');
  await client.query('ANALYZE');
  return client;
}
