import { Injectable } from '@nestjs/common';
import { auditText, inetOf } from '#libs/audit';
import { Clock, Logger } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { ApiKeyRepository } from '../keys/api-key.repository.js';
import { SessionRepository } from '../sessions/session.repository.js';
import type { RequestFacts } from './request-facts.js';

const INTERVAL_MS = 60_000;
const MAX_REMEMBERED = 10_000;
const MAX_USER_AGENT_BYTES = 512;

/**
 * "Last used" and "last seen": written off the request's path and at most once a minute, so a busy key costs one UPDATE
 * a minute and instance. A lost stamp is no fault.
 */
@Injectable()
export class UseStamps {
  readonly #stampedAt = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly db: Database,
    private readonly keys: ApiKeyRepository,
    private readonly sessions: SessionRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  keyUsed(id: string, facts: Pick<RequestFacts, 'sourceIp' | 'userAgent'>): void {
    if (!this.#due(id)) return;
    const agent = facts.userAgent === undefined ? null : auditText(facts.userAgent, MAX_USER_AGENT_BYTES);
    this.#write(this.keys.touch(this.db, id, inetOf(facts.sourceIp), agent));
  }

  sessionSeen(id: string): void {
    if (this.#due(id)) this.#write(this.sessions.touch(this.db, id, this.clock.now()));
  }

  /** Waits for the writes under way; for shutdown and tests. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #due(id: string): boolean {
    const now = this.clock.now().getTime();
    if (now - (this.#stampedAt.get(id) ?? -Infinity) < INTERVAL_MS) return false;
    // Forgetting costs at most one UPDATE that the row's own condition turns into nothing.
    if (this.#stampedAt.size >= MAX_REMEMBERED) this.#stampedAt.clear();
    this.#stampedAt.set(id, now);
    return true;
  }

  #write(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => this.logger.warn('identity.use_stamp_failed', { error }))
      .finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
  }
}
