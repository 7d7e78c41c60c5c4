import { Injectable } from '@nestjs/common';
import { Clock, PenstockError, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { IdentitySettings } from '../identity-settings.js';
import { LivenessCache } from '../liveness/liveness-cache.js';
import { sessionIdHash, SessionJwt } from '../sessions/session-jwt.js';
import { SessionRepository, type SessionRecord } from '../sessions/session.repository.js';
import { UserRepository, type UserRecord } from '../users/user.repository.js';
import { AccessTrail } from './access-trail.js';
import { carried, type RequestFacts } from './request-facts.js';
import { UseStamps } from './use-stamps.js';
import { WorkspaceDirectory } from './workspace-directory.js';

const MINUTE_MS = 60_000;

export interface SessionFacts extends RequestFacts {
  /** Value of `DP-Workspace`. */
  workspaceHeader?: string;
}

/** From a session cookie to its principal: the token names the session, the rows decide (contract 04 §4.4, §7.2). */
@Injectable()
export class SessionAuthenticator {
  constructor(
    private readonly db: Database,
    private readonly jwt: SessionJwt,
    private readonly sessions: SessionRepository,
    private readonly users: UserRepository,
    private readonly directory: WorkspaceDirectory,
    private readonly cache: LivenessCache,
    private readonly settings: IdentitySettings,
    private readonly stamps: UseStamps,
    private readonly trail: AccessTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws `auth.session.invalid`, `auth.session.expired`, `workspace.not_found` or (for a super admin)
   *   `workspace.inactive` for the workspace the header names
   */
  async authenticate(token: string, facts: SessionFacts): Promise<Principal> {
    const claims = await this.jwt.verify(token);
    const session = await this.#live(sessionIdHash(claims.sid));
    if (session.userId !== claims.userId) throw new PenstockError('auth.session.invalid');
    const user = await this.cache.users.get(session.userId, () => this.users.find(this.db, session.userId));
    if (!user?.isActive) throw new PenstockError('auth.session.invalid');

    const principal = sessionPrincipal(user, session, facts);
    const workspace = await this.#select(principal, user, facts.workspaceHeader, claims.activeWorkspaceId);
    if (!facts.standing) this.stamps.sessionSeen(session.id);
    return workspace ? { ...principal, workspace } : principal;
  }

  async #live(hash: Buffer): Promise<SessionRecord> {
    const key = hash.toString('hex');
    const load = () => this.sessions.findLive(this.db, hash);
    let session = await this.cache.sessions.get(key, load);
    if (session && this.#isIdle(session)) {
      // The cached row is up to one TTL behind the stamps that other instances wrote.
      this.cache.sessions.invalidate(key);
      session = await this.cache.sessions.get(key, load);
    }
    if (!session) throw new PenstockError('auth.session.invalid');
    const ended = Date.parse(session.expiresAt) <= this.clock.now().getTime();
    if (ended || this.#isIdle(session)) throw new PenstockError('auth.session.expired');
    return session;
  }

  #isIdle(session: SessionRecord): boolean {
    const { sessionIdleMinutes } = this.settings;
    const idleMs = this.clock.now().getTime() - Date.parse(session.lastSeenAt);
    return sessionIdleMinutes > 0 && idleMs > sessionIdleMinutes * MINUTE_MS;
  }

  async #select(principal: Principal, user: UserRecord, name?: string, rememberedId?: string) {
    try {
      return await this.directory.select(user, { name, rememberedId });
    } catch (error) {
      if (error instanceof PenstockError && name !== undefined) await this.trail.workspaceRejected(principal, name);
      throw error;
    }
  }
}

/** A person in a session, before a workspace is chosen. */
export function sessionPrincipal(
  user: UserRecord,
  session: Pick<SessionRecord, 'id' | 'amr'>,
  facts: RequestFacts,
): Principal {
  return {
    userId: user.id,
    email: user.email,
    displayName: user.displayName,
    method: 'session',
    amr: session.amr,
    sessionId: session.id,
    scopes: [],
    superAdmin: user.isAdmin,
    mustChangePassword: user.mustChangePassword,
    ...carried(facts),
  };
}
