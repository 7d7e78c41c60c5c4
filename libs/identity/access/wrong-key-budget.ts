import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '#libs/kernel';
import { addressBlock } from './address-block.js';

const WINDOW_MS = 60_000;
/** Verifications of wrong secrets a minute, for one key from one network. */
const VERIFICATIONS = 10;
const MAX_SUBJECTS = 10_000;

/**
 * How many wrong secrets for a known key are worth a verification. The id of a key is no secret, so without a bound
 * whoever has seen one could keep the hashing gate busy. It counts by network, so that nobody shuts out the owner.
 */
@Injectable()
export class WrongKeyBudget {
  readonly #windows = new LRUCache<string, { window: number; wrong: number }>({ max: MAX_SUBJECTS });

  constructor(private readonly clock: Clock) {}

  isSpent(keyId: string, sourceIp: string | undefined): boolean {
    const held = this.#windows.get(subject(keyId, sourceIp));
    return held !== undefined && held.window === this.#window() && held.wrong >= VERIFICATIONS;
  }

  spend(keyId: string, sourceIp: string | undefined): void {
    const key = subject(keyId, sourceIp);
    const window = this.#window();
    const held = this.#windows.get(key);
    this.#windows.set(key, { window, wrong: held?.window === window ? held.wrong + 1 : 1 });
  }

  #window(): number {
    return Math.floor(this.clock.now().getTime() / WINDOW_MS);
  }
}

function subject(keyId: string, sourceIp: string | undefined): string {
  return `${keyId} ${sourceIp === undefined ? '' : addressBlock(sourceIp)}`;
}
