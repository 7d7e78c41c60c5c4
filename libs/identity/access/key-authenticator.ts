import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, PenstockError, SCOPES, type Principal, type Scope } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { ApiKeyRepository, type ApiKeyCredential } from '../keys/api-key.repository.js';
import { digestOf, keyIdOf } from '../keys/key-format.js';
import { LivenessCache } from '../liveness/liveness-cache.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { UserRepository } from '../users/user.repository.js';
import { AccessTrail, type KeyRejection } from './access-trail.js';
import { carried, type RequestFacts } from './request-facts.js';
import { UseStamps } from './use-stamps.js';
import { WorkspaceDirectory } from './workspace-directory.js';
import { WrongKeyBudget } from './wrong-key-budget.js';

/** From a presented key to its principal, in the order of contract 04 §6.2. */
@Injectable()
export class KeyAuthenticator {
  constructor(
    private readonly db: Database,
    private readonly keys: ApiKeyRepository,
    private readonly users: UserRepository,
    private readonly directory: WorkspaceDirectory,
    private readonly hasher: SecretHasher,
    private readonly cache: LivenessCache,
    private readonly stamps: UseStamps,
    private readonly trail: AccessTrail,
    private readonly wrong: WrongKeyBudget,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws `auth.api_key.invalid` for a malformed, unknown, revoked or wrong key and for an inactive owner,
   *   `auth.api_key.expired`, `auth.key_workspace_inactive`
   */
  async authenticate(presented: string, facts: RequestFacts): Promise<Principal> {
    const id = keyIdOf(presented);
    if (id === undefined) {
      this.trail.keyMalformed();
      throw new PenstockError('auth.api_key.invalid');
    }
    const key = await this.cache.keys.get(id, () => this.keys.findLive(this.db, id));
    if (!key) return this.#refuse(facts, id, 'auth.api_key.invalid', 'unknown_or_revoked');
    if (!(await this.#proves(key, presented, facts.sourceIp)))
      return this.#refuse(facts, id, 'auth.api_key.invalid', 'wrong');
    if (key.expiresAt !== null && Date.parse(key.expiresAt) <= this.clock.now().getTime()) {
      return this.#refuse(facts, id, 'auth.api_key.expired', 'expired');
    }
    const owner = await this.cache.users.get(key.userId, () => this.users.find(this.db, key.userId));
    if (!owner?.isActive) return this.#refuse(facts, id, 'auth.api_key.invalid', 'owner_inactive');
    const { active, acting } = await this.directory.pinned(owner, key.workspaceId);
    if (!active) return this.#refuse(facts, id, 'auth.key_workspace_inactive', 'workspace_inactive');

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
    this.stamps.keyUsed(key.id, facts);
    await this.trail.keyUsed(principal, facts.path);
    return principal;
  }

  /**
   * Argon2 once per TTL and key; in between the digest of the proven key decides, in constant time. A
   * network that keeps guessing at a key is not verified any more for the rest of the minute. Through the map, so
   * that a success found while the key was being revoked is not remembered afterwards.
   */
  async #proves(key: ApiKeyCredential, presented: string, sourceIp: string | undefined): Promise<boolean> {
    const digest = digestOf(presented);
    const verify = async (): Promise<boolean> => {
      if (this.wrong.isSpent(key.id, sourceIp)) return false;
      const matches = await this.hasher.matches(key.keyHash, presented);
      if (!matches) this.wrong.spend(key.id, sourceIp);
      return matches;
    };
    let judged = false;
    const proven = await this.cache.provenKeys.get(key.id, async () => {
      judged = true;
      return (await verify()) ? digest : undefined;
    });
    if (proven) return timingSafeEqual(proven, digest);
    // What was judged may have been somebody else's wrong guess at the same id.
    return judged ? false : verify();
  }

  async #refuse(
    facts: RequestFacts,
    keyId: string,
    code: 'auth.api_key.invalid' | 'auth.api_key.expired' | 'auth.key_workspace_inactive',
    reason: KeyRejection,
  ): Promise<never> {
    await this.trail.keyRejected({ ...facts, keyId }, reason);
    throw new PenstockError(code);
  }
}

/** `admin` and anything a later version may have stored gives no reach here. */
function knownScopes(stored: readonly string[]): Scope[] {
  return SCOPES.filter((scope) => stored.includes(scope));
}
