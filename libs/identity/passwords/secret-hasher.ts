import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { argon2id, hash, needsRehash, verify } from 'argon2';
import { FifoGate } from './fifo-gate.js';

/** Argon2id of contract 04 §4.1; memory in KiB. */
const PARAMETERS = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1, hashLength: 32 } as const;
const SALT_BYTES = 16;
const MAX_WAITING = 100;

/** The checks a task inside the gate may make. */
export interface SecretChecks {
  /** Constant-time comparison with an encoded hash. */
  matches(encoded: string, secret: string): Promise<boolean>;
  /** One verification that never succeeds, so that an absent account costs as much as a present one. */
  matchesNothing(secret: string): Promise<false>;
}

/** Argon2id for passwords and API keys, a bounded number at a time. */
@Injectable()
export class SecretHasher implements SecretChecks {
  readonly #gate = new FifoGate(Math.max(1, Math.min(availableParallelism(), 3)), MAX_WAITING);
  #dummy: Promise<string> | undefined;

  /** Encoded hash (`$argon2id$…`) of a secret. */
  hash(secret: string): Promise<string> {
    return this.#gate.run(() => encode(secret));
  }

  matches(encoded: string, secret: string): Promise<boolean> {
    return this.#gate.run(() => verify(encoded, secret));
  }

  matchesNothing(secret: string): Promise<false> {
    return this.#gate.run(() => this.#verifyDummy(secret));
  }

  /**
   * Runs a judgement that holds its place while it looks up and checks, so that what it read (a lockout) is at most one
   * verification old. It uses the checks it is given, never this object's: those would wait for the place it holds.
   */
  judged<T>(judge: (checks: SecretChecks) => Promise<T>): Promise<T> {
    const checks: SecretChecks = {
      matches: (encoded, secret) => verify(encoded, secret),
      matchesNothing: (secret) => this.#verifyDummy(secret),
    };
    return this.#gate.run(() => judge(checks));
  }

  /** Whether a hash was made with other parameters than today's. */
  isOutdated(encoded: string): boolean {
    return needsRehash(encoded, PARAMETERS);
  }

  async #verifyDummy(secret: string): Promise<false> {
    this.#dummy ??= encode(randomBytes(32).toString('base64'));
    await verify(await this.#dummy, secret);
    return false;
  }
}

function encode(secret: string): Promise<string> {
  return hash(secret, { ...PARAMETERS, salt: randomBytes(SALT_BYTES) });
}
