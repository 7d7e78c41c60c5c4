import { Injectable } from '@nestjs/common';
import { InstanceRoster } from '#libs/executions';
import { SessionPurge } from '#libs/identity';
import { Configuration, Logger } from '#libs/kernel';

const DAY_MS = 86_400_000;
/** The first tick comes soon after the boot, so that an instance restarted daily purges too. */
const FIRST_MS = 60_000;

/** The daily purge of ended sessions; idempotent, on every instance (04 §4.4). */
@Injectable()
export class IdentityJobs {
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly purge: SessionPurge,
    private readonly roster: InstanceRoster,
    private readonly configuration: Configuration,
    private readonly log: Logger,
  ) {}

  start(): void {
    if (!this.configuration.get('datapipelines.jobs.enabled')) return;
    this.#schedule(FIRST_MS);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stop.abort();
    await this.#running;
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#tick();
    }, delayMs).unref();
  }

  async #tick(): Promise<void> {
    try {
      const purged = await this.purge.run(this.#stop.signal);
      if (purged > 0) this.log.info('Purged ended sessions.', { sessions: purged });
      this.roster.ended('session purge', 'SUCCESS');
    } catch (error) {
      this.roster.ended('session purge', 'FAILED');
      this.log.warn('Ended sessions were not purged; the next tick tries again.', { error });
    }
    if (!this.#stop.signal.aborted) this.#schedule(DAY_MS);
  }
}
