import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, type ActingWorkspace } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { ApiKeyRepository, type ApiKeyCredential } from '../keys/api-key.repository.js';
import { digestOf, keyIdOf } from '../keys/key-format.js';
import { LivenessCache } from '../liveness/liveness-cache.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { UserRepository, type UserRecord } from '../users/user.repository.js';
import type { KeyRejection } from './access-trail.js';
import type { WorkspaceRecord } from './membership.repository.js';
import { WorkspaceDirectory } from './workspace-directory.js';
import { WrongKeyBudget } from './wrong-key-budget.js';

/** A key that holds, with what it leads to. */
export interface ProvenKey {
  key: ApiKeyCredential;
  owner: UserRecord;
  pin: WorkspaceRecord;
  /** The pin with the owner's current flags; undefined when he is no member any more. */
  acting?: ActingWorkspace;
}

/** Why a presented key does not hold; `keyId` is what it calls itself, absent where it is no key at all. */
export interface RefusedKey {
  refused: KeyRejection | 'malformed';
  keyId?: string;
}

/** Whether a presented key holds: steps 1 to 6 of contract 04 §6.2, the same for every header a key comes in. */
@Injectable()
export class KeyJudge {
  constructor(
    private readonly db: Database,
    private readonly keys: ApiKeyRepository,
    private readonly users: UserRepository,
    private readonly directory: WorkspaceDirectory,
    private readonly hasher: SecretHasher,
    private readonly cache: LivenessCache,
    private readonly wrong: WrongKeyBudget,
    private readonly clock: Clock,
  ) {}

  async judge(presented: string, sourceIp: string | undefined): Promise<ProvenKey | RefusedKey> {
    const keyId = keyIdOf(presented);
    if (keyId === undefined) return { refused: 'malformed' };
    const key = await this.cache.keys.get(keyId, () => this.keys.findLive(this.db, keyId));
    if (!key) return { refused: 'unknown_or_revoked', keyId };
    if (!(await this.#proves(key, presented, sourceIp))) return { refused: 'wrong', keyId };
    // Only who knows the secret is told that it has expired.
    if (key.expiresAt !== null && Date.parse(key.expiresAt) <= this.clock.now().getTime()) {
      return { refused: 'expired', keyId };
    }
    const owner = await this.cache.users.get(key.userId, () => this.users.find(this.db, key.userId));
    if (!owner?.isActive) return { refused: 'owner_inactive', keyId };
    const { pin, acting } = await this.directory.pinned(owner, key.workspaceId);
    if (!pin) return { refused: 'workspace_inactive', keyId };
    return { key, owner, pin, ...(acting ? { acting } : {}) };
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
}
