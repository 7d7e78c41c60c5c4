import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Logger, PenstockError, type Principal } from '#libs/kernel';
import { IdentitySettings } from '../identity-settings.js';
import { SystemActor } from '../users/system-actor.js';
import { AccessTrail, type PromotionRejection } from './access-trail.js';
import { KeyJudge } from './key-judge.js';
import { carried, type RequestFacts } from './request-facts.js';
import { UseStamps } from './use-stamps.js';

/**
 * From `DP-Promotion-Key` to the deployment that promotes to this one. Every refusal is one and the same 401: whoever
 * holds no server key learns not even whether there is one (contract 04 §6.4).
 */
@Injectable()
export class PromotionAuthenticator {
  constructor(
    private readonly judge: KeyJudge,
    private readonly system: SystemActor,
    private readonly settings: IdentitySettings,
    private readonly stamps: UseStamps,
    private readonly trail: AccessTrail,
    private readonly logger: Logger,
  ) {}

  /**
   * What is promoted is stamped with the system actor; the key stands in the audit row. The principal acts in the pin of
   * the key, with none of its flags; the shared value of `deployment.promotion.server-key` has no pin.
   *
   * @throws `auth.promotion.key_invalid`, whatever was wrong
   */
  async authenticate(presented: string | undefined, facts: RequestFacts): Promise<Principal> {
    if (presented === undefined || presented === '') return this.#refuse(facts, 'missing');
    if (this.#isShared(presented)) {
      this.logger.warn('A promotion came with the shared server key. Mint a key of kind “server” for its sender.', {
        event: 'auth.promotion.shared_key_used',
        correlation_id: facts.correlationId,
      });
      return this.#principal(facts, {});
    }
    const judged = await this.judge.judge(presented, facts.sourceIp);
    if ('refused' in judged) return this.#refuse(facts, judged.refused, judged.keyId);
    const { key, pin } = judged;
    if (key.kind !== 'server') return this.#refuse(facts, 'other_kind', key.id);
    this.stamps.keyUsed(key.id, facts);
    const flags = { author: false, promoter: false, admin: false };
    const workspace = { id: pin.id, name: pin.name, flags, superAdmin: false, implicit: false };
    return this.#principal(facts, { keyId: key.id, workspace });
  }

  async #principal(facts: RequestFacts, held: Pick<Principal, 'keyId' | 'workspace'>): Promise<Principal> {
    const system = await this.system.principal(facts.correlationId);
    return { ...system, method: 'promotion', keyKind: 'server', superAdmin: false, ...held, ...carried(facts) };
  }

  /** Digests have one length, so nothing about the shared value shows in the time this takes. */
  #isShared(presented: string): boolean {
    const shared = this.settings.promotionServerKey;
    return shared !== undefined && timingSafeEqual(digest(shared), digest(presented));
  }

  async #refuse(facts: RequestFacts, reason: PromotionRejection, keyId?: string): Promise<never> {
    await this.trail.promotionRejected({ ...facts, keyId }, { path: facts.path, reason });
    throw new PenstockError('auth.promotion.key_invalid');
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
