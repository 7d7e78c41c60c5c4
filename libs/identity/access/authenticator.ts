import { Injectable } from '@nestjs/common';
import type { Principal } from '#libs/kernel';
import { KeyAuthenticator } from './key-authenticator.js';
import { PromotionAuthenticator } from './promotion-authenticator.js';
import type { RequestFacts } from './request-facts.js';
import { SessionAuthenticator, type SessionFacts } from './session-authenticator.js';

/** What the doors ask: who is this? A presented key decides alone, so they ask one question, never both. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly sessions: SessionAuthenticator,
    private readonly promotions: PromotionAuthenticator,
  ) {}

  authenticateKey(presented: string, facts: RequestFacts): Promise<Principal> {
    return this.keys.authenticate(presented, facts);
  }

  authenticatePromotion(presented: string | undefined, facts: RequestFacts): Promise<Principal> {
    return this.promotions.authenticate(presented, facts);
  }

  authenticateSession(token: string, facts: SessionFacts): Promise<Principal> {
    return this.sessions.authenticate(token, facts);
  }
}
