import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PenstockError } from '#libs/kernel';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MemoryBudget } from './memory-budget.js';
import { NativeCallGate } from '#libs/datasources';
import { SpillFolders } from './spill-folders.js';
import { idle } from '../executions.fixture.js';
import { StagingConnection } from './staging-connection.js';
import { StagingEngine } from './staging-engine.js';
import { StagingFactory, type StagingSettings } from './staging-factory.js';
import { stagingAnswers, stagingSelfTest } from './staging-self-test.js';

const signal = new AbortController().signal;
const INSTANCE = '0b6e6f0e-5f0f-4a2d-9f51-000000000001';
const HEAVY = 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(100000) b';

let root: string;
let problems: unknown[];
let gate: NativeCallGate;
let budget: MemoryBudget;

function factory(settings: Partial<StagingSettings> = {}): StagingFactory {
  return new StagingFactory(
    { maxMemoryMb: 256, maxSpillMb: 512, threads: 2, maxConnections: 4, closeGraceMs: 2000, ...settings },
    budget,
    gate,
    new SpillFolders(root, INSTANCE),
    { cleanupFailed: (_id, error) => problems.push(error) },
  );
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'staging-spec-'));
  problems = [];
  gate = new NativeCallGate(4);
  budget = new MemoryBudget(4096);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('staging engine', () => {
  it('passes its own boot test: the walls around author SQL are real', async () => {
    await stagingSelfTest(factory(), factory({ maxSpillMb: 1 }));
    await stagingAnswers(factory(), signal);
  });

  it('fails its boot test by name when a wall is missing, so that no server starts on an engine that lets files out', async () => {
    // An engine as the library opens it: nothing is locked.
    const open = factory();
    const bare = async (): Promise<StagingEngine> =>
      new StagingEngine({
        instance: await DuckDBInstance.create(':memory:'),
        gate,
        watch: undefined,
        limitMb: 64,
        spillLimitMb: 64,
        maxConnections: 1,
        closeGraceMs: 2000,
        afterClose: () => Promise.resolve(),
        onCleanupFailure: (error) => problems.push(error),
      });
    jest.spyOn(open, 'create').mockImplementation(bare);
    await expect(stagingSelfTest(open, factory({ maxSpillMb: 1 }))).rejects.toMatchObject({
      code: 'pipeline.staging.engine_unavailable',
      details: { check: 'file read' },
    });
    await open.close();
  });

  it.each([
    // Room to spill: the fill that must be refused ends well.
    ['spill cap', () => [factory(), factory()], undefined],
    // The engine does not hear that its statement is to stop.
    [
      'interrupt',
      () => [factory(), factory({ maxSpillMb: 1 })],
      (sql: string, asked: AbortSignal) => (sql.includes('10000000') ? new Promise<never>(() => asked) : undefined),
    ],
    // The engine forgets that a stream was cut: what comes after it is answered as if all rows had come.
    [
      'cut stream',
      () => [factory(), factory({ maxSpillMb: 1 })],
      (sql: string) => (sql === 'SELECT 1' ? Promise.resolve(undefined as never) : undefined),
    ],
  ] as const)('fails its boot test at the %s when the engine does not keep it', async (check, engines, faulty) => {
    const run = StagingConnection.prototype.run;
    const spy = jest.spyOn(StagingConnection.prototype, 'run').mockImplementation(function (
      this: StagingConnection,
      sql: string,
      asked: AbortSignal,
    ) {
      return faulty?.(sql, asked) ?? run.call(this, sql, asked);
    });
    const [sound, capped] = engines();
    try {
      await expect(stagingSelfTest(sound!, capped!)).rejects.toMatchObject({
        code: 'pipeline.staging.engine_unavailable',
        details: { check },
      });
    } finally {
      spy.mockRestore();
    }
  });

  it('gives back memory, connections and the spill folder when it closes, also after a spill', async () => {
    const staging = factory();
    const spilled = new SpillFolders(root, INSTANCE);
    const engine = await staging.create('spilling', { maxMemoryMb: 64, signal });
    expect([staging.tables, await spilled.bytes()]).toEqual([0, 0]);
    await engine.withConnection(signal, async (connection) => {
      await connection.run(
        'CREATE TABLE t AS SELECT range, hash(range) h, hash(range+1) i FROM range(8000000)',
        signal,
      );
      const count = await connection.run('SELECT count(*) FROM t', signal);
      expect(count.getChunk(0).getColumnValues(0)).toEqual([8000000n]);
    });
    const [instance] = readdirSync(root);
    expect(readdirSync(join(root, instance!))).toEqual(['spilling']);
    engine.tableStaged();
    expect(staging.tables).toBe(1);
    expect(await spilled.bytes()).toBeGreaterThan(1_000_000);
    await engine.close();
    expect([staging.tables, await spilled.bytes()]).toEqual([0, 0]);
    expect(readdirSync(join(root, instance!))).toEqual([]);
    expect(budget.leftMb).toBe(4096);
    expect(problems).toEqual([]);
  });

  it('stops the statement in the engine on abort, and rejects with the reason of the abort', async () => {
    const engine = await factory().create('abort', { signal });
    const stop = new AbortController();
    const running = engine.withConnection(stop.signal, (connection) => connection.run(HEAVY, stop.signal));
    const outcome = expect(running).rejects.toBe('because');
    await delay(30);
    stop.abort('because');
    await outcome;
    const again = await engine.withConnection(signal, (connection) => connection.run('SELECT 42', signal));
    expect(again.getChunk(0).getColumnValues(0)).toEqual([42]);
    await engine.close();
    await idle(gate);
  });

  it('closes while a statement runs: the statement is interrupted, nothing is left behind', async () => {
    const engine = await factory().create('closing', { signal });
    const running = engine.withConnection(signal, (connection) => connection.run(HEAVY, signal));
    const outcome = expect(running).rejects.toMatchObject({ kind: 'interrupted' });
    await delay(30);
    await engine.close();
    await outcome;
    expect(budget.leftMb).toBe(4096);
    expect(existsSync(join(root, readdirSync(root)[0]!, 'closing'))).toBe(false);
  });

  it('opens at most the configured connections; the next node waits and leaves the queue when it is cancelled', async () => {
    const engine = await factory({ maxConnections: 1 }).create('narrow', { signal });
    const held = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    const first = engine.withConnection(signal, () => {
      held.resolve();
      return free.promise;
    });
    await held.promise;
    const stop = new AbortController();
    const second = engine.withConnection(stop.signal, () => Promise.resolve('second'));
    const refused = expect(second).rejects.toBe('gone');
    stop.abort('gone');
    await refused;
    const third = engine.withConnection(signal, () => Promise.resolve('third'));
    free.resolve();
    expect(await third).toBe('third');
    await first;
    await engine.close();
  });

  it('divides the memory of the process so that many engines fit, and refuses when less than 64 MB is left', async () => {
    budget = new MemoryBudget(1024);
    const source = factory({ maxMemoryMb: 1024 });
    const engines = [];
    for (let memory = source.reserve(); memory; memory = source.reserve()) {
      engines.push(await source.create(`e${engines.length}`, { memory, signal }));
    }
    expect(engines).toHaveLength(13);
    const refused = source.create('one too many', { signal });
    await expect(refused).rejects.toBeInstanceOf(PenstockError);
    await expect(refused).rejects.toMatchObject({
      code: 'pipeline.staging.creation_failed',
      details: { reason: 'memory_budget' },
    });
    expect(source.active).toBe(13);
    await Promise.all(engines.map((engine) => engine.close()));
    expect(source.active).toBe(0);
    expect(budget.leftMb).toBe(1024);
  });

  it('removes the spill folders of processes that are gone, and never those of a living one', async () => {
    const { mkdirSync } = await import('node:fs');
    const { hostname } = await import('node:os');
    const dead = `penstock~${hostname()}~999999999~${INSTANCE}`;
    const living = `penstock~${hostname()}~${process.ppid}~${INSTANCE}`;
    const elsewhere = `penstock~other-host~1~${INSTANCE}`;
    for (const name of [dead, living, elsewhere, 'not ours']) mkdirSync(join(root, name, 'x'), { recursive: true });
    expect(await new SpillFolders(root, INSTANCE).removeOrphans(new Date())).toBe(1);
    expect(readdirSync(root).sort()).toEqual([living, elsewhere, 'not ours'].sort());
    expect(await new SpillFolders(root, INSTANCE).removeOrphans(new Date(Date.now() + 4 * 3_600_000))).toBe(1);
    expect(readdirSync(root).sort()).toEqual([living, 'not ours'].sort());
  });
});
