import { keys } from '../keys.js';
import type { LeaseKind } from '../transient-store.js';
import type { ExpiringEntries } from './expiring-entries.js';

const LEASE_BYTES = 100;

export class MemoryLeases {
  constructor(private readonly entries: ExpiringEntries) {}

  acquire(kind: LeaseKind, userId: string, leaseId: string, limit: number, leaseSeconds: number): boolean {
    const leases = this.#live(kind, userId);
    if (!leases.has(leaseId) && leases.size >= limit) return false;
    this.#extend(kind, userId, leases, [leaseId], leaseSeconds);
    return true;
  }

  renew(kind: LeaseKind, userId: string, leaseIds: readonly string[], leaseSeconds: number): void {
    if (leaseIds.length > 0) this.#extend(kind, userId, this.#live(kind, userId), leaseIds, leaseSeconds);
  }

  release(kind: LeaseKind, userId: string, leaseId: string): void {
    const leases = this.#live(kind, userId);
    leases.delete(leaseId);
    if (leases.size === 0) this.entries.delete(keys.leases(kind, userId));
  }

  /** The leases that have not lapsed: id to end. */
  #live(kind: LeaseKind, userId: string): Map<string, number> {
    const leases = this.entries.get<Map<string, number>>(keys.leases(kind, userId)) ?? new Map<string, number>();
    const now = this.entries.nowMs;
    for (const [id, end] of leases) if (end <= now) leases.delete(id);
    return leases;
  }

  #extend(kind: LeaseKind, userId: string, leases: Map<string, number>, ids: readonly string[], seconds: number): void {
    const end = this.entries.after(seconds);
    const extended = new Map([...leases, ...ids.map((id) => [id, end] as const)]);
    this.entries.set(keys.leases(kind, userId), extended, extended.size * LEASE_BYTES, this.entries.after(2 * seconds));
  }
}
