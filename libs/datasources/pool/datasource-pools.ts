import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

import { AuditObserver } from '#libs/audit';
import { Configuration, Logger, newId, PenstockError, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { InvalidationBus } from '#libs/transient';

import { CredentialUndecryptable } from '../credentials/envelope.js';
import { DatasourceRepository } from '../datasource.repository.js';
import type { DatasourceRecord } from '../datasource.js';
import { cancelled, DriverFailure } from '../drivers/driver-failure.js';
import type { Access } from '../drivers/driver.js';
import { SourceFactory } from '../source-factory.js';
import { poolView, POOL_KEYS, type PoolKey } from '../properties/hikari.js';
import { LeasePool, PoolRetired, type PoolLimits } from './lease-pool.js';
import { hardClosedCounter } from './pool-metrics.js';
import { PooledLease } from './pooled-lease.js';
import type { Scrubber } from './scrubber.js';

/** The run, and the node of it, for which a connection is wanted; told where a pool is built for them. */
export interface LeaseCause {
  executionId: string;
  /** Absent before the first node. */
  nodeId?: string;
}

interface BuiltPool {
  pool: LeasePool;
  record: DatasourceRecord;
  scrubber: Scrubber;
}

interface Entry {
  built: Promise<BuiltPool>;
  /** What the finished pool was built from; undefined while it is being built. */
  updatedAt: string | undefined;
  pool: LeasePool | undefined;
}

/** A pool replaced this often under one waiting caller is being edited in a loop. */
const MAX_REBUILDS = 10;
const SHUTDOWN_WAIT_MS = 5000;

/**
 * The live pools of this process, one per datasource, built at the first lease from the row as it then is. A change of
 * the row, here or on another instance, retires the pool: not one more query runs through the old one (06 §5).
 */
@Injectable()
export class DatasourcePools implements OnApplicationShutdown {
  readonly #entries = new Map<string, Entry>();
  /** Pools that drain; two of one name may. */
  readonly #draining = new Set<LeasePool>();
  readonly #ceilingMs: number;
  readonly #unsubscribe: () => void;
  readonly #log: Logger;
  readonly #hardClosed = hardClosedCounter();

  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly sources: SourceFactory,
    private readonly bus: InvalidationBus,
    private readonly observer: AuditObserver,
    config: Configuration,
    logger: Logger,
  ) {
    this.#ceilingMs = config.get('datapipelines.datasources.retire-ceiling-seconds') * 1000;
    this.#log = logger.child('datasources.pools');
    this.#unsubscribe = this.bus.subscribe(({ kind, id }) => {
      if (kind === 'datasource') this.retire(id);
      else if (kind === 'all') void this.#reconcileLogged();
    });
  }

  /**
   * A connection of the named datasource. Rejects with `pipeline.node.datasource_not_found`,
   * `pipeline.node.datasource_connection_failed` (pool exhausted), DriverFailure, or `datasource.lease_in_transaction`
   * where the caller holds a metadata transaction: it would wait on a stranger's database while it locks rows.
   */
  async lease(name: string, access: Access, signal: AbortSignal, cause?: LeaseCause): Promise<PooledLease> {
    if (this.db.isInTransaction())
      throw new PenstockError('datasource.lease_in_transaction', { details: { datasource: name } });
    for (let attempt = 0; attempt < MAX_REBUILDS; attempt += 1) {
      if (signal.aborted) throw cancelled(signal);
      const entry = this.#entry(name, cause);
      const { pool, record, scrubber } = await entry.built;
      // Built from a row that has changed since: not admitted.
      if (this.#entries.get(name) !== entry) continue;
      try {
        return new PooledLease(pool, await pool.acquire(access, signal), record.dialect, access, scrubber);
      } catch (error) {
        if (!(error instanceof PoolRetired)) throw scrubber.failure(error);
      }
    }
    throw new DriverFailure('connection', 'The datasource keeps changing.', { driverCode: 'POOL_RETIRED' });
  }

  /** Connections out of the pool at this moment; undefined where there is no pool. */
  leased(name: string): number | undefined {
    return this.#entries.get(name)?.pool?.leased;
  }

  /** Whether the datasource has answered a moment ago, or is answering now. */
  provenLately(name: string): boolean {
    return this.#entries.get(name)?.pool?.provenLately ?? false;
  }

  /** Takes the pool of a changed row out of service and tells the other instances. Call after the commit. */
  async changed(principal: Principal, name: string): Promise<void> {
    if (this.retire(name)) await this.observer.observe(principal, 'datasource.pool_rebuild', { datasource: name });
    await this.bus.publish({ kind: 'datasource', id: name });
  }

  /** True when there was a pool, finished or being built. */
  retire(name: string): boolean {
    const entry = this.#entries.get(name);
    if (!entry) return false;
    this.#entries.delete(name);
    // One still being built is admitted nowhere: it is retired as soon as it stands.
    entry.built.then(
      ({ pool }) => this.#drain(pool),
      () => undefined,
    );
    return true;
  }

  /** Compares every pool with its row: messages may have been missed while there was no subscription. */
  async reconcile(): Promise<void> {
    const names = [...this.#entries.keys()];
    if (names.length === 0) return;
    const changedAt = await this.repository.changedAt(this.db, names);
    for (const name of names) {
      const entry = this.#entries.get(name);
      if (entry && changedAt.get(name) !== entry.updatedAt) this.retire(name);
    }
  }

  /** After the drain of the process: idle connections go at once, leased ones when they come back, or are cut after 5 s. */
  async close(): Promise<void> {
    this.#unsubscribe();
    const standing = [...this.#entries.values()].map(({ built }) =>
      built.then(
        ({ pool }) => pool.drained(),
        () => undefined,
      ),
    );
    const gone = Promise.all([...standing, ...[...this.#draining].map((pool) => pool.drained())]);
    for (const name of [...this.#entries.keys()]) this.retire(name);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([gone, new Promise<void>((resolve) => (timer = setTimeout(resolve, SHUTDOWN_WAIT_MS)))]);
    clearTimeout(timer);
    for (const pool of this.#draining) pool.cut();
  }

  /** Nest's own end of a process. */
  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** A burst builds one pool; a failed build is not kept. */
  #entry(name: string, cause: LeaseCause | undefined): Entry {
    const present = this.#entries.get(name);
    if (present) return present;
    const entry: Entry = { built: this.#build(name, cause), updatedAt: undefined, pool: undefined };
    this.#entries.set(name, entry);
    entry.built.then(
      ({ pool, record }) => {
        entry.pool = pool;
        entry.updatedAt = record.updatedAt;
      },
      () => {
        if (this.#entries.get(name) === entry) this.#entries.delete(name);
      },
    );
    return entry;
  }

  async #build(name: string, cause: LeaseCause | undefined): Promise<BuiltPool> {
    const record = await this.repository.live(this.db, name);
    if (!record) throw new PenstockError('pipeline.node.datasource_not_found', { details: { datasource: name } });
    const actor = { correlationId: newId() };
    const facts = {
      datasource: name,
      ...(cause ? { execution_id: cause.executionId } : {}),
      ...(cause?.nodeId === undefined ? {} : { node_id: cause.nodeId }),
    };
    try {
      const { source, scrubber, defaults, keyVersion } = await this.sources.sourceOf(record);
      const limits = limitsOf(poolView(record.properties.hikari, defaults));
      const pool = new LeasePool(name, source, limits, {
        leaked: () => this.#log.warn('datasource.lease_held_long', { datasource: name }),
        hardClosed: (_name, connections) => {
          this.#hardClosed.inc(connections);
          this.#log.warn('datasource.pool_hard_closed', { datasource: name, connections });
        },
      });
      await this.observer.observe(actor, 'datasource.pool_build', { ...facts, ok: true, key_version: keyVersion });
      return { pool, record, scrubber };
    } catch (error) {
      await this.observer.observe(actor, 'datasource.pool_build', { ...facts, ok: false });
      if (!(error instanceof CredentialUndecryptable)) throw error;
      this.#log.error('A credential cannot be decrypted.', {
        datasource: name,
        defect: error.defect,
        key_version: error.keyVersion,
      });
      throw new DriverFailure('connection', 'The credential cannot be decrypted.', { driverCode: 'CREDENTIAL' });
    }
  }

  #drain(pool: LeasePool): void {
    pool.retire(this.#ceilingMs);
    this.#draining.add(pool);
    void pool.drained().then(() => this.#draining.delete(pool));
  }

  async #reconcileLogged(): Promise<void> {
    try {
      await this.reconcile();
    } catch (error) {
      // Unknown is never trusted: without the rows every pool is rebuilt at its next lease.
      this.#log.warn('Pools could not be compared with their rows.', { error });
      for (const name of [...this.#entries.keys()]) this.retire(name);
    }
  }
}

function limitsOf(view: Record<PoolKey, { value: number }>): PoolLimits {
  return Object.fromEntries(POOL_KEYS.map((key) => [key, view[key].value])) as unknown as PoolLimits;
}
