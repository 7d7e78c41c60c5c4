import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { ResetTokenRepository } from '../reset/reset-token.repository.js';
import { SessionRepository } from './session.repository.js';

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const BATCH = 1000;

/** Removes sessions and reset links thirty days after their end; idempotent and safe on every instance at once (contract 04 §4.4). */
@Injectable()
export class SessionPurge {
  constructor(
    private readonly db: Database,
    private readonly sessions: SessionRepository,
    private readonly tokens: ResetTokenRepository,
    private readonly clock: Clock,
  ) {}

  /** How many rows went. Stops between batches when the signal fires. */
  async run(signal?: AbortSignal): Promise<number> {
    const endedBefore = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    const sessions = await this.#inBatches((batch) => this.sessions.purge(this.db, endedBefore, batch), signal);
    return sessions + (await this.#inBatches((batch) => this.tokens.purge(this.db, endedBefore, batch), signal));
  }

  async #inBatches(purge: (batch: number) => Promise<number>, signal: AbortSignal | undefined): Promise<number> {
    let total = 0;
    for (;;) {
      const purged = await purge(BATCH);
      total += purged;
      if (purged < BATCH || signal?.aborted) return total;
    }
  }
}
