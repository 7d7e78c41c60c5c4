import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readJson, SilentLogger, type JsonObject, type LogFields } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { eventually } from '../../test/fixtures/eventually.js';
import { ExecutionsBench, HEAVY, leftovers, milestones, NOTHING_LEFT, TestInstance } from './executions.fixture.js';

let bench: ExecutionsBench;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
}, 60_000);

afterEach(() => bench.stopServers());

afterAll(() => bench?.drop());

const typesOf = (frames: readonly { type: string }[]) => frames.map(({ type }) => type);

describe('a run', () => {
  it('of one caller node ends in SUCCESS, with its rows in the result and its events in order', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'one', sql: 'SELECT 1 AS one, :word AS word' }], {
      parameters: { word: { type: 'STRING', required: false, default: 'hé' } },
    });
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 1 } });
    expect((await server.results.page(me, executionId, {})).rows.map(({ text }) => text)).toEqual(['[1,"hé"]']);
    const frames = await server.frames(me, executionId);
    expect(frames.map(({ eventId }) => eventId)).toEqual(frames.map((_, index) => index + 1));
    expect(milestones(frames)).toEqual([
      'execution_started',
      'node_started',
      'node_completed',
      'pipeline_completed',
      'data_ready',
    ]);
    expect(frames.at(-1)!.data).toContain('"rows":[[1,"hé"]]');
    expect(await server.service.read(me, executionId)).toMatchObject({
      status: 'SUCCESS',
      result_row_count: 1,
      error: null,
    });
    const [row] = await bench.db.database.query<{ parameters_json: string; measured: boolean; bytes: number }>(
      `SELECT parameters_json, duration_ms >= 0 AND completed_at >= started_at AS measured, result_size_bytes::int AS bytes
         FROM pipeline_executions WHERE execution_id = $1`,
      [executionId],
    );
    expect(row).toMatchObject({ measured: true, bytes: Buffer.byteLength('[1,"hé"]') });
    expect(readJson(row!.parameters_json)).toMatchObject({
      word: 'hé',
      execution_id: executionId,
      org_timezone: 'UTC',
    });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('whose caller node yields no row has a result with columns and no rows, not a lost one', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'none', sql: 'SELECT 1 AS one WHERE 1 = 0' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 0 } });
    const page = await server.results.page(me, executionId, {});
    expect([page.schema.map(({ name }) => name), page.rows, page.total_rows]).toEqual([['one'], [], 0]);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('tells the operator of a spill folder that does not go, and the run is none the worse for it', async () => {
    const warnings: [string, LogFields | undefined][] = [];
    const logger = new (class extends SilentLogger {
      override warn(...told: unknown[]): void {
        warnings.push(told as [string, LogFields | undefined]);
      }
    })();
    const store = new MemoryTransientStore({ maxBytes: 1 << 20 });
    const server = await TestInstance.start({ database: bench.db.database, store, logger });
    const removal = jest.spyOn(server.instance.spill, 'remove').mockRejectedValue(new TypeError('EBUSY'));
    const me = bench.workspace.principal();
    const { executionId, finished } = await server.launch(
      me,
      await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS a' }]),
    );
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    const told = await eventually('the folder is reported', () =>
      warnings.find(([, fields]) => fields?.['execution_id'] === executionId),
    );
    expect(told[0]).toBe('pipeline.staging.cleanup_failed');
    removal.mockRestore();
    await server.stop();
  });

  it('stages, joins and delivers through tempdb, branches in parallel', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const table = (name: string) => ({ target: 'tempdb', table: name });
    const pipeline = await bench.workspace.pipeline([
      { id: 'a', sql: 'SELECT range AS n FROM range(5000)', output: table('left_side') },
      { id: 'b', sql: 'SELECT range * 2 AS n FROM range(5000)', output: table('right_side') },
      { id: 'fix', type: 'DML', sql: 'DELETE FROM left_side WHERE n >= 4000', after: ['a'] },
      { id: 'idx', type: 'DDL', sql: 'CREATE TABLE scratch (x INTEGER)', after: ['b'] },
      { id: 'out', sql: 'SELECT n FROM left_side JOIN right_side USING (n) ORDER BY n', after: ['fix', 'idx'] },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({
      status: 'SUCCESS',
      dataReady: { total_rows: 2000, row_count: 1000, has_more: true },
    });
    const view = await server.service.read(me, executionId);
    const stats = readJson(view.node_stats!.text) as unknown as { node_id: string; rows_out: { value: string } }[];
    expect(stats.map(({ node_id, rows_out }) => `${node_id} ${rows_out.value}`)).toEqual([
      'a 5000',
      'b 5000',
      'fix 1000',
      'idx 0',
      'out 2000',
    ]);
    const last = await server.results.page(me, executionId, { offset: 1999, limit: 10 });
    expect(last.rows.map(({ text }) => text)).toEqual(['["3998"]']);
    expect(last).toMatchObject({ row_count: 1, has_more: false, total_rows: 2000 });
    expect((await server.results.page(me, executionId, { offset: 5000 })).rows).toEqual([]);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('without a caller node has no result and no data_ready, and its result reads as empty', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([
      { id: 'a', sql: 'SELECT 1 AS a', output: { target: 'tempdb', table: 't' } },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toEqual({ executionId, status: 'SUCCESS' });
    expect(typesOf(await server.frames(me, executionId)).at(-1)).toBe('pipeline_completed');
    expect(await server.results.page(me, executionId, {})).toMatchObject({ rows: [], expires_at: null });
    expect(await server.service.read(me, executionId)).toMatchObject({
      result_row_count: null,
      result_size_bytes: null,
    });
  });

  it('fails fast: running siblings are cut, pending nodes never start, and there is exactly one terminal event', async () => {
    const server = await bench.serverWith();
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline(
      [
        { id: 'slow', sql: HEAVY, output: { target: 'tempdb', table: 's' } },
        { id: 'bad', sql: `SELECT error('boom ' || :secret) AS x`, output: { target: 'tempdb', table: 'b' } },
        { id: 'never', sql: 'SELECT 1 AS a', after: ['slow'] },
      ],
      { parameters: { secret: { type: 'STRING', required: true } } },
    );
    const parameters = { secret: 'hunter22' } as unknown as JsonObject;
    const { executionId, finished } = await server.launch(me, pipeline, { parameters });
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code: 'pipeline.node.query_execution_failed' },
    });
    const frames = await server.frames(me, executionId);
    expect(typesOf(frames).filter((type) => /pipeline_|aborted/.test(type))).toEqual(['pipeline_failed']);
    expect(typesOf(frames).filter((type) => type === 'node_failed')).toHaveLength(1);
    const view = await server.service.read(me, executionId);
    expect(view.failed_node_id).toBe('bad');
    const stats = readJson(view.node_stats!.text) as unknown as {
      node_id: string;
      status: string;
      started_at: string | null;
    }[];
    expect(stats.map(({ node_id, status, started_at }) => [node_id, status, started_at === null])).toEqual([
      ['slow', 'ABORTED', false],
      ['bad', 'FAILED', false],
      ['never', 'ABORTED', true],
    ]);
    const measured = (JSON.parse(view.node_stats!.text) as { rows_out: number }[]).map(({ rows_out }) => rows_out);
    expect(measured).toEqual([-1, -1, -1]);
    const error = readJson(view.error!.text) as JsonObject;
    expect(error).toMatchObject({
      node: {
        id: 'bad',
        type: 'DQL',
        datasource: 'tempdb',
        dialect: 'DUCKDB',
        template: `t/${pipeline}/bad`,
        template_version: readJson('1'),
      },
      sql: `SELECT error('boom ' || :secret) AS x`,
      correlation_id: me.correlationId,
    });
    expect(view.error!.text).not.toContain('hunter22');
    expect(
      frames
        .map(({ data }) => data)
        .filter((data) => !data.includes('"parameters"'))
        .join(),
    ).not.toContain('hunter22');
    await expect(server.results.page(me, executionId, {})).rejects.toMatchObject({ code: 'result.execution_failed' });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('ends at its deadline: FAILED without a node to blame', async () => {
    const server = await bench.serverWith({ DATAPIPELINES_EXECUTOR_EXECUTION_TIMEOUT_SECONDS: '1' });
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const { finished } = await server.launch(bench.workspace.principal(), pipeline);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'pipeline.execution.timeout' } });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it.each([
    ['wall clock', { timeout_seconds: 1 }, 'pipeline.node.timeout'],
    ['statement', { query_timeout_seconds: 1 }, 'pipeline.node.query_timeout'],
  ])('a node over its %s budget fails with the phase it was in', async (_what, settings, code) => {
    const server = await bench.serverWith();
    const pipeline = await bench.workspace.pipeline([{ id: 'slow', sql: HEAVY, settings }]);
    const { finished } = await server.launch(bench.workspace.principal(), pipeline);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: { code, details: { timeout_seconds: 1, phase: 'execute' } },
    });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('tells a full engine apart from a wrong query', async () => {
    const server = await bench.serverWith({
      DATAPIPELINES_STAGING_MAX_MEMORY_MB: '64',
      DATAPIPELINES_STAGING_MAX_SPILL_MB: '1',
    });
    const sql = 'SELECT range AS a, hash(range) AS b, hash(range + 1) AS c FROM range(20000000)';
    const pipeline = await bench.workspace.pipeline([{ id: 'big', sql, output: { target: 'tempdb', table: 't' } }]);
    const { finished } = await server.launch(bench.workspace.principal(), pipeline);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: {
        code: 'pipeline.staging.memory_limit_exceeded',
        details: { limit_mb: 64, spill_limit_mb: 1, used_mb: expect.any(Number) },
      },
    });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('fails a result over the cap and keeps nothing of it', async () => {
    const server = await bench.serverWith({ DATAPIPELINES_RESULT_MAX_SIZE_BYTES: '100000' });
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([
      { id: 'big', sql: `SELECT repeat('x', 100) AS x FROM range(5000)` },
    ]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const outcome = await finished;
    expect(outcome).toMatchObject({
      status: 'FAILED',
      failure: { code: 'result.too_large', details: { max_size_bytes: 100000 } },
    });
    expect(await server.service.read(me, executionId)).toMatchObject({ failed_node_id: 'big', result_row_count: null });
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('leaves SQL and exception out everywhere with error-detail=structured', async () => {
    const server = await bench.serverWith({ DATAPIPELINES_EXECUTIONS_ERROR_DETAIL: 'structured' });
    const me = bench.workspace.principal();
    const pipeline = await bench.workspace.pipeline([{ id: 'bad', sql: 'SELECT * FROM nowhere_at_all' }]);
    const { executionId, finished } = await server.launch(me, pipeline);
    const { failure } = await finished;
    expect(Object.keys(failure!)).not.toEqual(expect.arrayContaining(['sql']));
    const text = (await server.frames(me, executionId)).map(({ data }) => data).join();
    expect(text).not.toMatch(/"sql"|"exception"/);
    expect((await server.service.read(me, executionId)).error!.text).not.toMatch(/"sql"|"exception"/);
  });

  it('a template that does not render fails the node in the render phase, before anything is sent', async () => {
    const server = await bench.serverWith();
    const pipeline = await bench.workspace.pipeline([{ id: 'x', sql: 'SELECT :nobody AS a' }]);
    const { finished } = await server.launch(bench.workspace.principal(), pipeline);
    expect(await finished).toMatchObject({
      failure: { code: 'pipeline.node.sql_parameter_missing', details: { missing: ['nobody'] } },
    });
    const next = await bench.workspace.pipeline([{ id: 'x', sql: 'SELECT 1 AS a' }]);
    await bench.db.database.execute(
      'DELETE FROM template_versions WHERE template_id IN (SELECT id FROM templates WHERE name LIKE $1)',
      [`t/${next}/%`],
    );
    const gone = await server.launch(bench.workspace.principal(), next);
    expect(await gone.finished).toMatchObject({ failure: { code: 'pipeline.node.template_not_found' } });
  });
});
