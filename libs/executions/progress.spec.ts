import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditEntry } from '#libs/audit';
import { DatasourceService } from '#libs/datasources';
import { isExactNumber, newId, readJson, type JsonObject, type Principal } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { createEmptyDatabase, type EmptyDatabase } from '../../test/fixtures/postgres.js';
import { eventually } from '../../test/fixtures/eventually.js';
import { ask } from '../../test/fixtures/sql.js';
import type { EventFrame } from './events/event-watch.js';
import { ExecutionEvents } from './events/execution-events.js';
import { createTestDatabase, TestWorkspace, type TestDatabase, type TestNode } from './executions.fixture.js';
import { Drain } from './instance/drain.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Launcher } from './launch/launcher.js';
import type { RunTrail } from './records/run-trail.js';
import { ExecutionService } from './reading/execution.service.js';
import { wiredInstance, type WiredInstance } from './wired-instance.fixture.js';

let db: TestDatabase;
let source: EmptyDatabase;
let workspace: TestWorkspace;
let server: WiredInstance;
let me: Principal;

beforeAll(async () => {
  db = await createTestDatabase();
  source = await createEmptyDatabase();
  workspace = await TestWorkspace.create(db.database);
  me = workspace.principal();
  server = await wiredInstance(db, new MemoryTransientStore({ maxBytes: 1 << 26 }), {
    DATAPIPELINES_EXECUTOR_PROGRESS_WRITE_INTERVAL_SECONDS: '1',
  });
  await server.get(ExecutionJobs).start({ alone: false });
  const admin = workspace.principal({ superAdmin: true });
  admin.workspace!.flags = { author: true, promoter: true, admin: true };
  admin.workspace!.superAdmin = true;
  const { hostname, port, username, password, pathname } = new URL(source.url);
  await server.get(DatasourceService).create(admin, {
    name: 'src',
    display_name: 'src',
    dialect: 'POSTGRES',
    jdbc_url: `jdbc:postgresql://${hostname}:${port}${pathname}`,
    username,
    password: decodeURIComponent(password),
  } as unknown as JsonObject);
  await ask(source.url, 'CREATE TABLE copied (n INT); CREATE TABLE changed AS SELECT 1 AS n; SELECT 1 AS ok');
}, 90_000);

afterAll(async () => {
  await server?.get(Drain).begin({ hurry: true });
  await server?.get(ExecutionJobs).stop();
  await server?.stop();
  await source?.drop();
  await db?.drop();
});

const onSource = (id: string, sql: string, more: Partial<TestNode> = {}): TestNode => ({
  ...{ id, sql, source: 'src', dialect: 'POSTGRES' },
  ...more,
});

async function launch(nodes: readonly TestNode[], trail?: RunTrail) {
  const pipelineId = await workspace.pipeline(nodes);
  const parameters = Object.create(null) as JsonObject;
  return server.get(Launcher).launch(me, { pipelineId, parameters, triggeredVia: 'UI', detached: true, trail });
}

async function framesOf(executionId: string): Promise<EventFrame[]> {
  const watch = await server
    .get(ExecutionEvents)
    .watch(me, executionId, { after: 0, signal: AbortSignal.timeout(20_000) });
  const frames: EventFrame[] = [];
  for await (const frame of watch.frames) frames.push(frame);
  return frames;
}

interface Sample {
  node_id: string;
  sequence: number;
  state: string;
  [name: string]: unknown;
}

function samplesOf(frames: readonly EventFrame[], nodeId: string): Sample[] {
  const payloads = frames.filter(({ type }) => type === 'node_progress').map(({ data }) => JSON.parse(data) as Sample);
  return payloads.filter(({ node_id }) => node_id === nodeId);
}

const into = (table: string) => ({ output: { target: 'datasource', datasource: 'src', table, mode: 'replace' } });
const staged = (table: string) => ({ output: { target: 'tempdb', table } });

describe('the progress of nodes', () => {
  it('is told state by state for every kind of work, between the start and the end of its node', async () => {
    const { executionId, finished } = await launch([
      onSource('stage', 'SELECT n FROM generate_series(1, 2500) n', staged('t')),
      { id: 'ctas', sql: 'SELECT n FROM t WHERE n <= 10', ...staged('u'), after: ['stage'] },
      { id: 'back', sql: 'SELECT n FROM t', ...into('copied'), after: ['stage'] },
      onSource('change', 'UPDATE changed SET n = n + 1', { type: 'DML', after: ['back'] }),
      { id: 'out', sql: 'SELECT n FROM u', after: ['ctas', 'change'] },
    ]);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const frames = await framesOf(executionId);
    const told = (node: string) => samplesOf(frames, node).map(({ state }) => state);
    const states = (node: string) => told(node).filter((state, place, all) => state !== all[place - 1]);
    const drained = ['fetching', 'writing', 'finalizing', 'completed'];
    expect(states('stage')).toEqual(['connecting', 'executing', ...drained]);
    expect(states('ctas')).toEqual(['connecting', 'executing', 'completed']);
    expect(states('back')).toEqual(['connecting', 'executing', 'waiting_output', ...drained]);
    expect(states('change')).toEqual(['connecting', 'executing', 'completed']);
    expect(states('out')).toEqual(['connecting', 'executing', ...drained]);
    const last = (node: string) => samplesOf(frames, node).at(-1);
    expect(last('stage')).toMatchObject({
      ...{ operation: 'stage', destination: { kind: 'tempdb', table: 't' }, attempt: 1 },
      ...{ rows_fetched: 2500, rows_written: 2500, batches_written: expect.any(Number) },
    });
    expect(last('ctas')).toMatchObject({ operation: 'ctas', rows_written: 10 });
    expect(last('back')).toMatchObject({
      ...{ operation: 'writeback', destination: { kind: 'datasource', datasource: 'src', table: 'copied' } },
      ...{ rows_written: 2500, committed: true },
    });
    expect(last('change')).toMatchObject({ operation: 'statement', rows_written: 1, committed: true });
    expect(last('out')).toMatchObject({ operation: 'materialize', destination: { kind: 'caller' }, rows_written: 10 });
    expect(last('out')).not.toHaveProperty('committed');
    for (const node of ['stage', 'ctas', 'back', 'change', 'out']) {
      const types = frames.filter(({ data }) => data.includes(`"node_id":"${node}"`) && !data.includes('node_stats'));
      expect(types.map(({ type }) => type).filter((type) => type !== 'node_progress')).toEqual([
        'node_started',
        'node_completed',
      ]);
      expect([types[0]!.type, types.at(-1)!.type]).toEqual(['node_started', 'node_completed']);
      const numbers = samplesOf(frames, node).map(({ sequence }) => sequence);
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }
  });

  it('of a served call tells in one sample what is over before anybody can watch, and a longer state as it goes on', async () => {
    const details = { endpoint_id: newId(), execution_id: newId() };
    const trail = {
      started: auditEntry(me, 'endpoint.served', { ...details, outcome: 'started' }),
      ended: () => auditEntry(me, 'endpoint.served', { ...details, outcome: 'completed' }),
    };
    const { executionId, finished } = await launch(
      [
        onSource('quick', 'SELECT 1 AS n', staged('q')),
        onSource('slow', 'SELECT n FROM generate_series(1, 2) n, pg_sleep(0.4)', { ...staged('s'), after: ['quick'] }),
      ],
      trail,
    );
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const frames = await framesOf(executionId);
    const quick = samplesOf(frames, 'quick');
    expect(quick.map(({ sequence, state }) => [sequence, state])).toEqual([[1, 'completed']]);
    expect(Object.keys(quick[0]!['timings_ms'] as object)).toEqual(
      expect.arrayContaining(['connecting', 'executing', 'fetching', 'writing', 'finalizing']),
    );
    const slow = samplesOf(frames, 'slow').map(({ state }) => state);
    expect([slow[0], slow.at(-1)]).toEqual(['executing', 'completed']);
  });

  it('shows the rows staged so far while the source still sends, in the row and in the events', async () => {
    const slow = 'SELECT n, (SELECT pg_sleep(0.001 + 0 * n))::text AS waited FROM generate_series(1, 3000) n';
    const { executionId, finished } = await launch([onSource('slow', slow, staged('t'))]);
    const service = server.get(ExecutionService);
    const rows = await eventually('rows of a running node in its row', async () => {
      const { status, node_stats } = await service.read(me, executionId);
      const stats = node_stats ? (readJson(node_stats.text) as JsonObject[]) : [];
      const out = stats[0]?.['rows_out'];
      return status === 'RUNNING' && isExactNumber(out) && out.value !== '0' && [stats[0]!['status'], out.value];
    });
    expect(rows[0]).toBe('RUNNING');
    expect(Number(rows[1])).toBeLessThan(3000);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const written = samplesOf(await framesOf(executionId), 'slow').map(({ rows_written }) => rows_written);
    expect(written.some((count) => Number(count) > 0 && Number(count) < 3000)).toBe(true);
  });

  it('of a failing node ends in failed, of a cut one in aborted, and a rolled-back write-back says so', async () => {
    const { executionId, finished } = await launch([
      onSource('bad', 'SELECT 1 / (n - 1500) AS n FROM generate_series(1, 3000) n', into('copied')),
      onSource('cut', `SELECT pg_sleep(30)::text AS s`, staged('s')),
    ]);
    expect(await finished).toMatchObject({ status: 'FAILED' });
    const frames = await framesOf(executionId);
    expect(samplesOf(frames, 'bad').at(-1)).toMatchObject({ state: 'failed', rolled_back: true });
    expect(samplesOf(frames, 'bad').at(-1)).not.toHaveProperty('committed');
    expect(samplesOf(frames, 'cut').at(-1)).toMatchObject({ state: 'aborted' });
    expect(frames.filter(({ type }) => type === 'node_failed')).toHaveLength(1);
  });

  it('reads from the table byte for byte as it was shown live', async () => {
    const { executionId, finished } = await launch([onSource('one', `SELECT 1 / 0 AS x, 'ü'::text AS "ÿ"`)]);
    await finished;
    const live = (await framesOf(executionId)).map(({ block }) => block);
    const rows = await db.database.query<{ event_id: number; event_type: string; payload: string }>(
      'SELECT event_id, event_type, payload_json AS payload FROM execution_events WHERE execution_id = $1 ORDER BY event_id',
      [executionId],
    );
    const { storedPayloadText } = await import('./events/payload-text.js');
    const stored = rows.map(
      ({ event_id, event_type, payload }) =>
        `event: ${event_type}\nid: ${event_id}\ndata: ${storedPayloadText(payload)}\n\n`,
    );
    expect(stored).toEqual(live);
  });
});
