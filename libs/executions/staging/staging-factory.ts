import type { DuckDBInstance } from '@duckdb/node-api';
import { PenstockError } from '#libs/kernel';
import { engineFailure } from './engine-failure.js';
import type { MemoryBudget, MemoryReservation } from './memory-budget.js';
import type { NativeCallGate } from '#libs/datasources';
import type { MemoryGuards } from './memory-guards.js';
import { SpareInstance } from './spare-instance.js';
import type { SpillFolders } from './spill-folders.js';
import { INTERNAL_SCHEMA, StagingEngine } from './staging-engine.js';

export interface StagingSettings {
  /** Ceiling for one engine, `datapipelines.staging.max-memory-mb`. */
  maxMemoryMb: number;
  /** What one engine may write to disk; 0 = never spills. */
  maxSpillMb: number;
  threads: number;
  maxConnections: number;
  closeGraceMs: number;
}

export interface StagingProblems {
  /** `pipeline.staging.cleanup_failed`: logged, never raised. */
  cleanupFailed(executionId: string, error: unknown): void;
}

export interface EngineOptions {
  maxMemoryMb?: number | undefined;
  memory?: MemoryReservation | undefined;
  signal: AbortSignal;
}

/** Opens staging engines (contract 02 §6.1). */
export class StagingFactory {
  #active = 0;
  readonly #engines = new Set<StagingEngine>();

  constructor(
    private readonly settings: StagingSettings,
    private readonly budget: MemoryBudget,
    private readonly gate: NativeCallGate,
    private readonly spill: SpillFolders,
    private readonly problems: StagingProblems,
    private readonly guards: Partial<MemoryGuards> = {},
    private readonly spares: SpareInstance = new SpareInstance(gate),
  ) {}

  /** Engines open now. */
  get active(): number {
    return this.#active;
  }

  /** Tables staged in the engines open now. */
  get tables(): number {
    return [...this.#engines].reduce((sum, { tables }) => sum + tables, 0);
  }

  /**
   * Memory for one engine, taken before its execution is recorded; undefined when less than the smallest engine is left.
   * Whoever holds it gives it to `create`, or back.
   */
  reserve(maxMemoryMb?: number): MemoryReservation | undefined {
    return this.budget.reserve(Math.min(maxMemoryMb ?? Infinity, this.settings.maxMemoryMb));
  }

  /**
   * Opens the engine of one execution, with memory that was reserved or is reserved now. `pipeline.staging.creation_failed`
   * with reason `memory_budget` when none is left, else with the engine's own message.
   */
  async create(executionId: string, options: EngineOptions): Promise<StagingEngine> {
    const memory = options.memory ?? this.reserve(options.maxMemoryMb);
    if (!memory) {
      throw new PenstockError('pipeline.staging.creation_failed', {
        message: 'The memory this server may use for staging is taken by other executions.',
        details: { reason: 'memory_budget', total_mb: this.budget.totalMb },
      });
    }
    this.#active++;
    let folder: string | undefined;
    const afterClose = async () => {
      this.#active--;
      memory.release();
      try {
        if (folder !== undefined) await this.spill.remove(folder);
      } catch (error) {
        this.problems.cleanupFailed(executionId, error);
      }
    };
    let instance: DuckDBInstance | undefined;
    try {
      folder = await this.spill.prepare(executionId);
      await this.guards.wall?.admit(this.budget.lentMb);
      instance = await this.spares.take(options.signal);
      await this.#configure(instance, memory.mb, folder, options.signal);
    } catch (error) {
      instance?.closeSync();
      await afterClose();
      options.signal.throwIfAborted();
      throw new PenstockError('pipeline.staging.creation_failed', {
        message: `The staging engine did not open: ${engineFailure(error).message}`,
        cause: error,
      });
    }
    const engine = new StagingEngine({
      instance,
      gate: this.gate,
      watch: this.guards.watch,
      limitMb: memory.mb,
      spillLimitMb: this.settings.maxSpillMb,
      maxConnections: this.settings.maxConnections,
      closeGraceMs: this.settings.closeGraceMs,
      afterClose: () => {
        this.#engines.delete(engine);
        return afterClose();
      },
      onCleanupFailure: (error) => this.problems.cleanupFailed(executionId, error),
    });
    this.#engines.add(engine);
    return engine;
  }

  /** Frees the engine that is kept ready. Those of runs are closed by their runs. */
  async close(): Promise<void> {
    await this.spares.close();
  }

  /**
   * Applied by SET GLOBAL after opening: as open options the spill cap is reported but not enforced and the time zone
   * fails (measured on 1.5.6). The lock comes last, before any author's SQL.
   */
  async #configure(instance: DuckDBInstance, memoryMb: number, folder: string, signal: AbortSignal): Promise<void> {
    const { threads, maxSpillMb } = this.settings;
    const statements = [
      `SET GLOBAL memory_limit = '${memoryMb}MB'`,
      `SET GLOBAL threads = ${threads}`,
      `SET GLOBAL temp_directory = ${maxSpillMb > 0 ? literal(folder) : "''"}`,
      ...(maxSpillMb > 0 ? [`SET GLOBAL max_temp_directory_size = '${maxSpillMb}MB'`] : []),
      `SET GLOBAL TimeZone = 'UTC'`,
      `SET GLOBAL allow_persistent_secrets = false`,
      `SET GLOBAL allow_community_extensions = false`,
      `SET GLOBAL autoinstall_known_extensions = false`,
      `SET GLOBAL autoload_known_extensions = false`,
      `CREATE SCHEMA "${INTERNAL_SCHEMA}"`,
      `SET GLOBAL enable_external_access = false`,
      `SET GLOBAL lock_configuration = true`,
    ];
    const connection = await this.gate.run(() => instance.connect(), signal);
    try {
      await this.gate.run(() => connection.run(statements.join('; ')), signal);
    } finally {
      connection.disconnectSync();
    }
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
