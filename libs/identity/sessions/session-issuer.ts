import { Injectable } from '@nestjs/common';
import { auditText, AuditLog, inetOf, type AuditActor } from '#libs/audit';
import { Clock, newId, PenstockError, type Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import type { RequestFacts } from '../access/request-facts.js';
import { IdentitySettings } from '../identity-settings.js';
import { Invalidations } from '../liveness/invalidations.js';
import type { UserRecord } from '../users/user.repository.js';
import { newSessionId, sessionIdHash, SessionJwt, type AuthenticationMethod } from './session-jwt.js';
import { SessionRepository, type RevocationReason, type RevokedSession } from './session.repository.js';

const HOUR_MS = 3_600_000;
const MAX_USER_AGENT_BYTES = 512;

export interface OpenedSession {
  id: string;
  sid: string;
  amr: AuthenticationMethod;
  expiresAt: Date;
}

/** Opens, re-issues and ends sessions; each end is audited and told to the other instances. */
@Injectable()
export class SessionIssuer {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly jwt: SessionJwt,
    private readonly settings: IdentitySettings,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly clock: Clock,
  ) {}

  /** Always a new `sid`; the session that was presented with the login ends, and so do the oldest beyond the limit. */
  async open(
    tx: Transaction,
    user: UserRecord,
    amr: AuthenticationMethod,
    facts: RequestFacts & { presentedSession?: string },
  ): Promise<OpenedSession> {
    const now = this.clock.now();
    const actor: AuditActor = { ...facts, userId: user.id };
    await this.#endPresented(tx, actor, facts.presentedSession, now);
    const { sid, hash } = newSessionId();
    // Whole seconds, as the token carries them: token and row end together.
    const expiresAt = new Date(Math.floor((now.getTime() + this.settings.sessionTtlHours * HOUR_MS) / 1000) * 1000);
    const session = { id: newId(), sid, amr, expiresAt };
    await this.sessions.insert(tx, {
      id: session.id,
      tokenHash: hash,
      userId: user.id,
      amr,
      provider: user.provider,
      createdAt: now,
      expiresAt,
      sourceIp: inetOf(facts.sourceIp),
      userAgent: facts.userAgent === undefined ? null : auditText(facts.userAgent, MAX_USER_AGENT_BYTES),
    });
    const surplus = await this.sessions.revokeOverLimit(tx, user.id, this.settings.sessionsPerUser, now);
    await this.recordEnds(tx, actor, surplus, 'over_limit');
    return session;
  }

  token(user: UserRecord, session: OpenedSession, activeWorkspaceId: string | undefined): Promise<string> {
    const { sid, amr, expiresAt } = session;
    const { id: userId, email, displayName } = user;
    return this.jwt.sign({ userId, email, displayName, amr, sid, activeWorkspaceId, expiresAt });
  }

  /**
   * The same session remembering another workspace: same row, same end, new token.
   *
   * @param presented the token the request came with; it must be the principal's own
   * @throws `auth.session.invalid`, `auth.session.expired`
   */
  async reissue(principal: Principal, presented: string, activeWorkspaceId: string): Promise<string> {
    const claims = await this.jwt.verify(presented);
    if (claims.userId !== principal.userId) throw new PenstockError('auth.session.invalid');
    return this.jwt.sign({ ...claims, activeWorkspaceId });
  }

  async recordEnds(
    tx: Transaction,
    actor: AuditActor,
    ended: readonly RevokedSession[],
    reason: RevocationReason,
  ): Promise<void> {
    for (const { id, hash } of ended) {
      await this.audit.append(tx, actor, 'auth.session.revoked', { session_id: id, reason, actor: actor.userId });
      this.invalidations.announce(tx, 'session', hash);
    }
  }

  /** A token that does not verify names no session of ours, so there is nothing to end. */
  async #endPresented(tx: Transaction, actor: AuditActor, presented: string | undefined, now: Date): Promise<void> {
    if (presented === undefined) return;
    let hash: Buffer;
    try {
      hash = sessionIdHash((await this.jwt.verify(presented)).sid);
    } catch (error) {
      if (error instanceof PenstockError) return;
      throw error;
    }
    await this.recordEnds(tx, actor, await this.sessions.revokeByHash(tx, hash, now, 'replaced'), 'replaced');
  }
}
