import { describe, expect, it } from '@jest/globals';
import { readJson } from '#libs/kernel';
import { HEAVY, leftovers, NOTHING_LEFT } from './executions.fixture.js';
import { caller, familyScene, table } from './family.fixture.js';
import { eventually } from '../../test/fixtures/eventually.js';

const scene = familyScene();

describe('a family', () => {
  it('five deep runs where one person has one slot and the instance one place', async () => {
    // Parents that wait for children must not hold what the children need.
    const server = await scene.bench.serverWith({
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '1',
      DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_INSTANCE: '1',
      DATAPIPELINES_EXECUTOR_MAX_PARALLEL_NODES: '1',
      DATAPIPELINES_STAGING_MAX_CONNECTIONS: '1',
      DATAPIPELINES_STAGING_MAX_CONCURRENT_CALLS: '1',
    });
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(5, 'SELECT * FROM range(20000)'));
    await expect(server.launch(me, await scene.chain(1, 'SELECT 1'))).rejects.toMatchObject({
      code: 'pipeline.execution.concurrency_limit',
    });
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 20000 } });
    expect(await scene.family(executionId)).toHaveLength(5);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('of three generations in a diamond runs every call as an execution of its own', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const leaf = await scene.bench.workspace.pipeline(
      [{ id: 'n', sql: 'SELECT :from AS a, range AS n FROM range(100)' }],
      {
        parameters: { from: { type: 'STRING', required: true } },
      },
    );
    const middle = await scene.bench.workspace.pipeline(
      [
        { id: 'one', child: leaf, parameters: { from: '${side}' }, output: table('one') },
        { id: 'two', child: leaf, parameters: { from: 'literal' }, output: table('two') },
        { id: 'all', sql: 'FROM one UNION ALL FROM two', after: ['one', 'two'] },
      ],
      { parameters: { side: { type: 'STRING', required: true } } },
    );
    const top = await scene.bench.workspace.pipeline([
      { id: 'left', child: middle, parameters: { side: 'left' }, output: table('l') },
      { id: 'right', child: middle, parameters: { side: 'right' }, output: table('r') },
      {
        id: 'out',
        sql: 'SELECT a, count(*) AS n FROM (FROM l UNION ALL FROM r) GROUP BY a ORDER BY a',
        after: ['left', 'right'],
      },
    ]);
    const { executionId, finished } = await server.launch(me, top);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await scene.rowsOf(server, executionId)).toEqual(['["left","100"]', '["literal","200"]', '["right","100"]']);
    const all = await scene.family(executionId);
    expect(all).toHaveLength(7);
    expect(all.every(({ status }) => status === 'SUCCESS')).toBe(true);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('of fifty children shares few permits and little memory without getting stuck', async () => {
    const server = await scene.bench.serverWith({
      DATAPIPELINES_EXECUTOR_MAX_PARALLEL_NODES: '3',
      DATAPIPELINES_STAGING_MAX_CONCURRENT_CALLS: '2',
      DATAPIPELINES_STAGING_TOTAL_MEMORY_MB: '1024',
    });
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline(
      [{ id: 'n', sql: 'SELECT :k AS k, range AS n FROM range(50)' }],
      {
        parameters: { k: { type: 'INTEGER', required: true } },
      },
    );
    const ids = Array.from({ length: 50 }, (_, k) => `c${k}`);
    const parent = await scene.bench.workspace.pipeline([
      ...ids.map((id, k) => ({ id, child, parameters: { k }, output: table(id) })),
      {
        id: 'out',
        sql: `SELECT count(*) AS n, count(DISTINCT k) AS ks FROM (${ids.map((id) => `FROM ${id}`).join(' UNION ALL ')})`,
        after: ids,
      },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
    expect(await scene.rowsOf(server, executionId)).toEqual(['["2500","50"]']);
    expect(await scene.family(executionId)).toHaveLength(51);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('ends with its root: each descendant ABORTED with the root’s reason', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(4, HEAVY));
    await eventually('four generations', async () => (await scene.family(executionId)).length === 4);
    await server.service.cancel(me, executionId);
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'cancelled' });
    const all = await scene.family(executionId);
    expect(all.map(({ status }) => status)).toEqual(['ABORTED', 'ABORTED', 'ABORTED', 'ABORTED']);
    for (const { execution_id } of all) {
      const last = (await server.frames(me, execution_id)).at(-1)!;
      expect([last.type, readJson(last.data)]).toMatchObject(['execution_aborted', { reason: 'cancelled' }]);
    }
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('whose child is cancelled fails at the node that called it', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(3, HEAVY));
    await eventually('three generations', async () => (await scene.family(executionId)).length === 3);
    const [, middle] = await scene.family(executionId);
    await server.service.cancel(me, middle!.execution_id);
    expect(await finished).toMatchObject({
      status: 'FAILED',
      failure: {
        code: 'pipeline.node.child_execution_failed',
        details: { child_execution_id: middle!.execution_id, child_status: 'ABORTED', reason: 'cancelled' },
      },
    });
    expect((await scene.family(executionId)).map(({ status }) => status)).toEqual(['FAILED', 'ABORTED', 'ABORTED']);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('whose calling node runs out of time loses its child with it, and blames the node', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const slow = await scene.bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const parent = await scene.bench.workspace.pipeline([
      { id: 'call', child: slow, output: caller, settings: { timeout_seconds: 1 } },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { code: 'pipeline.node.timeout' } });
    const [, kid] = await scene.family(executionId);
    expect(kid).toMatchObject({ status: 'ABORTED', error_code: null });
    const last = (await server.frames(me, kid!.execution_id)).at(-1)!;
    expect(readJson(last.data)).toMatchObject({ reason: 'cancelled' });
  });

  it('stops whole when a sibling of the calling node fails', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const slow = await scene.bench.workspace.pipeline([{ id: 'slow', sql: HEAVY }]);
    const parent = await scene.bench.workspace.pipeline([
      { id: 'call', child: slow, output: table('x') },
      { id: 'busy', sql: 'SELECT count(*) AS n FROM range(100000000)', output: table('b') },
      { id: 'bad', sql: `SELECT error('bad') FROM b`, output: table('y'), after: ['busy'] },
    ]);
    const { executionId, finished } = await server.launch(me, parent);
    expect(await finished).toMatchObject({ status: 'FAILED', failure: { node: { id: 'bad' } } });
    expect((await scene.family(executionId)).map(({ status }) => status)).toEqual(['FAILED', 'ABORTED']);
    expect(await leftovers(server)).toEqual(NOTHING_LEFT);
  });

  it('drains as one: a shutdown aborts parent and child with its own reason', async () => {
    const server = await scene.bench.serverWith();
    const me = scene.bench.workspace.principal();
    const { executionId, finished } = await server.launch(me, await scene.chain(2, HEAVY));
    await eventually('the child', async () => (await scene.family(executionId)).length === 2);
    await server.drain.begin({ hurry: true });
    expect(await finished).toMatchObject({ status: 'ABORTED', reason: 'shutdown' });
    expect((await scene.family(executionId)).map(({ status }) => status)).toEqual(['ABORTED', 'ABORTED']);
  });

  it('that runs while the instance drains may still call its children', async () => {
    const server = await scene.bench.serverWith({ DATAPIPELINES_SHUTDOWN_DRAIN_WAIT_SECONDS: '20' });
    const me = scene.bench.workspace.principal();
    const child = await scene.bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 5 AS five' }]);
    const parent = await scene.bench.workspace.pipeline([
      { id: 'first', sql: 'SELECT count(*) AS n FROM range(20000000) a', output: table('t') },
      { id: 'call', child, output: caller, after: ['first'] },
    ]);
    const { finished } = await server.launch(me, parent);
    await server.drain.begin();
    expect(await finished).toMatchObject({ status: 'SUCCESS' });
  });
});
