import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import { setTimeout as delay } from 'node:timers/promises';
import { ExecutionInstance } from './execution-instance.js';

/** After a crash there is little time. */
const HURRY_MS = 2000;

/** Ends an instance without losing what it runs (contract 02 §9.3). */
@Injectable()
export class Drain {
  readonly #waitMs: number;
  readonly #writeMs: number;

  constructor(
    private readonly instance: ExecutionInstance,
    configuration: Configuration,
  ) {
    this.#waitMs = configuration.get('datapipelines.shutdown.drain-wait-seconds') * 1000;
    this.#writeMs = configuration.get('datapipelines.server.shutdown-drain-seconds') * 1000;
  }

  /**
   * Refuses launches at once, lets runs end for as long as is configured, cancels the rest `shutdown`, and resolves when
   * their rows and events are written, or when the time for that is over. `hurry`: no waiting for runs to end.
   */
  async begin(options: { hurry?: boolean } = {}): Promise<void> {
    const { instance } = this;
    instance.refuseLaunches();
    if (!options.hurry && (await within(instance.runs.whenIdle(), this.#waitMs))) return this.#complete();
    const cancelled = instance.cancelAll('shutdown');
    if (cancelled > 0) instance.logger.warn('shutdown.drain_cancelled', { executions: cancelled });
    await within(instance.runs.whenIdle(), options.hurry ? HURRY_MS : this.#writeMs);
    await this.#complete();
  }

  async #complete(): Promise<void> {
    await within(this.instance.flush(), HURRY_MS);
    this.instance.logger.info('shutdown.drain_complete', { executions: this.instance.runs.size });
  }
}

async function within(work: Promise<void>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const done = work.then(() => true);
  const late = delay(ms, false, { signal: stop.signal }).catch(() => false);
  const inTime = await Promise.race([done, late]);
  stop.abort();
  return inTime;
}
