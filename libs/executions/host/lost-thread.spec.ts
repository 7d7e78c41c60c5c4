import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { SilentLogger } from '#libs/kernel';
import { RunRegistry } from '../instance/run-registry.js';
import { MemoryBudget } from '../staging/memory-budget.js';
import { SharedMemory } from '../staging/shared-memory.js';
import type { LostRuns } from '../records/lost-runs.js';
import type { RunFacts } from '../instance/run-facts.js';
import type { ThreadSource } from './execution-place.js';
import { ExecutionThreads } from './execution-threads.js';
import { HostThread } from './host-thread.js';
import { ServedPermits } from './serve-permits.js';

it('a thread that dies gives back what it had lent to engines of children, and nothing that others lent', async () => {
  const memory = new SharedMemory();
  const budget = new MemoryBudget(4096, memory.lent, memory.lentHere);
  const here = budget.reserve(100)!;
  let worker: Worker | undefined;
  const thread = new HostThread({
    source: {
      count: 1,
      spawn: (birth) => {
        // As the instance inside does for a child whose parent reserved nothing.
        const inside = new SharedMemory(birth.memory, birth.lentHere);
        const lent = new MemoryBudget(4096, inside.lent, inside.lentHere);
        lent.reserve(100)!.release();
        lent.reserve(200);
        expect(budget.lentMb).toBe(300);
        return (worker = new Worker('process.exit(1)', {
          eval: true,
          workerData: birth,
          transferList: [birth.permits],
        }));
      },
    },
    permits: new ServedPermits(),
    memory,
    runs: new RunRegistry(1),
    logger: new SilentLogger(),
    died: () => undefined,
  });
  await Promise.all([expect(thread.ready).rejects.toThrow('before it was ready'), once(worker!, 'exit')]);
  expect(budget.lentMb).toBe(100);
  here.release();
  expect(budget.lentMb).toBe(0);
});

it('a run that finds no thread is ended at once, its row too, and told as lost', async () => {
  const ended: string[] = [];
  const none = () => {
    throw new TypeError('no thread is to be made');
  };
  const threads = threadsOf({ count: 0, spawn: none }, ended);
  await threads.start();
  const run = threads.run({ executionId: 'x', pipeline: { document: {}, workspaceId: 'w' } } as unknown as RunFacts);
  expect(await run.run()).toMatchObject({
    status: 'FAILED',
    unrecorded: true,
    failure: { code: 'pipeline.execution.aborted', details: { reason: 'host_thread_lost' } },
  });
  expect(ended).toEqual(['execution.host_thread_lost', 'x']);
});

/** A thread that takes runs, and does `death` at its first. */
const dying = (death: string) => `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', ({ kind, id }) => {
    if (kind === 'run') { ${death} }
    if (kind === 'flush') parentPort.postMessage({ kind: 'answer', id, value: null });
    if (kind === 'stop') parentPort.close();
  });
  parentPort.postMessage({ kind: 'ready', instanceId: 'none' });`;

it.each([
  ['throws where nobody catches', `throw new TypeError('a defect');`],
  ['leaves a rejection unhandled', `void Promise.reject(new TypeError('a defect'));`],
  ['ends itself with success', `process.exit(0);`],
  ['has no memory left', `const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length));`],
])('a thread that %s fails the run it had, and another takes the next', async (_, death) => {
  const ended: string[] = [];
  const born: Worker[] = [];
  const spawn: ThreadSource['spawn'] = (birth) => {
    const worker = new Worker(dying(born.length === 0 ? death : ''), {
      ...{ eval: true, workerData: birth, transferList: [birth.permits] },
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    born.push(worker);
    return worker;
  };
  const threads = threadsOf({ count: 1, spawn }, ended);
  await threads.start();
  const facts = (executionId: string) =>
    ({ executionId, userId: 'u', pipeline: { document: {}, workspaceId: 'w' } }) as unknown as RunFacts;
  expect(await threads.run(facts('first')).run()).toMatchObject({
    executionId: 'first',
    status: 'FAILED',
    failure: { code: 'pipeline.execution.aborted', details: { reason: 'host_thread_lost' } },
  });
  expect(ended).toEqual(['execution.host_thread_lost', 'first']);
  expect(born).toHaveLength(2);
  await threads.flush();
  await threads.stop();
});

it('a thread that is told to stop and goes on trying something is ended: it keeps no process alive', async () => {
  const stubborn = `
    const { parentPort, workerData } = require('node:worker_threads');
    parentPort.on('message', ({ kind }) => {
      if (kind !== 'stop') return;
      setInterval(() => undefined, 1000);
      workerData.permits.close();
    });
    parentPort.postMessage({ kind: 'ready', instanceId: 'none' });`;
  const born: Worker[] = [];
  const spawn: ThreadSource['spawn'] = (birth) => {
    born.push(new Worker(stubborn, { eval: true, workerData: birth, transferList: [birth.permits] }));
    return born[0]!;
  };
  const threads = threadsOf({ count: 1, spawn }, []);
  await threads.start();
  await threads.stop();
  expect(threads.lingering).toBe(0);
  expect(born[0]!.threadId).toBe(-1);
});

/** Threads of an instance without a database: what they end is told in `ended`. */
function threadsOf(source: ThreadSource, ended: string[]): ExecutionThreads {
  return new ExecutionThreads({
    source,
    memory: new SharedMemory(),
    runs: new RunRegistry(1),
    lost: { end: (_pick, { event }) => Promise.resolve(ended.push(event) > 0) } as Pick<LostRuns, 'end'> as LostRuns,
    logger: new SilentLogger(),
    spillDirectory: '',
    baseUrl: '',
    discardResult: (executionId) => Promise.resolve(void ended.push(executionId)),
  });
}
