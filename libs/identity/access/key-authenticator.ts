import { Injectable } from '@nestjs/common';
import { PenstockError, SCOPES, type Principal, type Scope } from '#libs/kernel';
import { AccessTrail, type KeyRejection } from './access-trail.js';
import { KeyJudge } from './key-judge.js';
import { carried, type RequestFacts } from './request-facts.js';
import { UseStamps } from './use-stamps.js';

/** What a rejection tells whoever presented the key; the trail knows more (contract 04 §6.2). */
const ANSWERS = {
  unknown_or_revoked: 'auth.api_key.invalid',
  wrong: 'auth.api_key.invalid',
  expired: 'auth.api_key.expired',
  owner_inactive: 'auth.api_key.invalid',
  workspace_inactive: 'auth.key_workspace_inactive',
} as const satisfies Record<KeyRejection, string>;

/** From a presented key to its principal, in the order of contract 04 §6.2. */
@Injectable()
export class KeyAuthenticator {
  constructor(
    private readonly judge: KeyJudge,
    private readonly stamps: UseStamps,
    private readonly trail: AccessTrail,
  ) {}

  /**
   * @throws `auth.api_key.invalid` for a malformed, unknown, revoked or wrong key and for an inactive owner,
   *   `auth.api_key.expired`, `auth.key_workspace_inactive`
   */
  async authenticate(presented: string, facts: RequestFacts): Promise<Principal> {
    const judged = await this.judge.judge(presented, facts.sourceIp);
    if ('refused' in judged) {
      if (judged.refused === 'malformed' || judged.keyId === undefined) {
        this.trail.keyMalformed();
        throw new PenstockError('auth.api_key.invalid');
      }
      await this.trail.keyRejected({ ...facts, keyId: judged.keyId }, judged.refused);
      throw new PenstockError(ANSWERS[judged.refused]);
    }
    const { key, owner, acting } = judged;
    const principal: Principal = {
      userId: owner.id,
      email: owner.email,
      displayName: owner.displayName,
      method: 'api_key',
      keyId: key.id,
      keyKind: key.kind,
      scopes: key.kind === 'user' ? knownScopes(key.scopes) : [],
      superAdmin: false,
      mustChangePassword: false,
      ...(acting ? { workspace: acting } : {}),
      ...carried(facts),
    };
    if (facts.standing) return principal;
    this.stamps.keyUsed(key.id, facts);
    await this.trail.keyUsed(principal, facts.path);
    return principal;
  }
}

/** `admin` and anything a later version may have stored gives no reach here. */
function knownScopes(stored: readonly string[]): Scope[] {
  return SCOPES.filter((scope) => stored.includes(scope));
}
