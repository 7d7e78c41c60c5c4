import { Injectable } from '@nestjs/common';
import { Clock, newId, readJson, writeJson } from '#libs/kernel';
import { TransientStore, unavailableAs } from '#libs/transient';
import { ExecutionInstance } from './execution-instance.js';

export type JobOutcome = 'SUCCESS' | 'FAILED';

/** A periodic job of one server, and how it last went there. */
export interface JobStanding {
  name: string;
  /** RFC 3339; when it last ended. */
  lastRunAt: string;
  outcome: JobOutcome;
}

/** A server of this deployment, as it last told the others. */
export interface InstanceStanding {
  id: string;
  /** RFC 3339. */
  startedAt: string;
  /** Milliseconds since it last told. */
  heartbeatAgeMs: number;
  runsInFlight: number;
  jobs: JobStanding[];
}

/** A server that missed this many heartbeats is gone, not late. */
const REMEMBERED_BEATS = 20;

/** What the servers of a deployment tell of themselves at each heartbeat (contract 10 §1). */
@Injectable()
export class InstanceRoster {
  readonly #id = newId();
  readonly #startedAt: string;
  readonly #jobs = new Map<string, JobStanding>();

  constructor(
    private readonly instance: ExecutionInstance,
    private readonly store: TransientStore,
    private readonly clock: Clock,
  ) {
    this.#startedAt = clock.now().toISOString();
  }

  /** A job ended here. */
  ended(name: string, outcome: JobOutcome): void {
    this.#jobs.set(name, { name, lastRunAt: this.clock.now().toISOString(), outcome });
  }

  /** Never rejects: a server that cannot tell is seen by its age. */
  async beat(): Promise<void> {
    const { runs, settings, logger } = this.instance;
    const state = { startedAt: this.#startedAt, runsInFlight: String(runs.size), jobs: [...this.#jobs.values()] };
    const keepSeconds = Math.ceil((REMEMBERED_BEATS * settings.heartbeatMs) / 1000);
    try {
      await this.store.beatInstance(this.#id, writeJson(state), keepSeconds);
    } catch (error) {
      logger.debug('A sign of life could not be given.', { error });
    }
  }

  /** Every server that told lately, longest running first. @throws 429 `rate_limit.unavailable` while the store is down */
  async standings(): Promise<InstanceStanding[]> {
    const beats = await unavailableAs('rate_limit.unavailable', () => this.store.instances(), {
      message: 'Which servers live is not known while the transient store is away: ask `/ready` of each.',
    });
    const standings = beats.map(({ instanceId: id, state, ageMs: heartbeatAgeMs }) => {
      const told = readJson(state) as unknown as { startedAt: string; runsInFlight: string; jobs: JobStanding[] };
      return {
        id,
        heartbeatAgeMs,
        startedAt: told.startedAt,
        runsInFlight: Number(told.runsInFlight),
        jobs: told.jobs,
      };
    });
    return standings.sort((a, b) =>
      a.startedAt < b.startedAt || (a.startedAt === b.startedAt && a.id < b.id) ? -1 : 1,
    );
  }
}
