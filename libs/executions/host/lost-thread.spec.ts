import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { SilentLogger } from '#libs/kernel';
import { RunRegistry } from '../instance/run-registry.js';
import { MemoryBudget } from '../staging/memory-budget.js';
import { SharedMemory } from '../staging/shared-memory.js';
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
