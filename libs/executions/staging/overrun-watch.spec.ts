import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineFailure } from './engine-failure.js';
import { MemoryBudget } from './memory-budget.js';
import { NativeCallGate } from '#libs/datasources';
import { OverrunWatch } from './overrun-watch.js';
import { SpillFolders } from './spill-folders.js';
import { StagingFactory } from './staging-factory.js';

const MB = 1024 * 1024;
const signal = new AbortController().signal;

describe('the watch over native memory', () => {
  let bytes = 0;
  let overruns: number[] = [];
  let watch: OverrunWatch;

  beforeEach(() => {
    jest.useFakeTimers();
    bytes = 100 * MB;
    overruns = [];
    const settings = { overrunMb: 100, lentMb: () => 80, onOverrun: (mb: number) => overruns.push(mb) };
    watch = new OverrunWatch(settings, () => bytes);
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const grow = (mb: number) => {
    bytes += mb * MB;
    jest.advanceTimersByTime(100);
  };

  it('lets engines use what they were lent, and what the allocator keeps after others have ended', () => {
    const interrupt = jest.fn();
    const call = watch.enter(interrupt);
    grow(199);
    expect(interrupt).not.toHaveBeenCalled();
    call.leave();
    grow(1000);
    const next = watch.enter(interrupt);
    grow(0);
    grow(-10);
    expect(interrupt).not.toHaveBeenCalled();
    next.leave();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stops the youngest call that explains the growth alone, again and again until it returns, and no other', () => {
    const [old, culprit, late] = [jest.fn(), jest.fn(), jest.fn()];
    const first = watch.enter(old);
    grow(50);
    const second = watch.enter(culprit);
    grow(120);
    const third = watch.enter(late);
    grow(60);
    expect(overruns).toEqual([180]);
    expect(second.overrunMb).toBe(180);
    grow(400);
    grow(400);
    expect(culprit).toHaveBeenCalledTimes(3);
    expect([old, late].map((mock) => mock.mock.calls.length)).toEqual([0, 0]);
    second.leave();
    bytes = 250 * MB;
    grow(0);
    expect([first.overrunMb, third.overrunMb]).toEqual([undefined, undefined]);
  });

  it('goes on to another when the first has returned and the memory still grows', () => {
    const calls = [watch.enter(() => undefined), watch.enter(() => undefined)];
    grow(500);
    const stopped = calls.filter(({ overrunMb }) => overrunMb !== undefined);
    expect(stopped).toEqual([calls[1]]);
    calls[1]!.leave();
    grow(10);
    expect(calls[0]!.overrunMb).toBe(510);
  });
});

describe('a statement whose lists do not count against its engine', () => {
  it('is stopped when the process overruns its budget, and told apart from a cancel', async () => {
    const root = mkdtempSync(join(tmpdir(), 'overrun-'));
    const budget = new MemoryBudget(512);
    const watch = new OverrunWatch({ overrunMb: 128, lentMb: () => budget.lentMb, onOverrun: () => undefined });
    const settings = { maxMemoryMb: 64, maxSpillMb: 0, threads: 1, maxConnections: 2, closeGraceMs: 5000 };
    const spill = new SpillFolders(root, '0b6e6f0e-5f0f-4a2d-9f51-000000000002');
    const problems = { cleanupFailed: () => undefined };
    const factory = new StagingFactory(settings, budget, new NativeCallGate(4), spill, problems, { watch });
    const engine = await factory.create('lists', { signal });
    const greedy = `SELECT list_sum(range(80000000 + n)) FROM range(1) AS t(n)`;
    const failure = engine.withConnection(signal, (connection) => connection.run(greedy, signal));
    await expect(failure).rejects.toMatchObject({ kind: 'out_of_memory', usedMb: expect.any(Number) });
    await expect(failure).rejects.toBeInstanceOf(EngineFailure);
    const after = await engine.withConnection(signal, (connection) => connection.run('SELECT 42', signal));
    expect(after.getChunk(0).getColumnValues(0)).toEqual([42]);
    await engine.close();
    await factory.close();
    rmSync(root, { recursive: true, force: true });
  }, 60_000);
});
