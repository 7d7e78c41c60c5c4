import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { Clock, isUuid, toWireStamp, type Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { authoriseSelf } from '../authorise.js';
import { IdentitySettings } from '../identity-settings.js';
import { SessionIssuer } from './session-issuer.js';
import { SessionRepository, type RevocationReason, type RevokedSession } from './session.repository.js';

/** A session as its owner sees it; stamps in wire form. */
export interface SessionView {
  id: string;
  amr: 'pwd' | 'oidc';
  provider: string;
  created_at: string;
  expires_at: string;
  last_seen_at: string;
  source_ip: string | null;
  user_agent: string | null;
  is_current: boolean;
}

/** One's own sessions (contract 04 §4.4). */
@Injectable()
export class SessionService {
  constructor(
    private readonly db: Database,
    private readonly sessions: SessionRepository,
    private readonly issuer: SessionIssuer,
    private readonly audit: AuditLog,
    private readonly settings: IdentitySettings,
    private readonly clock: Clock,
  ) {}

  /** Live sessions, the newest first. */
  async list(principal: Principal): Promise<SessionView[]> {
    authoriseSelf(principal, 'session.own');
    const { sessionIdleMinutes } = this.settings;
    const rows = await this.sessions.listLive(this.db, principal.userId, this.clock.now(), sessionIdleMinutes);
    return rows.map((row) => ({
      id: row.id,
      amr: row.amr,
      provider: row.provider,
      created_at: toWireStamp(row.createdAt),
      expires_at: toWireStamp(row.expiresAt),
      last_seen_at: toWireStamp(row.lastSeenAt),
      source_ip: row.sourceIp,
      user_agent: row.userAgent,
      is_current: row.id === principal.sessionId,
    }));
  }

  /** Ends one of one's own sessions. An unknown, a foreign and an ended one are alike: nothing is left to end. */
  async revoke(principal: Principal, id: string): Promise<void> {
    authoriseSelf(principal, 'session.own');
    if (!isUuid(id)) return;
    await this.db.transaction((tx) =>
      this.#end(tx, principal, 'revoked', (now) => this.sessions.revokeOwn(tx, principal.userId, id, now, 'revoked')),
    );
  }

  /** Ends all of one's sessions but the current one. */
  async revokeOthers(principal: Principal): Promise<void> {
    authoriseSelf(principal, 'session.own');
    const { userId, sessionId } = principal;
    await this.db.transaction((tx) =>
      this.#end(tx, principal, 'revoked', (now) => this.sessions.revokeOthers(tx, userId, sessionId, now, 'revoked')),
    );
  }

  /** Ends the current session. Doing it twice is no error. */
  async logout(principal: Principal): Promise<void> {
    authoriseSelf(principal, 'session.own');
    const { userId, sessionId } = principal;
    if (sessionId === undefined) return;
    await this.db.transaction(async (tx) => {
      const ended = await this.#end(tx, principal, 'logout', (now) =>
        this.sessions.revokeOwn(tx, userId, sessionId, now, 'logout'),
      );
      if (ended > 0) await this.audit.append(tx, principal, 'auth.logout', { session_id: sessionId });
    });
  }

  async #end(
    tx: Transaction,
    principal: Principal,
    reason: RevocationReason,
    revoke: (now: Date) => Promise<RevokedSession[]>,
  ): Promise<number> {
    const ended = await revoke(this.clock.now());
    await this.issuer.recordEnds(tx, principal, ended, reason);
    return ended.length;
  }
}
