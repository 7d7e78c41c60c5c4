import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { SessionRepository } from './session.repository.js';

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const BATCH = 1000;

/** Removes sessions thirty days after their end; idempotent and safe on every instance at once (contract 04 §4.4). */
@Injectable()
export class SessionPurge {
  constructor(
    private readonly db: Database,
    private readonly sessions: SessionRepository,
    private readonly clock: Clock,
  ) {}

  /** How many rows went. Stops between batches when the signal fires. */
  async run(signal?: AbortSignal): Promise<number> {
    const endedBefore = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    let total = 0;
    for (;;) {
      const purged = await this.sessions.purge(this.db, endedBefore, BATCH);
      total += purged;
      if (purged < BATCH || signal?.aborted) return total;
    }
  }
}
