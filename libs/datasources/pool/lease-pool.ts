import { PenstockError } from '#libs/kernel';

import { cancelled, DriverFailure } from '../drivers/driver-failure.js';
import type { Access, DriverConnection } from '../drivers/driver.js';
import { within } from '../drivers/patience.js';
import type { ConnectionSource } from './connection-source.js';
import { Permits } from './permits.js';

/** Milliseconds and counts of a pool view (06 §5). */
export interface PoolLimits {
  maximumPoolSize: number;
  minimumIdle: number;
  connectionTimeout: number;
  idleTimeout: number;
  maxLifetime: number;
  keepaliveTime: number;
  validationTimeout: number;
  leakDetectionThreshold: number;
}

export interface PoolObserver {
  /** A lease is out longer than `leakDetectionThreshold`. */
  leaked(name: string): void;
  /** A retired pool reached its ceiling with `connections` still busy. */
  hardClosed(name: string, connections: number): void;
}

interface Member {
  connection: DriverConnection;
  bornAt: number;
  /** When it was given back; a question meanwhile does not make it younger. */
  idleSince: number;
  /** When it last answered. */
  provenAt: number;
}

/** A connection that rested less than this is handed out unasked. */
const TRUSTED_IDLE_MS = 500;
const HOUSEKEEPING_MS = 10_000;
/** Lifetimes end up to this part early, so that connections of one burst do not all end together. */
const LIFETIME_JITTER = 0.025;

type State = 'live' | 'retired' | 'closed';

/**
 * Raw connections of one datasource: at most `maximumPoolSize` leased and idle ones together, waiters in the order they
 * came. A retired pool serves nobody new; what is out is closed when it comes back, never in mid-statement.
 */
export class LeasePool {
  readonly name: string;
  readonly #source: ConnectionSource;
  readonly #limits: PoolLimits;
  readonly #observer: PoolObserver;
  readonly #permits: Permits;
  readonly #idle: Member[] = [];
  readonly #leased = new Map<DriverConnection, Member & { leak: NodeJS.Timeout | undefined }>();
  readonly #retired = new AbortController();
  readonly #closed: Promise<void>;
  #signalClosed!: () => void;
  /** Connections being opened, or put back to their first state: neither leased nor idle, and in the count. */
  #inTransit = 0;
  #state: State = 'live';
  #housekeeper: NodeJS.Timeout | undefined;
  #ceiling: NodeJS.Timeout | undefined;

  constructor(name: string, source: ConnectionSource, limits: PoolLimits, observer: PoolObserver) {
    this.name = name;
    this.#source = source;
    this.#limits = limits;
    this.#observer = observer;
    this.#permits = new Permits(limits.maximumPoolSize);
    this.#closed = new Promise((resolve) => (this.#signalClosed = resolve));
    this.#housekeeper = setInterval(() => void this.#keepHouse(), HOUSEKEEPING_MS);
    this.#housekeeper.unref();
  }

  get isRetired(): boolean {
    return this.#state !== 'live';
  }

  get leased(): number {
    return this.#leased.size;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** A connection is at work, or was within the time in which the next lease gets it unasked: a lease would prove no more. */
  get provenLately(): boolean {
    if (this.#leased.size > 0) return true;
    const now = Date.now();
    return this.#idle.some(({ connection, provenAt }) => connection.usable && now - provenAt < TRUSTED_IDLE_MS);
  }

  /**
   * A checked connection. Rejects with 502 `pipeline.node.datasource_connection_failed`, reason `pool_exhausted`, after
   * `connectionTimeout`; with DriverFailure when a connection cannot be made or the caller's signal aborts; and with
   * {@link PoolRetired} when the pool was retired while the caller waited.
   */
  async acquire(access: Access, signal: AbortSignal): Promise<DriverConnection> {
    if (this.#state !== 'live') throw new PoolRetired();
    if (signal.aborted) throw cancelled(signal);
    const member = this.#takeProven(access) ?? (await this.#waitFor(access, signal));
    this.#lend(member);
    void this.#fill(access);
    return member.connection;
  }

  /** What most leases find: a free place and a connection that answered a moment ago. Nothing is waited for then. */
  #takeProven(access: Access): Member | undefined {
    const resting = this.#idle[this.#lastIdle(access)];
    if (!resting?.connection.usable || this.#expired(resting) || !isTrusted(resting)) return undefined;
    return this.#permits.takeAtOnce() ? this.#takeIdle(access) : undefined;
  }

  async #waitFor(access: Access, signal: AbortSignal): Promise<Member> {
    const { connectionTimeout } = this.#limits;
    const patience = connectionTimeout === 0 ? undefined : AbortSignal.timeout(connectionTimeout);
    const waits = AbortSignal.any([signal, this.#retired.signal, ...(patience ? [patience] : [])]);
    try {
      await this.#permits.take(waits);
    } catch {
      if (signal.aborted) throw cancelled(signal);
      throw this.#retired.signal.aborted ? new PoolRetired() : this.#exhausted();
    }
    try {
      return await this.#member(access, AbortSignal.any([signal, ...(patience ? [patience] : [])]));
    } catch (error) {
      this.#permits.give();
      this.#closeIfDrained();
      if (signal.aborted) throw cancelled(signal);
      if (patience?.aborted)
        throw new DriverFailure('connection', 'The datasource did not answer in time.', {
          driverCode: 'ETIMEDOUT',
          cause: error,
        });
      throw error;
    }
  }

  /**
   * Takes a connection back. `destroy` cuts it; otherwise its session is put back to its first state before reuse, for
   * which it has `validationTimeout`: a server that went without a word would keep its place in the pool for ever.
   */
  async give(connection: DriverConnection, outcome: 'ok' | 'destroy'): Promise<void> {
    const member = this.#leased.get(connection);
    if (!member) return;
    this.#leased.delete(connection);
    clearTimeout(member.leak);
    this.#inTransit += 1;
    const { validationTimeout } = this.#limits;
    try {
      const fresh = outcome === 'ok' && connection.usable && !this.isRetired && !this.#expired(member);
      if (fresh && (await within(connection.reset(), validationTimeout)) && !this.isRetired) {
        const now = Date.now();
        this.#idle.push({ connection, bornAt: member.bornAt, idleSince: now, provenAt: now });
      } else if (outcome === 'ok' && connection.usable) await within(connection.close(), validationTimeout);
      else connection.destroy();
    } catch {
      connection.destroy();
    } finally {
      this.#inTransit -= 1;
      this.#permits.give();
      this.#closeIfDrained();
    }
  }

  /** Serves nobody new, closes what rests, and cuts what is still out after `ceilingMs`. */
  retire(ceilingMs: number): void {
    if (this.#state !== 'live') return;
    this.#state = 'retired';
    clearInterval(this.#housekeeper);
    this.#retired.abort();
    for (const { connection } of this.#idle.splice(0)) void connection.close();
    this.#ceiling = setTimeout(() => this.cut(), ceilingMs);
    this.#ceiling.unref();
    this.#closeIfDrained();
  }

  /** Resolves when the last connection is gone. */
  async drained(): Promise<void> {
    await this.#closed;
  }

  async #member(access: Access, signal: AbortSignal): Promise<Member> {
    for (let resting = this.#takeIdle(access); resting; resting = this.#takeIdle(access)) {
      if (await this.#answers(resting)) return resting;
    }
    this.#makeRoom();
    return await this.#open(access, signal);
  }

  async #open(access: Access, signal: AbortSignal): Promise<Member> {
    this.#inTransit += 1;
    try {
      const connection = await this.#source.connect(access, signal);
      const now = Date.now();
      const bornAt = now - Math.random() * LIFETIME_JITTER * this.#limits.maxLifetime;
      return { connection, bornAt, idleSince: now, provenAt: now };
    } finally {
      this.#inTransit -= 1;
    }
  }

  /** Opens connections ahead up to `minimumIdle`, one at a time, as long as the size allows. */
  async #fill(access: Access): Promise<void> {
    const { minimumIdle, maximumPoolSize } = this.#limits;
    const total = (): number => this.#idle.length + this.#inTransit + this.#leased.size;
    while (!this.isRetired && this.#inTransit === 0 && this.#idle.length < minimumIdle && total() < maximumPoolSize) {
      try {
        const member = await this.#open(access, this.#retired.signal);
        if (this.isRetired || total() >= maximumPoolSize) await this.#discard(member.connection);
        else this.#idle.push(member);
      } catch {
        return; // the next lease that needs a connection reports what is wrong
      } finally {
        this.#closeIfDrained();
      }
    }
  }

  /** The one that rested least: the others may then reach their idle timeout. */
  #lastIdle(access: Access): number {
    return this.#idle.findLastIndex(({ connection: { serves } }) => serves === 'both' || serves === access);
  }

  #takeIdle(access: Access): Member | undefined {
    const index = this.#lastIdle(access);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  async #answers(member: Member): Promise<boolean> {
    const { connection } = member;
    if (!connection.usable || this.#expired(member)) {
      await this.#discard(connection);
      return false;
    }
    if (isTrusted(member)) return true;
    try {
      await connection.ping(this.#limits.validationTimeout);
      return connection.usable;
    } catch {
      connection.destroy();
      return false;
    }
  }

  /** A connection of the other kind gives way when the pool is at its size. */
  #makeRoom(): void {
    if (this.#leased.size + this.#inTransit + this.#idle.length < this.#limits.maximumPoolSize) return;
    const oldest = this.#idle.shift();
    if (oldest) void oldest.connection.close();
  }

  #lend(member: Member): void {
    const { leakDetectionThreshold } = this.#limits;
    const leak =
      leakDetectionThreshold > 0
        ? setTimeout(() => this.#observer.leaked(this.name), leakDetectionThreshold)
        : undefined;
    leak?.unref();
    this.#leased.set(member.connection, { ...member, leak });
  }

  #expired({ bornAt }: Member): boolean {
    return this.#limits.maxLifetime > 0 && Date.now() - bornAt >= this.#limits.maxLifetime;
  }

  async #discard(connection: DriverConnection): Promise<void> {
    if (connection.usable) await connection.close();
    else connection.destroy();
  }

  /** Closes what rested or lived too long and keeps the rest alive. */
  async #keepHouse(): Promise<void> {
    const { idleTimeout, keepaliveTime, minimumIdle, validationTimeout } = this.#limits;
    const now = Date.now();
    for (const member of [...this.#idle]) {
      const rested = now - member.idleSince;
      const tooLong = idleTimeout > 0 && rested >= idleTimeout && this.#idle.length > minimumIdle;
      if (tooLong || this.#expired(member)) this.#remove(member);
      else if (keepaliveTime > 0 && now - member.provenAt >= keepaliveTime) {
        this.#idle.splice(this.#idle.indexOf(member), 1);
        try {
          await member.connection.ping(validationTimeout);
          if (this.isRetired) await this.#discard(member.connection);
          else this.#idle.push({ ...member, provenAt: Date.now() });
        } catch {
          member.connection.destroy();
        }
      }
    }
  }

  #remove(member: Member): void {
    const index = this.#idle.indexOf(member);
    if (index < 0) return;
    this.#idle.splice(index, 1);
    void this.#discard(member.connection);
  }

  /** Ends what is still out, in mid-statement. */
  cut(): void {
    if (this.#leased.size === 0) return;
    this.#observer.hardClosed(this.name, this.#leased.size);
    for (const connection of this.#leased.keys()) connection.destroy();
  }

  #closeIfDrained(): void {
    if (this.#state !== 'retired' || this.#leased.size > 0 || this.#inTransit > 0) return;
    this.#state = 'closed';
    clearTimeout(this.#ceiling);
    void this.#source.close().finally(this.#signalClosed);
  }

  #exhausted(): PenstockError {
    return new PenstockError('pipeline.node.datasource_connection_failed', {
      message: `No connection to datasource "${this.name}" became free within ${this.#limits.connectionTimeout} ms.`,
      details: { datasource: this.name, reason: 'pool_exhausted' },
    });
  }
}

function isTrusted({ provenAt }: Member): boolean {
  return Date.now() - provenAt < TRUSTED_IDLE_MS;
}

/** The pool was replaced while its caller waited: ask for the new one. */
export class PoolRetired extends Error {
  override readonly name = 'PoolRetired';
}
