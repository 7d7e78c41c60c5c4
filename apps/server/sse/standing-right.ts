import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Authenticator, authoriseRequest, type OperationId } from '#libs/identity';
import { isPenstockError, type PenstockError, type Principal } from '#libs/kernel';
import { Cookies } from '../http/cookies.js';
import { presentedKey } from '../http/presented-key.js';
import { factsOf } from '../http/request-context.js';

/**
 * Judges again, while a stream is open, whether its credential still opens it (03 §5.3). Nobody asked for that: a tab
 * that is left open keeps no session from idling out (04 §4.4).
 */
@Injectable()
export class StandingRight {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly cookies: Cookies,
  ) {}

  /** Why the right is gone; undefined while it stands. A database that is away takes no right. */
  async lost(request: Request, principal: Principal, operation: OperationId): Promise<PenstockError | undefined> {
    try {
      authoriseRequest(await this.#again(request, principal), operation);
      return undefined;
    } catch (error) {
      return isPenstockError(error) && error.status < 500 ? error : undefined;
    }
  }

  #again(request: Request, principal: Principal): Promise<Principal> {
    const { surface, workspace } = principal;
    const facts = { ...factsOf(request, surface), standing: true };
    const key = presentedKey(request);
    if (key !== undefined) return this.authenticator.authenticateKey(key, facts);
    const session = this.cookies.session(request) ?? '';
    return this.authenticator.authenticateSession(session, { ...facts, workspaceHeader: workspace?.name });
  }
}
