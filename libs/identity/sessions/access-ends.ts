import { Injectable } from '@nestjs/common';
import type { AuditActor } from '#libs/audit';
import { Clock } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { Invalidations } from '../liveness/invalidations.js';
import { ResetTokenRepository } from '../reset/reset-token.repository.js';
import { SessionIssuer } from './session-issuer.js';
import { SessionRepository, type RevocationReason } from './session.repository.js';

/** Ends what somebody signed in with: sessions and reset links. Keys live on by their owner's standing (04 §4.5). */
@Injectable()
export class AccessEnds {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly issuer: SessionIssuer,
    private readonly tokens: ResetTokenRepository,
    private readonly invalidations: Invalidations,
    private readonly clock: Clock,
  ) {}

  async sessionsOf(tx: Transaction, actor: AuditActor, userId: string, reason: RevocationReason): Promise<void> {
    const ended = await this.sessions.revokeOthers(tx, userId, undefined, this.clock.now(), reason);
    await this.issuer.recordEnds(tx, actor, ended, reason);
  }

  /** Sessions and reset links; what the instances remember of the person goes with them. */
  async everythingOf(tx: Transaction, actor: AuditActor, userId: string, reason: RevocationReason): Promise<void> {
    await this.sessionsOf(tx, actor, userId, reason);
    await this.tokens.useUp(tx, userId);
    this.invalidations.announce(tx, 'user', userId);
  }
}
