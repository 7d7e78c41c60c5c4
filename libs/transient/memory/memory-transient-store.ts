import { SystemClock, type Clock } from '#libs/kernel';
import { keys, SEALED_EVENTS_SECONDS } from '../keys.js';
import {
  CHANNELS,
  TransientStore,
  type ClaimKey,
  type IdempotencyClaim,
  type LeaseKind,
  type LoggedEvent,
  type PublishedResult,
  type ResultMeta,
  type WindowCount,
  type WindowLimit,
} from '../transient-store.js';
import { TransientUnavailable } from '../transient-unavailable.js';
import { ExpiringEntries } from './expiring-entries.js';
import { LocalBus } from './local-bus.js';

export interface MemoryStoreOptions {
  /** Beyond it writes are refused; `datapipelines.transient.memory.max-bytes`. */
  maxBytes: number;
  clock?: Clock;
}

interface StoredClaim {
  executionId: string;
  requestHash: string;
  state: IdempotencyClaim['state'];
  claimedAtMs: number;
}

interface Rows {
  chunks: Map<number, Uint8Array>;
  bytes: number;
  published: boolean;
}

interface EventLog {
  events: LoggedEvent[];
  bytes: number;
}

const SWEEP_MS = 30_000;
const SMALL = 200;

/** The store of embedded mode: one process, nothing survives it, and it holds no more than it was allowed to. */
export class MemoryTransientStore extends TransientStore {
  readonly #entries: ExpiringEntries;
  readonly #bus = new LocalBus();
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor({ maxBytes, clock = new SystemClock() }: MemoryStoreOptions) {
    super();
    this.#entries = new ExpiringEntries(maxBytes, clock);
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
    const held = await this.readClaim(key, signal);
    if (held && held.executionId !== claim.executionId) return { won: false, held };
    if (!held) this.#reserve(key, claim, ttlSeconds);
    return { won: true };
  }

  async markStarted(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<boolean> {
    const stored = this.#enter(signal).get<StoredClaim>(keys.claim(key));
    if (stored?.executionId !== executionId) return false;
    stored.state = 'started';
    return true;
  }

  async takeOver(
    key: ClaimKey,
    from: string,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    if (this.#enter(signal).get<StoredClaim>(keys.claim(key))?.executionId !== from) return false;
    this.#reserve(key, claim, ttlSeconds);
    return true;
  }

  async release(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    if (entries.get<StoredClaim>(keys.claim(key))?.executionId === executionId) entries.delete(keys.claim(key));
  }

  async readClaim(key: ClaimKey, signal?: AbortSignal): Promise<IdempotencyClaim | undefined> {
    const entries = this.#enter(signal);
    const stored = entries.get<StoredClaim>(keys.claim(key));
    if (!stored) return undefined;
    const { claimedAtMs, ...claim } = stored;
    return { ...claim, ageMs: Math.max(0, entries.nowMs - claimedAtMs) };
  }

  async beginResult(executionId: string, drainTtlSeconds: number, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    const rows: Rows = { chunks: new Map(), bytes: 0, published: false };
    entries.delete(keys.resultMeta(executionId));
    entries.delete(keys.resultRows(executionId));
    entries.set(keys.resultRows(executionId), rows, 0, this.#in(drainTtlSeconds));
  }

  async putChunk(executionId: string, index: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    const key = keys.resultRows(executionId);
    const rows = entries.get<Rows>(key);
    if (!rows || rows.published) throw new TransientUnavailable({ reason: 'lost' });
    const more = bytes.byteLength - (rows.chunks.get(index)?.byteLength ?? 0);
    entries.set(key, rows, rows.bytes + more, entries.expiresAtMs(key) ?? 0);
    rows.bytes += more;
    // A copy: the caller may fill its buffer anew.
    rows.chunks.set(index, bytes.slice());
  }

  async publishResult(
    executionId: string,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<{ expiresAt: string }> {
    const entries = this.#enter(signal);
    const rows = entries.get<Rows>(keys.resultRows(executionId));
    if (!rows || rows.published || rows.chunks.size !== meta.chunkStarts.length) {
      throw new TransientUnavailable({ reason: 'lost' });
    }
    const expiresAtMs = this.#in(ttlSeconds);
    const published: PublishedResult = {
      ...meta,
      chunkStarts: [...meta.chunkStarts],
      expiresAt: new Date(expiresAtMs).toISOString(),
    };
    const bytes = meta.schemaJson.length + meta.warningsJson.length + 8 * meta.chunkStarts.length + SMALL;
    entries.set(keys.resultMeta(executionId), published, bytes, expiresAtMs);
    entries.expireAt(keys.resultRows(executionId), expiresAtMs);
    rows.published = true;
    return { expiresAt: published.expiresAt };
  }

  async resultMeta(executionId: string, signal?: AbortSignal): Promise<PublishedResult | undefined> {
    return this.#enter(signal).get<PublishedResult>(keys.resultMeta(executionId));
  }

  async countChunks(executionId: string, signal?: AbortSignal): Promise<number> {
    return this.#enter(signal).get<Rows>(keys.resultRows(executionId))?.chunks.size ?? 0;
  }

  async readChunks(
    executionId: string,
    indexes: readonly number[],
    signal?: AbortSignal,
  ): Promise<(Uint8Array | undefined)[]> {
    const rows = this.#enter(signal).get<Rows>(keys.resultRows(executionId));
    return indexes.map((index) => rows?.chunks.get(index));
  }

  async discardResult(executionId: string, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    entries.delete(keys.resultMeta(executionId));
    entries.delete(keys.resultRows(executionId));
  }

  async appendEvents(
    executionId: string,
    events: readonly LoggedEvent[],
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const entries = this.#enter(signal);
    const key = keys.events(executionId);
    const log = entries.get<EventLog>(key) ?? { events: [], bytes: 0 };
    const last = log.events.at(-1)?.eventId ?? 0;
    const fresh = events.filter(({ eventId }) => eventId > last);
    if (fresh.length === 0) return;
    const more = fresh.reduce((sum, { payload }) => sum + 2 * payload.length + SMALL, 0);
    entries.set(key, log, log.bytes + more, entries.expiresAtMs(key) ?? this.#in(ttlSeconds));
    log.bytes += more;
    log.events.push(...fresh);
  }

  async sealEvents(executionId: string, signal?: AbortSignal): Promise<void> {
    this.#enter(signal).expireAt(keys.events(executionId), this.#in(SEALED_EVENTS_SECONDS));
  }

  async readEvents(executionId: string, after: number, limit: number, signal?: AbortSignal): Promise<LoggedEvent[]> {
    const events = this.#enter(signal).get<EventLog>(keys.events(executionId))?.events ?? [];
    const first = firstAfter(events, after);
    return events.slice(first, first + limit);
  }

  async requestCancel(executionId: string, reason: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    const key = keys.cancel(executionId);
    if (entries.get(key) === undefined) entries.set(key, reason, SMALL, this.#in(ttlSeconds));
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
    const leases = this.#leases(kind, userId);
    if (!leases.has(leaseId) && leases.size >= limit) return false;
    this.#extend(kind, userId, leases, [leaseId], leaseSeconds);
    return true;
  }

  async renew(
    kind: LeaseKind,
    userId: string,
    leaseIds: readonly string[],
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    this.#enter(signal);
    if (leaseIds.length > 0) this.#extend(kind, userId, this.#leases(kind, userId), leaseIds, leaseSeconds);
  }

  async releaseLease(kind: LeaseKind, userId: string, leaseId: string, signal?: AbortSignal): Promise<void> {
    const entries = this.#enter(signal);
    const leases = this.#leases(kind, userId);
    leases.delete(leaseId);
    if (leases.size === 0) entries.delete(keys.leases(kind, userId));
  }

  async touchWatcher(executionId: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    this.#enter(signal).set(keys.watcher(executionId), true, 0, this.#in(ttlSeconds));
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
      entries.set(key, count, 0, entries.expiresAtMs(key) ?? this.#in(2 * seconds));
      return { count, resetAtSeconds: (window + 1) * seconds, nowSeconds };
    });
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

  /** Every call passes here first. */
  #enter(signal: AbortSignal | undefined): ExpiringEntries {
    signal?.throwIfAborted();
    if (this.#closed) throw new TransientUnavailable();
    return this.#entries;
  }

  #in(seconds: number): number {
    return this.#entries.nowMs + seconds * 1000;
  }

  #reserve(key: ClaimKey, claim: { executionId: string; requestHash: string }, ttlSeconds: number): void {
    const { executionId, requestHash } = claim;
    const stored: StoredClaim = { executionId, requestHash, state: 'reserved', claimedAtMs: this.#entries.nowMs };
    this.#entries.set(keys.claim(key), stored, SMALL, this.#in(ttlSeconds));
  }

  /** The leases that have not lapsed: id to end. */
  #leases(kind: LeaseKind, userId: string): Map<string, number> {
    const leases = this.#entries.get<Map<string, number>>(keys.leases(kind, userId)) ?? new Map<string, number>();
    const now = this.#entries.nowMs;
    for (const [id, end] of leases) if (end <= now) leases.delete(id);
    return leases;
  }

  #extend(
    kind: LeaseKind,
    userId: string,
    leases: Map<string, number>,
    ids: readonly string[],
    leaseSeconds: number,
  ): void {
    for (const id of ids) leases.set(id, this.#in(leaseSeconds));
    this.#entries.set(keys.leases(kind, userId), leases, leases.size * SMALL, this.#in(2 * leaseSeconds));
  }
}

/** Position of the first event with a higher id; ids ascend. */
function firstAfter(events: readonly LoggedEvent[], after: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.eventId ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
