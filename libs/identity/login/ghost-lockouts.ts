import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Logger } from '#libs/kernel';
import { TransientStore, TransientUnavailable, type FailureLock } from '#libs/transient';
import { IdentitySettings } from '../identity-settings.js';

/** How long a count below the limit is kept. An account keeps its own for ever; nobody waits a week to tell them apart. */
const KEPT_SECONDS = 7 * 86_400;

/**
 * Lockouts of addresses that no account with a password has, so that `locked` does not tell which addresses exist
 * (contract 04 §4.2). The store sees a keyed hash, never the address. While it is away nobody is locked.
 */
@Injectable()
export class GhostLockouts {
  readonly #key: Buffer;

  constructor(
    private readonly store: TransientStore,
    private readonly settings: IdentitySettings,
    private readonly log: Logger,
  ) {
    this.#key = Buffer.from(hkdfSync('sha256', settings.jwtSecrets[0] as Uint8Array, '', 'penstock ghosts', 32));
  }

  /** When the lock of an address ends. */
  lockedUntil(email: string): Promise<string | undefined> {
    return this.#quietly(() => this.store.ghostLock(this.#subject(email)));
  }

  /** Counts a wrong password; undefined when the address was locked meanwhile or nobody counts. */
  count(email: string): Promise<FailureLock | undefined> {
    const { lockoutFailures: limit, lockoutMinutes } = this.settings;
    const rules = { limit, lockSeconds: lockoutMinutes * 60, keepSeconds: KEPT_SECONDS };
    return this.#quietly(() => this.store.countGhostFailure(this.#subject(email), rules));
  }

  #subject(email: string): string {
    return createHmac('sha256', this.#key).update(email).digest('base64url');
  }

  async #quietly<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TransientUnavailable)) throw error;
      this.log.warn('Failed sign-ins of unknown addresses are not counted: the store does not answer.', { error });
      return undefined;
    }
  }
}
