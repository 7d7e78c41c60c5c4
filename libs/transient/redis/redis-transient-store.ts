import type { Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { keys, SEALED_EVENTS_SECONDS } from '../keys.js';
import { readStoredClaim, readStoredMeta, writeStoredMeta } from '../stored-forms.js';
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
import { untilAborted } from '../until-aborted.js';
import { connectRedis } from './connection.js';
import { CorkedWrites } from './corked-writes.js';
import { EvictionWatch } from './eviction-watch.js';
import { replyCode, type Script } from './script.js';
import * as scripts from './scripts.js';
import { Subscriber } from './subscriber.js';

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with password and database where needed. */
  url: string;
  /** Told about what fails no caller: a broken connection (once per outage), a policy that evicts. */
  onProblem: (what: string, error: unknown) => void;
}

/** The store of production: every instance on the same Redis. One connection for commands, one that listens. */
export class RedisTransientStore extends TransientStore {
  readonly #writes: CorkedWrites;
  #server: { host: string; port: number } | undefined;

  private constructor(
    private readonly redis: Redis,
    private readonly listening: Redis,
    private readonly subscriber: Subscriber,
    private readonly eviction: EvictionWatch,
  ) {
    super();
    this.#writes = new CorkedWrites(redis);
  }

  /** Connects, and refuses a Redis that is too old or that evicts keys. */
  static async open({ url, onProblem }: RedisStoreOptions): Promise<RedisTransientStore> {
    const redis = await connectRedis(url, 'commands', onProblem);
    try {
      const eviction = await EvictionWatch.start(redis, onProblem);
      const listening = await connectRedis(url, 'subscriber', onProblem);
      return new RedisTransientStore(redis, listening, new Subscriber(listening, onProblem), eviction);
    } catch (error) {
      redis.disconnect();
      throw error;
    }
  }

  override get server(): { host: string; port: number } | undefined {
    const { remoteAddress: host, remotePort: port } = this.redis.stream as Socket;
    if (host !== undefined && port !== undefined) this.#server = { host, port };
    return this.#server;
  }

  /** False once Redis was seen with an evicting policy or evicting keys; for the gauge. */
  get keepsKeys(): boolean {
    return this.eviction.keepsKeys;
  }

  async claim(
    key: ClaimKey,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<{ won: true } | { won: false; held: IdempotencyClaim }> {
    const args = [claim.executionId, claim.requestHash, ttlSeconds];
    const held = await this.#run(scripts.claim, [keys.claim(key)], args, signal);
    return held === null ? { won: true } : { won: false, held: claimOf(held) };
  }

  async markStarted(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<boolean> {
    return (await this.#run(scripts.markStarted, [keys.claim(key)], [executionId], signal)) === 1;
  }

  async takeOver(
    key: ClaimKey,
    from: string,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const args = [from, claim.executionId, claim.requestHash, ttlSeconds];
    return (await this.#run(scripts.takeOver, [keys.claim(key)], args, signal)) === 1;
  }

  async release(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<void> {
    await this.#run(scripts.release, [keys.claim(key)], [executionId], signal);
  }

  async beginResult(
    executionId: string,
    drainTtlSeconds: number,
    first?: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    const args = first ? [drainTtlSeconds, first] : [drainTtlSeconds];
    await this.#run(scripts.beginResult, resultKeys(executionId), args, signal);
  }

  async putChunk(executionId: string, index: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const stored = await this.#run(scripts.putChunk, [keys.resultRows(executionId)], [index, bytes], signal);
    if (stored !== 1) throw new TransientUnavailable({ reason: 'lost' });
  }

  async publishResult(
    executionId: string,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<StoredAgain> {
    const args = [openEnded(meta), ttlSeconds, meta.chunkStarts.length];
    const stored = await this.#run(scripts.publishResult, resultKeys(executionId), args, signal);
    if (!Array.isArray(stored)) throw new TransientUnavailable({ reason: 'lost' });
    return storedAgain(stored);
  }

  async storeResult(
    executionId: string,
    chunk: Uint8Array | undefined,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<StoredAgain> {
    const args = [openEnded(meta), ttlSeconds, ...(chunk ? [chunk] : [])];
    return storedAgain((await this.#run(scripts.storeResult, resultKeys(executionId), args, signal)) as unknown[]);
  }

  async resultMeta(executionId: string, signal?: AbortSignal): Promise<PublishedResult | undefined> {
    const text = await this.#ask(() => this.redis.get(keys.resultMeta(executionId)), signal);
    return text === null ? undefined : readStoredMeta(text);
  }

  async countChunks(executionId: string, signal?: AbortSignal): Promise<number> {
    return (await this.#run(scripts.countChunks, [keys.resultRows(executionId)], [], signal)) as number;
  }

  async readChunks(
    executionId: string,
    indexes: readonly number[],
    signal?: AbortSignal,
  ): Promise<(Uint8Array | undefined)[]> {
    if (indexes.length === 0) return [];
    const fields = indexes.map(String);
    const found = await this.#ask(() => this.redis.hmgetBuffer(keys.resultRows(executionId), ...fields), signal);
    return found.map((bytes) => bytes ?? undefined);
  }

  async discardResult(executionId: string, signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.del(...resultKeys(executionId)), signal);
  }

  async appendEvents(logs: readonly EventAppend[], signal?: AbortSignal): Promise<void> {
    if (logs.length === 0) return;
    const args = logs.flatMap(({ executionId, events, ttlSeconds, sealed }) => [
      ...[executionId, ttlSeconds, sealed ? 1 : 0, events.length],
      ...events.flatMap(({ eventId, type, timestamp, payload }) => [eventId, type, timestamp, payload]),
    ]);
    const names = logs.map(({ executionId }) => keys.events(executionId));
    await this.#run(scripts.appendEvents, names, [CHANNELS.events, SEALED_EVENTS_SECONDS, ...args], signal);
  }

  async readEvents(executionId: string, after: number, limit: number, signal?: AbortSignal): Promise<LoggedEvent[]> {
    const key = keys.events(executionId);
    const entries = await this.#ask(() => this.redis.xrange(key, `(${after}-0`, '+', 'COUNT', limit), signal);
    return entries.map(([id, [, type = '', , timestamp = '', , payload = '']]) => ({
      eventId: Number.parseInt(id, 10),
      type,
      timestamp,
      payload,
    }));
  }

  async requestCancel(executionId: string, reason: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    const args = [reason, ttlSeconds, CHANNELS.cancel, executionId];
    await this.#run(scripts.requestCancel, [keys.cancel(executionId)], args, signal);
  }

  async readCancels(executionIds: readonly string[], signal?: AbortSignal): Promise<Map<string, string>> {
    if (executionIds.length === 0) return new Map();
    const reasons = await this.#ask(() => this.redis.mget(...executionIds.map(keys.cancel)), signal);
    return new Map(
      executionIds.flatMap((id, index) => {
        const reason = reasons[index];
        return typeof reason === 'string' ? [[id, reason]] : [];
      }),
    );
  }

  async clearCancel(executionId: string, signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.del(keys.cancel(executionId)), signal);
  }

  async acquire(
    kind: LeaseKind,
    userId: string,
    leaseId: string,
    limit: number,
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const args = [leaseId, limit, leaseSeconds];
    return (await this.#run(scripts.acquire, [keys.leases(kind, userId)], args, signal)) === 1;
  }

  async renew(
    kind: LeaseKind,
    userId: string,
    leaseIds: readonly string[],
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (leaseIds.length === 0) return;
    await this.#run(scripts.renew, [keys.leases(kind, userId)], [leaseSeconds, ...leaseIds], signal);
  }

  async releaseLease(kind: LeaseKind, userId: string, leaseId: string, signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.zrem(keys.leases(kind, userId), leaseId), signal);
  }

  async touchWatcher(executionId: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.set(keys.watcher(executionId), '', 'EX', ttlSeconds), signal);
  }

  async hasWatcher(executionId: string, signal?: AbortSignal): Promise<boolean> {
    return (await this.#ask(() => this.redis.exists(keys.watcher(executionId)), signal)) === 1;
  }

  async hit(subject: string, windows: readonly WindowLimit[], signal?: AbortSignal): Promise<WindowCount[]> {
    const args = windows.flatMap(({ seconds }) => [keys.rateWindow(subject, seconds), seconds]);
    const [now = 0, ...counts] = (await this.#run(scripts.hit, [], args, signal)) as number[];
    return windows.map(({ seconds }, index) => ({
      count: counts[index] ?? 0,
      resetAtSeconds: (Math.floor(now / seconds) + 1) * seconds,
      nowSeconds: now,
    }));
  }

  async ghostLock(subject: string, signal?: AbortSignal): Promise<string | undefined> {
    const held = await this.#ask(() => this.redis.get(keys.ghost(subject)), signal);
    return held?.startsWith('L') ? stampOf(held.slice(1)) : undefined;
  }

  async countGhostFailure(
    subject: string,
    { limit, lockSeconds, keepSeconds }: { limit: number; lockSeconds: number; keepSeconds: number },
    signal?: AbortSignal,
  ): Promise<FailureLock | undefined> {
    const args = [limit, lockSeconds, keepSeconds];
    const answer = await this.#run(scripts.countGhostFailure, [keys.ghost(subject)], args, signal);
    if (!Array.isArray(answer)) return undefined;
    const [failures, ends] = answer as [number, string];
    return ends === '' ? { failures } : { failures, lockedUntil: stampOf(ends) };
  }

  async useOnce(subject: string, ttlSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const set = () => this.redis.set(keys.usedOnce(subject), '1', 'EX', ttlSeconds, 'NX');
    return (await this.#ask(set, signal)) === 'OK';
  }

  async rememberWorkspace(
    userId: string,
    workspaceId: string,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#ask(() => this.redis.set(keys.lastWorkspace(userId), workspaceId, 'EX', ttlSeconds), signal);
  }

  async lastWorkspace(userId: string, signal?: AbortSignal): Promise<string | undefined> {
    return (await this.#ask(() => this.redis.get(keys.lastWorkspace(userId)), signal)) ?? undefined;
  }

  async keepDocument(sha256: string, document: string, ttlSeconds: number, signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.set(keys.document(sha256), document, 'EX', ttlSeconds), signal);
  }

  async keptDocument(sha256: string, signal?: AbortSignal): Promise<string | undefined> {
    return (await this.#ask(() => this.redis.get(keys.document(sha256)), signal)) ?? undefined;
  }

  async beatInstance(instanceId: string, state: string, keepSeconds: number, signal?: AbortSignal): Promise<void> {
    const args = [instanceId, state, keepSeconds];
    await this.#run(scripts.beatInstance, [keys.instances], args, signal);
  }

  async instances(signal?: AbortSignal): Promise<InstanceBeat[]> {
    const told = (await this.#run(scripts.instances, [keys.instances], [], signal)) as string[][];
    return told.map(([instanceId = '', state = '', age]) => ({ instanceId, state, ageMs: Number(age) }));
  }

  async publish(channel: string, message: string, signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.publish(channel, message), signal);
  }

  async subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onReady: () => void = () => undefined,
  ): Promise<() => Promise<void>> {
    return this.#ask(() => this.subscriber.subscribe(channel, { onMessage, onReady }), undefined);
  }

  async health(signal?: AbortSignal): Promise<void> {
    await this.#ask(() => this.redis.ping(), signal);
  }

  async close(): Promise<void> {
    this.eviction.stop();
    this.listening.disconnect();
    this.redis.disconnect();
  }

  async #run(
    script: Script,
    names: readonly string[],
    args: readonly (string | number | Uint8Array)[],
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    return this.#ask(() => script.run(this.redis, names, args), signal);
  }

  async #ask<T>(command: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    this.#writes.gather();
    const answer = command().catch((error: unknown) => {
      throw new TransientUnavailable({ reason: replyCode(error) === 'OOM' ? 'full' : 'down', cause: error });
    });
    return untilAborted(answer, signal);
  }
}

/** Microseconds of the epoch as a stamp; as text, because they are more than a millisecond clock can hold. */
function stampOf(microseconds: string): string {
  const second = new Date(Number(microseconds.slice(0, -6)) * 1000).toISOString().slice(0, 19);
  return `${second}.${microseconds.slice(-6)}Z`;
}

function claimOf(answer: unknown): IdempotencyClaim {
  const [text, now] = answer as [string, number];
  return readStoredClaim(text, now);
}

/** To be closed by the store, which knows when it expires. */
function openEnded(meta: ResultMeta): string {
  return writeStoredMeta(meta).slice(0, -1);
}

function storedAgain(answer: readonly unknown[]): StoredAgain {
  const [expires, chunks, meta] = answer as [number, number, string];
  return { expiresAt: new Date(expires).toISOString(), chunks, totalRows: readStoredMeta(meta).totalRows };
}

function resultKeys(executionId: string): [rows: string, meta: string] {
  return [keys.resultRows(executionId), keys.resultMeta(executionId)];
}
