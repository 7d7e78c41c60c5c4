import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import type { Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import type { RequestFacts } from '../access/request-facts.js';
import { sessionPrincipal } from '../access/session-authenticator.js';
import { WorkspaceDirectory } from '../access/workspace-directory.js';
import { Invalidations } from '../liveness/invalidations.js';
import { CsrfTokens } from '../sessions/csrf-tokens.js';
import { SessionIssuer } from '../sessions/session-issuer.js';
import type { AuthenticationMethod } from '../sessions/session-jwt.js';
import type { UserRecord } from '../users/user.repository.js';
import { LastWorkspace } from './last-workspace.js';
import { WorkspaceEntry } from './workspace-entry.js';

export interface LoginFacts extends RequestFacts {
  /** The session cookie that came with the login; that session ends. */
  presentedSession?: string;
}

export interface LoginOutcome {
  /** Value of the session cookie. */
  token: string;
  /** Value of the CSRF cookie, bound to the new session. */
  csrf: string;
  /** End of the session, wire form. */
  expiresAt: string;
  principal: Principal;
}

/** What follows once somebody has proved who they are: session, workspace and audit row, all or nothing. */
@Injectable()
export class SignIn {
  constructor(
    private readonly db: Database,
    private readonly issuer: SessionIssuer,
    private readonly entry: WorkspaceEntry,
    private readonly directory: WorkspaceDirectory,
    private readonly csrf: CsrfTokens,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly last: LastWorkspace,
  ) {}

  /**
   * @param enter the write that guards the login; its row lock makes logins of one person follow each other
   * @returns undefined when `enter` found that the proof no longer holds
   */
  async complete(
    amr: AuthenticationMethod,
    facts: LoginFacts,
    enter: (tx: Transaction) => Promise<{ user: UserRecord; firstLogin: boolean } | undefined>,
  ): Promise<LoginOutcome | undefined> {
    const opened = await this.db.transaction(async (tx) => {
      const login = await enter(tx);
      if (!login) return undefined;
      const { user } = login;
      const session = await this.issuer.open(tx, user, amr, facts);
      const principal = sessionPrincipal(user, session, facts);
      const workspaceId = await this.entry.enter(tx, principal, login.firstLogin, await this.last.of(user.id));
      const { email, provider } = user;
      await this.audit.append(tx, principal, 'auth.login.success', { email, provider, amr, session_id: session.id });
      this.invalidations.announce(tx, 'user', user.id);
      return { user, session, principal, workspaceId };
    });
    if (!opened) return undefined;
    const { user, session, principal, workspaceId } = opened;
    const workspace = await this.directory.select(user, { rememberedId: workspaceId });
    return {
      token: await this.issuer.token(user, session, workspaceId),
      csrf: this.csrf.issue(session.id),
      expiresAt: session.expiresAt.toISOString(),
      principal: workspace ? { ...principal, workspace } : principal,
    };
  }
}
