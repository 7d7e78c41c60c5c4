import { SystemClock, type Clock } from '#libs/kernel';
import { keys } from '../keys.js';
import {
  CHANNELS,
  TransientStore,
  type ClaimKey,
  type EventAppend,
  type FailureLock,
  type IdempotencyClaim,
  type InstanceBeat,
  type LeaseKind,
  type LoggedEvent,
  type PublishedResult,
  type ResultMeta,
  type StoredAgain,
  type WindowCount,
  type WindowLimit,
} from '../transient-store.js';
import { TransientUnavailable } from '../transient-unavailable.js';
import { ExpiringEntries } from './expiring-entries.js';
import { LocalBus } from './local-bus.js';
import { MemoryClaims } from './memory-claims.js';
import { MemoryEventLogs } from './memory-event-logs.js';
import { MemoryLeases } from './memory-leases.js';
import { MemoryResults } from './memory-results.js';

export interface MemoryStoreOptions {
  /** Beyond it writes are refused; `datapipelines.transient.memory.max-bytes`. */
  maxBytes: number;
  clock?: Clock;
}

const SWEEP_MS = 30_000;
const FLAG_BYTES = 100;

/** The store of embedded mode: one process, nothing survives it, and it holds no more than it was allowed to. */
export class MemoryTransientStore extends TransientStore {
  readonly #entries: ExpiringEntries;
  readonly #claims: MemoryClaims;
  readonly #results: MemoryResults;
  readonly #logs: MemoryEventLogs;
  readonly #leases: MemoryLeases;
  readonly #bus = new LocalBus();
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor({ maxBytes, clock = new SystemClock() }: MemoryStoreOptions) {
    super();
    this.#entries = new ExpiringEntries(maxBytes, clock);
    this.#claims = new MemoryClaims(this.#entries);
    this.#results = new MemoryResults(this.#entries);
    this.#logs = new MemoryEventLogs(this.#entries);
    this.#leases = new MemoryLeases(this.#entries);
    this.#sweeper = setInterval(() => this.#entries.sweep(), SWEEP_MS).unref();
  }

  /** Bytes accounted for, for the gauge. */
  get bytes(): number {
    return this.#entries.bytes;
  }

  async claim(
    key: ClaimKey,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<{ won: true } | { won: false; held: IdempotencyClaim }> {
    this.#enter(signal);
    return this.#claims.claim(key, claim, ttlSeconds);
  }

  async markStarted(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<boolean> {
    this.#enter(signal);
    return this.#claims.markStarted(key, executionId);
  }

  async takeOver(
    key: ClaimKey,
    from: string,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    this.#enter(signal);
    return this.#claims.takeOver(key, from, claim, ttlSeconds);
  }

  async release(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
    this.#claims.release(key, executionId);
  }

  async beginResult(
    executionId: string,
    drainTtlSeconds: number,
    first?: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    this.#enter(signal);
    this.#results.begin(executionId, drainTtlSeconds);
    if (first) this.#results.putChunk(executionId, 0, first);
  }

  async putChunk(executionId: string, index: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
    this.#results.putChunk(executionId, index, bytes);
  }

  async publishResult(
    executionId: string,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<StoredAgain> {
    this.#enter(signal);
    return this.#results.publish(executionId, meta, ttlSeconds);
  }

  async storeResult(
    executionId: string,
    chunk: Uint8Array | undefined,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<StoredAgain> {
    this.#enter(signal);
    this.#results.begin(executionId, ttlSeconds);
    if (chunk) this.#results.putChunk(executionId, 0, chunk);
    return this.#results.publish(executionId, meta, ttlSeconds);
  }

  async resultMeta(executionId: string, signal?: AbortSignal): Promise<PublishedResult | undefined> {
    this.#enter(signal);
    return this.#results.meta(executionId);
  }

  async countChunks(executionId: string, signal?: AbortSignal): Promise<number> {
    this.#enter(signal);
    return this.#results.countChunks(executionId);
  }

  async readChunks(
    executionId: string,
    indexes: readonly number[],
    signal?: AbortSignal,
  ): Promise<(Uint8Array | undefined)[]> {
    this.#enter(signal);
    return this.#results.readChunks(executionId, indexes);
  }

  async discardResult(executionId: string, signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
    this.#results.discard(executionId);
  }

  async appendEvents(logs: readonly EventAppend[], signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
    for (const { executionId, events, ttlSeconds, sealed } of logs) {
      this.#logs.append(executionId, events, ttlSeconds);
      if (sealed) this.#logs.seal(executionId);
      if (events.length > 0) this.#bus.publish(CHANNELS.events, executionId);
    }
  }

  async readEvents(executionId: string, after: number, limit: number, signal?: AbortSignal): Promise<LoggedEvent[]> {
    this.#enter(signal);
    return this.#logs.read(executionId, after, limit);
  }

  async requestCancel(executionId: string, reason: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    const key = keys.cancel(executionId);
    if (entries.get(key) === undefined) entries.set(key, reason, FLAG_BYTES, entries.after(ttlSeconds));
    this.#bus.publish(CHANNELS.cancel, executionId);
  }

  async readCancels(executionIds: readonly string[], signal?: AbortSignal): Promise<Map<string, string>> {
    const entries = this.#enter(signal);
    const found = new Map<string, string>();
    for (const id of executionIds) {
      const reason = entries.get<string>(keys.cancel(id));
      if (reason !== undefined) found.set(id, reason);
    }
    return found;
  }

  async clearCancel(executionId: string, signal?: AbortSignal): Promise<void> {
    this.#enter(signal).delete(keys.cancel(executionId));
  }

  async acquire(
    kind: LeaseKind,
    userId: string,
    leaseId: string,
    limit: number,
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    this.#enter(signal);
    return this.#leases.acquire(kind, userId, leaseId, limit, leaseSeconds);
  }

  async renew(
    kind: LeaseKind,
    userId: string,
    leaseIds: readonly string[],
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    this.#enter(signal);
    this.#leases.renew(kind, userId, leaseIds, leaseSeconds);
  }

  async releaseLease(kind: LeaseKind, userId: string, leaseId: string, signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
    this.#leases.release(kind, userId, leaseId);
  }

  async touchWatcher(executionId: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    entries.set(keys.watcher(executionId), true, FLAG_BYTES, entries.after(ttlSeconds));
  }

  async hasWatcher(executionId: string, signal?: AbortSignal): Promise<boolean> {
    return this.#enter(signal).get(keys.watcher(executionId)) !== undefined;
  }

  async hit(subject: string, windows: readonly WindowLimit[], signal?: AbortSignal): Promise<WindowCount[]> {
    const entries = this.#enter(signal);
    const nowSeconds = Math.floor(entries.nowMs / 1000);
    return windows.map(({ seconds }) => {
      const window = Math.floor(nowSeconds / seconds);
      const key = `${keys.rateWindow(subject, seconds)}${window}`;
      const count = (entries.get<number>(key) ?? 0) + 1;
      entries.set(key, count, FLAG_BYTES, entries.expiresAtMs(key) ?? entries.after(2 * seconds));
      return { count, resetAtSeconds: (window + 1) * seconds, nowSeconds };
    });
  }

  async ghostLock(subject: string, signal?: AbortSignal): Promise<string | undefined> {
    const held = this.#enter(signal).get<number | string>(keys.ghost(subject));
    return typeof held === 'string' ? held : undefined;
  }

  async countGhostFailure(
    subject: string,
    { limit, lockSeconds, keepSeconds }: { limit: number; lockSeconds: number; keepSeconds: number },
    signal?: AbortSignal,
  ): Promise<FailureLock | undefined> {
    const entries = this.#enter(signal);
    const key = keys.ghost(subject);
    const held = entries.get<number | string>(key) ?? 0;
    if (typeof held === 'string') return undefined;
    const failures = held + 1;
    if (failures < limit) {
      entries.set(key, failures, FLAG_BYTES, entries.after(keepSeconds));
      return { failures };
    }
    const endsAt = entries.after(lockSeconds);
    const lockedUntil = new Date(endsAt).toISOString();
    entries.set(key, lockedUntil, FLAG_BYTES, endsAt);
    return { failures, lockedUntil };
  }

  async useOnce(subject: string, ttlSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const entries = this.#enter(signal);
    const key = keys.usedOnce(subject);
    if (entries.get(key) !== undefined) return false;
    entries.set(key, true, FLAG_BYTES, entries.after(ttlSeconds));
    return true;
  }

  async rememberWorkspace(
    userId: string,
    workspaceId: string,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const entries = this.#enter(signal);
    entries.set(keys.lastWorkspace(userId), workspaceId, workspaceId.length, entries.after(ttlSeconds));
  }

  async lastWorkspace(userId: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#enter(signal).get<string>(keys.lastWorkspace(userId));
  }

  async keepDocument(sha256: string, document: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    entries.set(keys.document(sha256), document, document.length, entries.after(ttlSeconds));
  }

  async keptDocument(sha256: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#enter(signal).get<string>(keys.document(sha256));
  }

  async beatInstance(instanceId: string, state: string, keepSeconds: number, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    // One process: whoever beats is the only one.
    const beat = { instanceId, state, atMs: entries.nowMs };
    entries.set(keys.instances, beat, state.length, entries.after(keepSeconds));
  }

  async instances(signal?: AbortSignal): Promise<InstanceBeat[]> {
    const entries = this.#enter(signal);
    const beat = entries.get<{ instanceId: string; state: string; atMs: number }>(keys.instances);
    return beat ? [{ instanceId: beat.instanceId, state: beat.state, ageMs: entries.nowMs - beat.atMs }] : [];
  }

  async publish(channel: string, message: string, signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
    this.#bus.publish(channel, message);
  }

  async subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onReady: () => void = () => undefined,
  ): Promise<() => Promise<void>> {
    this.#enter(undefined);
    const unsubscribe = this.#bus.subscribe(channel, onMessage);
    onReady();
    return async () => unsubscribe();
  }

  async health(signal?: AbortSignal): Promise<void> {
    this.#enter(signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    this.#bus.clear();
  }

  /** Every call passes here first. What follows is synchronous, so no two calls mix. */
  #enter(signal: AbortSignal | undefined): ExpiringEntries {
    signal?.throwIfAborted();
    if (this.#closed) throw new TransientUnavailable();
    return this.#entries;
  }
}
