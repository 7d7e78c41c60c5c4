import type { Logger } from '#libs/kernel';
import type { MemoryBudget } from './memory-budget.js';
import { MemoryWall } from './memory-wall.js';
import { OverrunWatch } from './overrun-watch.js';
import type { SharedMemory } from './shared-memory.js';

/** What stands around the memory that engines do not count themselves. */
export interface MemoryGuards {
  readonly wall: MemoryWall;
  readonly watch: OverrunWatch;
}

/** The guards of one process: its threads share the wall, and each watches over its own statements. */
export function memoryGuards(
  { wall }: SharedMemory,
  budget: MemoryBudget,
  overrunMb: number,
  logger: Logger,
): MemoryGuards {
  return {
    wall: new MemoryWall((error) => {
      logger.warn('There is no bound on what statements allocate beside their engine.', { error });
    }, wall),
    watch: new OverrunWatch({
      overrunMb,
      lentMb: () => budget.lentMb,
      onOverrun: (grownMb) => logger.warn('staging.memory_overrun', { grown_mb: grownMb }),
    }),
  };
}
