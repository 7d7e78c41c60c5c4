import { keys } from '../keys.js';
import type { ClaimKey, IdempotencyClaim } from '../transient-store.js';
import type { ExpiringEntries } from './expiring-entries.js';

interface StoredClaim {
  executionId: string;
  requestHash: string;
  state: IdempotencyClaim['state'];
  claimedAtMs: number;
}

type NewClaim = Pick<IdempotencyClaim, 'executionId' | 'requestHash'>;

const CLAIM_BYTES = 300;

/** Synchronous throughout: nothing may come between the look and the write. */
export class MemoryClaims {
  constructor(private readonly entries: ExpiringEntries) {}

  claim(key: ClaimKey, claim: NewClaim, ttlSeconds: number): { won: true } | { won: false; held: IdempotencyClaim } {
    const held = this.#read(key);
    if (held && held.executionId !== claim.executionId) return { won: false, held };
    if (!held) this.#reserve(key, claim, ttlSeconds);
    return { won: true };
  }

  #read(key: ClaimKey): IdempotencyClaim | undefined {
    const stored = this.#stored(key);
    if (!stored) return undefined;
    const { claimedAtMs, ...claim } = stored;
    return { ...claim, ageMs: Math.max(0, this.entries.nowMs - claimedAtMs) };
  }

  markStarted(key: ClaimKey, executionId: string): boolean {
    const stored = this.#stored(key);
    if (stored?.executionId !== executionId) return false;
    stored.state = 'started';
    return true;
  }

  takeOver(key: ClaimKey, from: string, claim: NewClaim, ttlSeconds: number): boolean {
    if (this.#stored(key)?.executionId !== from) return false;
    this.#reserve(key, claim, ttlSeconds);
    return true;
  }

  release(key: ClaimKey, executionId: string): void {
    if (this.#stored(key)?.executionId === executionId) this.entries.delete(keys.claim(key));
  }

  #stored(key: ClaimKey): StoredClaim | undefined {
    return this.entries.get<StoredClaim>(keys.claim(key));
  }

  #reserve(key: ClaimKey, { executionId, requestHash }: NewClaim, ttlSeconds: number): void {
    const stored: StoredClaim = { executionId, requestHash, state: 'reserved', claimedAtMs: this.entries.nowMs };
    this.entries.set(keys.claim(key), stored, CLAIM_BYTES, this.entries.after(ttlSeconds));
  }
}
