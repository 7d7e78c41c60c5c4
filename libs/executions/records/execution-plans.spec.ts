import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database, Queryable, Transaction, Transactional } from '#libs/persistence';
import { MemoryTransientStore } from '#libs/transient';
import { createTestDatabase, TestInstance, TestWorkspace, type TestDatabase } from '../executions.fixture.js';
import { EventTable } from './event-table.js';
import { Heartbeats } from './heartbeats.js';

/** Enough that reading them all costs more than any index, few enough to be made in some seconds. */
const RUNS = 40_000;
const EVENTS_EACH = 3;
const GROWING = ['pipeline_executions', 'execution_events'];

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

/** What the acts asked for since it was emptied: scans of the two tables that grow with every run. */
const scans: string[] = [];

async function explain(on: Queryable, sql: string, values: readonly unknown[] = []): Promise<void> {
  if (!/^\s*(with|select|insert|update|delete)\b/i.test(sql)) return;
  const [row] = await on.query<{ 'QUERY PLAN': string }>(`EXPLAIN (FORMAT JSON) ${sql}`, values);
  const queue = (JSON.parse(row!['QUERY PLAN']) as { Plan: PlanNode }[]).map(({ Plan }) => Plan);
  for (let node = queue.pop(); node; node = queue.pop()) {
    queue.push(...(node.Plans ?? []));
    const table = node['Relation Name'] ?? '';
    if (node['Node Type'] === 'Seq Scan' && GROWING.includes(table)) scans.push(`${table} from end to end`);
    if (node['Index Name'] !== undefined) scans.push(node['Index Name']);
  }
}

/** The same database, which has each statement explained before it runs. */
function explained<On extends Queryable>(on: On): On {
  return new Proxy(on, {
    get(target, name) {
      const whole = target as unknown as Database & Transaction;
      if (name === 'control') return explained(whole.control as Transactional & Queryable);
      if (name === 'query' || name === 'execute') {
        return async (sql: string, values?: readonly unknown[]) => {
          await explain(target, sql, values);
          return name === 'query' ? target.query(sql, values) : target.execute(sql, values);
        };
      }
      if (name === 'transaction') {
        const begin: Transactional['transaction'] = (work, options) =>
          whole.transaction((tx) => work(explained(tx)), options);
        return begin;
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

let db: TestDatabase;
let database: Database;
let workspace: TestWorkspace;
let server: TestInstance;
let pipeline: string;
let run: string;

beforeAll(async () => {
  db = await createTestDatabase();
  database = explained(db.database);
  workspace = await TestWorkspace.create(db.database);
  pipeline = await workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]);
  await db.database.execute(
    `INSERT INTO pipeline_executions (execution_id, root_execution_id, pipeline_id, pipeline_version, status, triggered_by,
                                      triggered_via, started_at, completed_at, duration_ms)
     SELECT id, id, $1, 1, 'SUCCESS', $2, 'REST', at, at, 1
       FROM (SELECT gen_random_uuid() AS id, NOW() - i * interval '10 seconds' AS at FROM generate_series(1, $3::int) i) made`,
    [pipeline, workspace.principal().userId, RUNS],
  );
  await db.database.execute(
    `INSERT INTO execution_events (execution_id, event_id, event_type, timestamp, payload_json)
     SELECT execution_id, n, 'node_progress', started_at, '{}' FROM pipeline_executions, generate_series(1, $1::int) n`,
    [EVENTS_EACH],
  );
  await db.database.execute('ANALYZE pipeline_executions, execution_events');
  const [row] = await db.database.query<{ id: string }>(
    'SELECT execution_id AS id FROM pipeline_executions ORDER BY started_at OFFSET $1 LIMIT 1',
    [RUNS / 2],
  );
  run = row!.id;
  server = await TestInstance.start({ database, store: new MemoryTransientStore({ maxBytes: 1 << 24 }) });
}, 60_000);

afterAll(async () => {
  await server?.stop();
  await db?.drop();
});

const running = async (silence: string): Promise<string> => {
  const [row] = await db.database.query<{ id: string }>(
    `INSERT INTO pipeline_executions (execution_id, root_execution_id, pipeline_id, pipeline_version, status, triggered_by,
                                      triggered_via, started_at, heartbeat_at, node_stats_json)
     SELECT id, id, $1, 1, 'RUNNING', $2, 'REST', NOW() - $3::interval, NOW() - $3::interval, '[]'
       FROM (SELECT gen_random_uuid() AS id) made RETURNING execution_id AS id`,
    [pipeline, workspace.principal().userId, silence],
  );
  return row!.id;
};

describe('beside many runs, every statement finds its rows by an index', () => {
  const me = () => workspace.principal();
  it.each<[string, () => Promise<unknown>]>([
    ['the sweep, when there is nothing to end', () => server.sweep.runAlone()],
    ['the sweep of a run that nobody beats for', async () => {
      await running('1 hour');
      expect(await server.sweep.runAlone()).toBe(1);
    }],
    ['a heartbeat', async () => {
      const id = await running('1 second');
      expect([...(await new Heartbeats(database).beat([id]))]).toEqual([id]);
    }],
    ['the progress of a node', async () =>
      new Heartbeats(database).progress(new Map([[await running('1 second'), '[{"node_id": "a"}]']])),
    ],
    ['events of a run on their way into the table', async () =>
      new EventTable(database).insert([
        [await running('1 second'), { eventId: 1, type: 'node_started', timestamp: new Date().toISOString(), data: '{}' }],
      ]),
    ],
    ['the retention of events, when none is due', () => server.retention.events()],
    ['the retention of events that are due', async () => {
      await db.database.execute(
        `UPDATE pipeline_executions SET completed_at = NOW() - interval '9 days' WHERE execution_id IN
           (SELECT execution_id FROM execution_events ORDER BY id LIMIT 100)`,
      );
      expect(await server.retention.events()).toBeGreaterThanOrEqual(100);
    }],
    ['the first page of the list', () => server.service.list(me(), {}, { first: 50 })],
    ['the page of a pipeline', () => server.service.list(me(), { pipelineId: pipeline }, { first: 50 })],
    ['one run', () => server.service.read(me(), run)],
    ['the replay of a run', () => server.events.page(me(), run, { after: 1, limit: 50 })],
    ['a launch and its end', async () => (await server.launch(me(), pipeline)).finished],
  ])('%s', async (_what, act) => {
    scans.length = 0;
    await act();
    expect(scans.length).toBeGreaterThan(0);
    expect(scans.filter((scan) => scan.endsWith('from end to end'))).toEqual([]);
  }); // prettier-ignore
});

describe('the look into the plans', () => {
  it('sees a statement that reads a whole table', async () => {
    scans.length = 0;
    await database.query('SELECT COUNT(*) FROM pipeline_executions WHERE duration_ms = 7');
    expect(scans).toEqual(['pipeline_executions from end to end']);
  });
});
