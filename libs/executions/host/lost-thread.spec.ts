import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { SilentLogger } from '#libs/kernel';
import { RunRegistry } from '../instance/run-registry.js';
import { MemoryBudget } from '../staging/memory-budget.js';
import { SharedMemory } from '../staging/shared-memory.js';
import type { LostRuns } from '../records/lost-runs.js';
import type { RunFacts } from '../instance/run-facts.js';
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
  const threads = new ExecutionThreads({
    source: {
      count: 0,
      spawn: () => {
        throw new TypeError('no thread is to be made');
      },
    },
    memory: new SharedMemory(),
    runs: new RunRegistry(1),
    lost: { end: (_pick, { event }) => Promise.resolve(ended.push(event) > 0) } as Pick<LostRuns, 'end'> as LostRuns,
    logger: new SilentLogger(),
    spillDirectory: '',
    baseUrl: '',
    discardResult: (executionId) => Promise.resolve(void ended.push(executionId)),
  });
  await threads.start();
  const run = threads.run({ executionId: 'x', pipeline: { document: {}, workspaceId: 'w' } } as unknown as RunFacts);
  expect(await run.run()).toMatchObject({
    status: 'FAILED',
    unrecorded: true,
    failure: { code: 'pipeline.execution.aborted', details: { reason: 'host_thread_lost' } },
  });
  expect(ended).toEqual(['execution.host_thread_lost', 'x']);
});
