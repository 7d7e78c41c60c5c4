import { Injectable } from '@nestjs/common';
import { Clock, Configuration } from '#libs/kernel';
import { ExecutionInstance } from '../instance/execution-instance.js';
import { stagingSelfTest } from '../staging/staging-self-test.js';
import { InstanceRoster } from '../instance/instance-roster.js';
import { Retention } from './retention.js';
import { Sweep } from './sweep.js';

const SWEEP_MS = 15_000;
const HOUR_MS = 3_600_000;
const JITTER = 0.1;

/**
 * The periodic work of an instance (contract 02 §11): idempotent, on every instance, without a leader. A failed tick is
 * logged and waits for the next.
 */
@Injectable()
export class ExecutionJobs {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #retentionEnabled: boolean;
  #stopped = false;

  constructor(
    private readonly instance: ExecutionInstance,
    private readonly sweeper: Sweep,
    private readonly retention: Retention,
    private readonly clock: Clock,
    private readonly roster: InstanceRoster,
    configuration: Configuration,
  ) {
    this.#retentionEnabled = configuration.get('datapipelines.jobs.enabled');
  }

  /**
   * Proves the staging engine, then begins to work. Rejects, and the boot with it, when the engine fails its test.
   * `alone`: no other process works on this database, so runs that are still open have lost their owner.
   */
  async start({ alone }: { alone: boolean }): Promise<void> {
    const capped = this.instance.stagingWith({ maxSpillMb: 1 });
    await stagingSelfTest(this.instance.staging, capped).finally(() => capped.close());
    await this.instance.start();
    await this.roster.beat();
    if (alone) await this.sweeper.runAlone();
    await this.#tick('spill folders', () => this.spillFolders());
    this.#every('heartbeat', this.instance.settings.heartbeatMs, () => this.heartbeat());
    this.#every('spill folders', HOUR_MS, () => this.spillFolders());
    if (!this.#retentionEnabled) return;
    this.#every('sweep', SWEEP_MS, () => this.sweep());
    this.#every('event retention', HOUR_MS, () => this.eventRetention());
    this.#every('audit retention', HOUR_MS, () => this.auditRetention());
  }

  /** Ends the timers and waits for what they started. The runs are drained before. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#running);
    await this.instance.stop();
  }

  /** Signs of life of the runs here, and of what their people hold. */
  async heartbeat(): Promise<void> {
    await Promise.all([this.instance.ownership.beat(), this.instance.leases.renew(), this.roster.beat()]);
  }

  sweep(): Promise<number> {
    return this.sweeper.run();
  }

  eventRetention(): Promise<number> {
    return this.retention.events();
  }

  auditRetention(): Promise<number> {
    return this.retention.audit();
  }

  spillFolders(): Promise<number> {
    return this.instance.spill.removeOrphans(this.clock.now());
  }

  #every(name: string, intervalMs: number, work: () => Promise<unknown>): void {
    if (this.#stopped) return;
    const waitMs = intervalMs * (1 + JITTER * (2 * Math.random() - 1));
    const timer = setTimeout(() => void this.#tick(name, work).then(() => this.#every(name, intervalMs, work)), waitMs);
    timer.unref();
    this.#timers.set(name, timer);
  }

  async #tick(name: string, work: () => Promise<unknown>): Promise<void> {
    const tick = this.#attempt(name, work);
    this.#running.add(tick);
    await tick;
    this.#running.delete(tick);
  }

  async #attempt(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.roster.ended(name, 'SUCCESS');
    } catch (error) {
      this.roster.ended(name, 'FAILED');
      this.instance.trust.failed();
      this.instance.logger.warn('A periodic job failed; it waits for its next turn.', { job: name, error });
    }
  }
}
