import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as delay } from 'node:timers/promises';
import { DependencyGraph } from './dependency-graph.js';
import { FamilyPermits } from './family-permits.js';
import { NodePermits, PermitBoard } from './permit-board.js';
import { Scheduler } from './scheduler.js';

interface Node {
  id: string;
  dependsOn: string[];
  datasources?: string[];
}

const limits = { poolSize: () => 2, connectionTimeoutMs: () => 10_000 };
const never = new AbortController().signal;

function dispatchTo(run: (node: Node) => Promise<boolean>, refusals: unknown[] = []) {
  return {
    run,
    datasources: (node: Node) => node.datasources ?? [],
    refused: (_node: Node, reason: unknown) => Promise.resolve(void refusals.push(reason)),
  };
}

describe('dependency graph', () => {
  it('refuses a stored body with a cycle or a dangling edge instead of waiting for ever', () => {
    const cycle = [
      { id: 'a', dependsOn: ['c'] },
      { id: 'b', dependsOn: ['a'] },
      { id: 'c', dependsOn: ['b'] },
    ];
    const invalid = { code: 'pipeline.execution.aborted', details: { reason: 'invalid_graph' } };
    expect(() => DependencyGraph.of(cycle)).toThrow(expect.objectContaining(invalid));
    expect(() => DependencyGraph.of([{ id: 'a', dependsOn: ['gone'] }])).toThrow(expect.objectContaining(invalid));
    expect(() => DependencyGraph.of([{ id: 'a', dependsOn: ['a'] }])).toThrow(expect.objectContaining(invalid));
  });

  it('counts an edge once, however often the body names it', () => {
    const graph = DependencyGraph.of([
      { id: 'a', dependsOn: [] },
      { id: 'b', dependsOn: ['a', 'a'] },
    ]);
    expect(graph.finish(0)).toEqual([1]);
  });
});

describe('scheduler', () => {
  it('runs a chain of a thousand nodes: iterative, and a node waiting for another holds no permit', async () => {
    const nodes = Array.from({ length: 1000 }, (_, i) => ({ id: `n${i}`, dependsOn: i ? [`n${i - 1}`] : [] }));
    const order: string[] = [];
    const dispatch = dispatchTo((node) => Promise.resolve(order.push(node.id) > 0));
    await new Scheduler(nodes, new PermitBoard(limits), dispatch, new NodePermits(1)).run(never);
    expect(order).toEqual(nodes.map((node) => node.id));
  });

  it('runs a node that waits for nothing while every permit is taken', async () => {
    const nodes = [
      { id: 'slow', dependsOn: [] },
      { id: 'computed', dependsOn: [] },
    ];
    let release = (): void => undefined;
    const computed = new Promise<void>((resolve) => (release = resolve));
    const dispatch = {
      ...dispatchTo(async ({ id }) => {
        if (id === 'slow') await computed;
        else release();
        return true;
      }),
      inPlace: ({ id }: Node) => id === 'computed',
    };
    await new Scheduler(nodes, new PermitBoard(limits), dispatch, new NodePermits(1)).run(never);
    const stopped: string[] = [];
    const late = { ...dispatchTo((node) => Promise.resolve(stopped.push(node.id) > 0)), inPlace: () => true };
    await new Scheduler(nodes, new PermitBoard(limits), late, new NodePermits(1)).run(AbortSignal.abort());
    expect(stopped).toEqual([]);
  });

  it('for any graph: every node once, never before what it depends on, never more than allowed at a time', async () => {
    const graphs = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(graphs, fc.integer({ min: 1, max: 4 }), async (edges, parallel) => {
        const nodes = edges.map((targets, i) => ({
          id: `n${i}`,
          dependsOn: i === 0 ? [] : targets.map((target) => `n${target % i}`),
          datasources: i % 3 === 0 ? ['one'] : i % 3 === 1 ? ['one', 'two'] : [],
        }));
        const done = new Set<string>();
        let running = 0;
        const dispatch = dispatchTo(async (node) => {
          running++;
          expect(running).toBeLessThanOrEqual(parallel);
          for (const id of node.dependsOn) expect(done).toContain(id);
          await Promise.resolve();
          expect(done.has(node.id)).toBe(false);
          done.add(node.id);
          running--;
          return true;
        });
        await new Scheduler(nodes, new PermitBoard(limits), dispatch, new NodePermits(parallel)).run(never);
        expect(done.size).toBe(nodes.length);
      }),
      { numRuns: 60 },
    );
  });

  it('starts nothing after an abort and waits for what has started', async () => {
    const stop = new AbortController();
    const started: string[] = [];
    const nodes = [
      { id: 'a', dependsOn: [] },
      { id: 'b', dependsOn: ['a'] },
      { id: 'c', dependsOn: [] },
    ];
    let ended = 0;
    const dispatch = dispatchTo(async (node) => {
      started.push(node.id);
      await delay(10);
      stop.abort('stop');
      ended++;
      return true;
    });
    await new Scheduler(nodes, new PermitBoard(limits), dispatch, new NodePermits(2)).run(stop.signal);
    expect(started).toEqual(['a', 'c']);
    expect(ended).toBe(2);
  });

  it('ends when a node that must never reject does: a run that waits on would never give anything back', async () => {
    const broken = new TypeError('a defect of ours');
    const nodes = [{ id: 'a', dependsOn: [] }];
    const run = new Scheduler(
      nodes,
      new PermitBoard(limits),
      dispatchTo(() => Promise.reject(broken)),
      new NodePermits(1),
    ).run(never);
    await expect(run).rejects.toBe(broken);
  });

  it('does not go on behind a node that failed', async () => {
    const started: string[] = [];
    const nodes = [
      { id: 'a', dependsOn: [] },
      { id: 'b', dependsOn: ['a'] },
    ];
    const dispatch = dispatchTo((node) => Promise.resolve(started.push(node.id) < 0));
    await new Scheduler(nodes, new PermitBoard(limits), dispatch, new NodePermits(2)).run(never);
    expect(started).toEqual(['a']);
  });
});

describe('the permits of a family', () => {
  it('bound every generation, however many runs it has, and no generation waits for the one above it', async () => {
    const board = new PermitBoard(limits);
    const permits = new FamilyPermits(3);
    const running = new Map<number, number>();
    let most = 0;
    /** Every node of the first generations calls a run of six nodes more. */
    const family = async (depth: number): Promise<boolean> => {
      const nodes = Array.from({ length: 6 }, (_, n) => ({ id: `${depth}-${n}`, dependsOn: [] }));
      const dispatch = dispatchTo(async () => {
        running.set(depth, (running.get(depth) ?? 0) + 1);
        most = Math.max(most, running.get(depth)!);
        if (depth < 4) await family(depth + 1);
        else await delay(0);
        running.set(depth, running.get(depth)! - 1);
        return true;
      });
      await new Scheduler(nodes, board, dispatch, permits.at(depth)).run(never);
      return true;
    };
    await family(1);
    expect(most).toBe(3);
    expect(board.waiting).toBe(0);
  });

  it('a thousand nodes in place let others run in between, and stop when the run does', async () => {
    const nodes = Array.from({ length: 1000 }, (_, n) => ({ id: `n${n}`, dependsOn: n ? [`n${n - 1}`] : [] }));
    const busy = () => {
      const until = performance.now() + 0.1;
      while (performance.now() < until);
    };
    let turns = 0;
    let open = true;
    const count = () => {
      turns++;
      if (open) setImmediate(count);
    };
    setImmediate(count);
    const stop = new AbortController();
    let ran = 0;
    const dispatch = {
      ...dispatchTo(() => {
        busy();
        if (++ran === 900) setImmediate(() => stop.abort('stop'));
        return Promise.resolve(true);
      }),
      inPlace: () => true,
    };
    await new Scheduler(nodes, new PermitBoard(limits), dispatch, new NodePermits(1)).run(stop.signal);
    open = false;
    expect(turns).toBeGreaterThan(2);
    expect(ran).toBeLessThan(1000);
  });
});

describe('permit board', () => {
  const one = { poolSize: () => 1, connectionTimeoutMs: () => 10_000 };

  it('takes all or nothing: two write-backs in opposite directions cannot hold one half each', async () => {
    const board = new PermitBoard(one);
    const first = await board.take(new NodePermits(1), ['a', 'b'], never);
    const second = board.take(new NodePermits(1), ['b', 'a'], never);
    const lone = await Promise.race([second.then(() => 'granted'), delay(5, 'waits')]);
    expect(lone).toBe('waits');
    first.release();
    first.release();
    (await second).release();
    expect(board.waiting).toBe(0);
  });

  it('lets others pass a waiting node, until it has waited five seconds', async () => {
    let now = 0;
    const board = new PermitBoard(one, () => now);
    const a = await board.take(new NodePermits(9), ['a'], never);
    const b = await board.take(new NodePermits(9), ['b'], never);
    const both = board.take(new NodePermits(9), ['a', 'b'], never);
    a.release();
    const young = await board.take(new NodePermits(9), ['a'], never);
    now = 6000;
    const late = board.take(new NodePermits(9), ['a'], never);
    young.release();
    expect(await Promise.race([late.then(() => 'overtook'), delay(5, 'waits')])).toBe('waits');
    b.release();
    (await both).release();
    (await late).release();
  });

  it('a write-back into the datasource it reads needs two connections of it', async () => {
    const board = new PermitBoard({ poolSize: () => 3, connectionTimeoutMs: () => 10 });
    const first = await board.take(new NodePermits(9), ['pg', 'pg'], never);
    await expect(board.take(new NodePermits(9), ['pg', 'pg'], never)).rejects.toMatchObject({
      details: { reason: 'pool_exhausted' },
    });
    const single = await board.take(new NodePermits(9), ['pg'], never);
    first.release();
    (await board.take(new NodePermits(9), ['pg', 'pg'], never)).release();
    single.release();
  });

  it('answers pool_exhausted after the connection timeout of the pool, and leaves no trace of the waiter', async () => {
    const board = new PermitBoard({ poolSize: () => 1, connectionTimeoutMs: () => 10 });
    const held = await board.take(new NodePermits(9), ['pg'], never);
    await expect(board.take(new NodePermits(9), ['pg'], never)).rejects.toMatchObject({
      code: 'pipeline.node.datasource_connection_failed',
      details: { datasource: 'pg', reason: 'pool_exhausted' },
    });
    held.release();
    expect(board.waiting).toBe(0);
  });

  it('a wait for a node permit of its own execution has no such limit', async () => {
    const board = new PermitBoard({ poolSize: () => 1, connectionTimeoutMs: () => 1 });
    const permits = new NodePermits(1);
    const held = await board.take(permits, [], never);
    const next = board.take(permits, ['pg'], never);
    await delay(15);
    held.release();
    (await next).release();
  });

  it('grants nothing while the instance does not know whether its executions are still its own', async () => {
    const board = new PermitBoard(one);
    board.pause();
    const waiting = board.take(new NodePermits(1), [], never);
    expect(await Promise.race([waiting.then(() => 'granted'), delay(5, 'waits')])).toBe('waits');
    board.resume();
    (await waiting).release();
  });
});
