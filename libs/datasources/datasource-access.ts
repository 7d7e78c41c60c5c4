import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

import { isPenstockError } from '#libs/kernel';
import { Database, type Queryable, type Transaction } from '#libs/persistence';

import { DatasourceRepository } from './datasource.repository.js';
import type { DatasourceRecord } from './datasource.js';
import { DriverFailure } from './drivers/driver-failure.js';
import type { Access, Lease } from './drivers/driver.js';
import { DriverRegistry } from './drivers/registry.js';
import { DatasourcePools, type LeaseCause } from './pool/datasource-pools.js';
import { poolView, type PoolView } from './properties/hikari.js';

/** Longest a reachability check waits for one datasource. */
const CHECK_MS = 30_000;
/** Rows kept for runs that know that theirs has not changed. */
const KEPT_ROWS = 1000;
/** Pool figures kept for names asked for lately; a wrong one only shifts a wait from one queue to another. */
const KEPT_FIGURES = 1000;

/** Datasources for pipelines and executions. It judges nobody: its callers say for which workspace they ask. */
@Injectable()
export class DatasourceAccess {
  readonly #figures = new Map<string, PoolView>();
  readonly #seen = new LRUCache<string, DatasourceRecord>({ max: KEPT_ROWS });

  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly pools: DatasourcePools,
    private readonly drivers: DriverRegistry,
  ) {}

  /** Those of the names that the workspace sees; one query, never cached. */
  async visible(
    workspaceId: string,
    names: readonly string[],
    q: Queryable = this.db,
  ): Promise<Map<string, DatasourceRecord>> {
    return this.#byName(await this.repository.visibleAmong(q, workspaceId, names));
  }

  /** Names of all that the workspace sees. */
  visibleNames(workspaceId: string): Promise<string[]> {
    return this.repository.visibleNames(this.db, workspaceId);
  }

  /** As {@link visible}, holding rows and grants until the transaction ends, so that no delete or revoke slips in. */
  async visibleForShare(
    tx: Transaction,
    workspaceId: string,
    names: readonly string[],
  ): Promise<Map<string, DatasourceRecord>> {
    return this.#byName(await this.repository.visibleAmong(tx, workspaceId, names, { hold: true }));
  }

  /** The row as it is now, if the workspace sees it. */
  async live(workspaceId: string, name: string): Promise<DatasourceRecord | undefined> {
    const record = (await this.visible(workspaceId, [name])).get(name);
    if (record) this.#seen.set(`${workspaceId} ${name}`, record);
    return record;
  }

  /**
   * The row of a datasource that the workspace was just seen to see, if it was read here before and its last change is
   * still the same (`updated_at`, microseconds). Of the last connection test it may tell an older one.
   */
  remembered(workspaceId: string, name: string, updatedAt: string): DatasourceRecord | undefined {
    const record = this.#seen.get(`${workspaceId} ${name}`);
    return record?.updatedAt === updatedAt ? record : undefined;
  }

  /** `maximumPoolSize` of a datasource read before; else the default. */
  poolSize(name: string): number {
    return this.#figuresOf(name).maximumPoolSize.value;
  }

  connectionTimeoutMs(name: string): number {
    return this.#figuresOf(name).connectionTimeout.value;
  }

  /** @throws as `DatasourcePools.lease` */
  lease(
    name: string,
    { signal, access, cause }: { signal: AbortSignal; access: Access; cause?: LeaseCause },
  ): Promise<Lease> {
    return this.pools.lease(name, access, signal, cause);
  }

  /** Those that cannot be reached, all asked at once; `reason` is a driver code or one of our words, never driver text. */
  async checkReachable(
    names: readonly string[],
    signal: AbortSignal,
    cause?: LeaseCause,
  ): Promise<{ name: string; reason: string }[]> {
    const checked = await Promise.all(
      [...new Set(names)].map(async (name) => ({ name, reason: await this.#unreachable(name, signal, cause) })),
    );
    return checked.flatMap(({ name, reason }) => (reason === undefined ? [] : [{ name, reason }]));
  }

  async #unreachable(name: string, signal: AbortSignal, cause: LeaseCause | undefined): Promise<string | undefined> {
    // A connection at work, or at rest for a moment only, answers the question without another round trip.
    if (this.pools.provenLately(name)) return undefined;
    const patience = AbortSignal.timeout(CHECK_MS);
    try {
      const lease = await this.pools.lease(name, 'read', AbortSignal.any([signal, patience]), cause);
      await lease.release();
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      if (patience.aborted) return 'timeout';
      if (isPenstockError(error)) return String(error.details['reason'] ?? error.code);
      if (error instanceof DriverFailure) return error.driverCode ?? error.kind;
      throw error;
    }
  }

  #byName(records: readonly DatasourceRecord[]): Map<string, DatasourceRecord> {
    for (const record of records) {
      this.#figures.delete(record.name);
      this.#figures.set(
        record.name,
        poolView(record.properties.hikari, this.drivers.find(record.dialect)?.poolDefaults),
      );
    }
    for (const name of this.#figures.keys()) {
      if (this.#figures.size <= KEPT_FIGURES) break;
      this.#figures.delete(name);
    }
    return new Map(records.map((record) => [record.name, record]));
  }

  #figuresOf(name: string): PoolView {
    return this.#figures.get(name) ?? DEFAULT_FIGURES;
  }
}

const DEFAULT_FIGURES = poolView(new Map());
