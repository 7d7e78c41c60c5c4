import type { NativeCallGate } from '#libs/datasources';
import type { Logger } from '#libs/kernel';
import { MemoryBudget } from '../staging/memory-budget.js';
import { memoryGuards, type MemoryGuards } from '../staging/memory-guards.js';
import type { SharedMemory } from '../staging/shared-memory.js';
import { SpillFolders } from '../staging/spill-folders.js';
import { StagingFactory } from '../staging/staging-factory.js';
import type { InstanceSettings } from './instance-settings.js';

type StagingSettings = InstanceSettings['staging'];

/** Engines of one instance, and the memory and the disk that they share (contract 02 §6.1). */
export class InstanceStaging {
  readonly factory: StagingFactory;
  readonly spill: SpillFolders;
  readonly #budget: MemoryBudget;
  readonly #guards: MemoryGuards;

  constructor(
    instanceId: string,
    private readonly settings: StagingSettings,
    memory: SharedMemory,
    private readonly gate: NativeCallGate,
    private readonly logger: Logger,
  ) {
    this.spill = new SpillFolders(settings.spillDirectory, instanceId);
    this.#budget = new MemoryBudget(settings.totalMemoryMb, memory.lent, memory.lentHere);
    this.#guards = memoryGuards(memory, this.#budget, settings.overrunMb, logger);
    this.factory = this.factoryWith({});
  }

  /** A factory with other settings and the same budgets: the boot test needs one that may hardly spill. */
  factoryWith(change: Partial<StagingSettings>): StagingFactory {
    const cleanupFailed = (executionId: string, error: unknown) => {
      this.logger.warn('pipeline.staging.cleanup_failed', { execution_id: executionId, error });
    };
    const settings = { ...this.settings, ...change };
    return new StagingFactory(settings, this.#budget, this.gate, this.spill, { cleanupFailed }, this.#guards);
  }

  /** Only one of a process keeps the wall. */
  async keepWall(): Promise<void> {
    await this.#guards.wall.start();
  }

  async stop(): Promise<void> {
    await this.factory.close();
    await Promise.all([this.spill.removeOwn(), this.#guards.wall.stop()]);
  }
}
