import { Injectable } from '@nestjs/common';
import { canonicalJson, Configuration, PenstockError, type JsonObject } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { TransientStore, unavailableAs, type ClaimKey, type IdempotencyClaim } from '#libs/transient';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Until then a claim without a row belongs to a starter that is still at it (contract 02 §7). */
const STARTER_MS = 60_000;
const WAIT_MS = 5000;
const LOOK_EVERY_MS = 100;
const KEY = /^[\x21-\x7e]{1,255}$/;

/** The request's own claim, or the execution an earlier request started. */
export type Claimed = { kind: 'own'; claim: OwnClaim } | { kind: 'attach'; executionId: string };

export interface OwnClaim {
  /** After the row exists: false when the claim is another's by now, or the store cannot tell. */
  confirm(): Promise<boolean>;
  /** A refusal before the row gives the key back. */
  release(): Promise<void>;
}

/** What makes two requests the same: pipeline, version as requested, parameters with their numbers as written. */
export function requestHash(pipelineId: string, version: number | undefined, parameters: JsonObject): string {
  const text = canonicalJson({ pipeline_id: pipelineId.toLowerCase(), version: version ?? 'default', parameters });
  return createHash('sha256').update(text).digest('hex');
}

export function refuseBadKey(key: string): void {
  if (KEY.test(key)) return;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: 'An Idempotency-Key is 1 to 255 visible ASCII characters.',
    details: { field: 'Idempotency-Key', reason: 'field' },
  });
}

/** At most one run per key and person starts work. The truth is the row; the claim only decides who may make it. */
@Injectable()
export class Idempotency {
  readonly #ttlSeconds: number;

  constructor(
    private readonly store: TransientStore,
    private readonly database: Database,
    configuration: Configuration,
  ) {
    this.#ttlSeconds = configuration.get('datapipelines.idempotency.ttl-seconds');
  }

  /**
   * Claims the key for `executionId`. 409 `idempotency.key_reused_for_different_request` for another request's key, 409
   * `idempotency.in_progress` when its starter is not done within five seconds.
   */
  async claim(userId: string, key: string, hash: string, executionId: string): Promise<Claimed> {
    const claimKey = { userId, key };
    const value = { executionId, requestHash: hash };
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const answer = await counted(() => this.store.claim(claimKey, value, this.#ttlSeconds));
      if (answer.won) return { kind: 'own', claim: this.#own(claimKey, executionId) };
      const { held } = answer;
      if (held.requestHash !== hash) throw new PenstockError('idempotency.key_reused_for_different_request');
      if (await this.#hasRow(held.executionId, userId)) return { kind: 'attach', executionId: held.executionId };
      if (held.ageMs >= STARTER_MS && (await this.#takeOver(claimKey, held, value))) {
        return { kind: 'own', claim: this.#own(claimKey, executionId) };
      }
      if (performance.now() >= deadline) {
        throw new PenstockError('idempotency.in_progress', { details: { retry_after_seconds: 1 } });
      }
      await delay(LOOK_EVERY_MS);
    }
  }

  #takeOver(
    key: ClaimKey,
    held: IdempotencyClaim,
    value: { executionId: string; requestHash: string },
  ): Promise<boolean> {
    return counted(() => this.store.takeOver(key, held.executionId, value, this.#ttlSeconds));
  }

  #own(key: ClaimKey, executionId: string): OwnClaim {
    return {
      confirm: async () => {
        try {
          return await this.store.markStarted(key, executionId);
        } catch {
          // Without the store nobody can say whose key it is: the run must not begin.
          return false;
        }
      },
      release: () => this.store.release(key, executionId),
    };
  }

  async #hasRow(executionId: string, userId: string): Promise<boolean> {
    const rows = await this.database.query(
      'SELECT 1 FROM pipeline_executions WHERE execution_id = $1 AND triggered_by = $2',
      [executionId, userId],
    );
    return rows.length > 0;
  }
}

/** A key that cannot be claimed protects nothing, so the launch is refused (contract 02 §8). */
function counted<T>(call: () => Promise<T>): Promise<T> {
  return unavailableAs('rate_limit.unavailable', call, { details: { retry_after_seconds: 1 } });
}
