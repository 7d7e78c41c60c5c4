import { Injectable } from '@nestjs/common';

import { authorise, type OperationId } from '#libs/identity';
import { Logger, PenstockError, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import type { Dialect } from '#libs/typesystem';

import { DatasourceRepository } from '../datasource.repository.js';
import type { DatasourceRecord } from '../datasource.js';
import type { DialectDriver } from '../drivers/dialect-driver.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import { DriverRegistry } from '../drivers/registry.js';
import { DatasourcePools } from '../pool/datasource-pools.js';
import { nearest } from '../properties/nearest.js';
import type { CatalogQuery, CatalogTable } from './introspection.js';

/** A table as a caller names it; without a namespace the connection's current one is meant. */
export interface TableAddress {
  table: string;
  namespace?: readonly string[] | undefined;
}

/** One datasource's catalog, open for the length of one read. */
export interface OpenCatalog {
  driver: DialectDriver;
  query: CatalogQuery;
  record: DatasourceRecord;
}

/** Most names a misspelt table is compared with. */
const SUGGESTED_AMONG = 5000;
const MOST_SECONDS = 10;

/** Opens a datasource's catalog for one read: read-only, at most 10 s, rolled back (06 §8). */
@Injectable()
export class CatalogReader {
  readonly #log: Logger;

  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly pools: DatasourcePools,
    private readonly drivers: DriverRegistry,
    logger: Logger,
  ) {
    this.#log = logger.child('datasources.introspection');
  }

  /** The datasource as the caller's workspace sees it. @throws 404 `datasource.not_found` */
  async visible(principal: Principal, operation: OperationId, name: string): Promise<DatasourceRecord> {
    const workspace = authorise(principal, operation);
    const record = await this.repository.visible(this.db, workspace.id, name);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    return record;
  }

  /**
   * `gaveUp` ends the read before its own time: nobody waits for the answer any more.
   *
   * @throws 502 `pipeline.execution.datasource_unreachable` without driver text, 403 `datasource.table_forbidden`,
   *   504 `pipeline.node.query_timeout`
   */
  async read<T>(
    record: DatasourceRecord,
    gaveUp: AbortSignal | undefined,
    work: (catalog: OpenCatalog) => Promise<T>,
  ): Promise<T> {
    const driver = this.drivers.get(record.dialect);
    const seconds = Math.min(record.queryTimeoutSeconds ?? MOST_SECONDS, MOST_SECONDS);
    const patience = AbortSignal.timeout(seconds * 1000);
    const signal = gaveUp ? AbortSignal.any([patience, gaveUp]) : patience;
    try {
      const lease = await this.pools.lease(record.name, 'read', signal);
      try {
        return await work({ driver, record, query: (sql, values) => lease.catalog({ sql, values }, signal) });
      } finally {
        await lease.release();
      }
    } catch (error) {
      throw this.#answer(error, record.name, seconds);
    }
  }

  /** Unreachable is 502 without driver text, a refused right 403; anything else is ours. */
  #answer(error: unknown, datasource: string, seconds: number): unknown {
    if (error instanceof PenstockError && error.code === 'pipeline.node.datasource_connection_failed') {
      return unreachable(datasource, 'pool_exhausted');
    }
    if (!(error instanceof DriverFailure)) return error;
    const details = { datasource, ...(error.driverCode === undefined ? {} : { driver_code: error.driverCode }) };
    if (error.kind === 'cancelled' || error.kind === 'timeout') {
      return new PenstockError('pipeline.node.query_timeout', { details: { datasource, timeout_seconds: seconds } });
    }
    if (error.kind === 'permission') return new PenstockError('datasource.table_forbidden', { details });
    if (error.kind !== 'connection') return new PenstockError('internal', { cause: error });
    this.#log.warn('datasource.unreachable', { datasource, error });
    return unreachable(datasource, error.driverCode ?? 'connection');
  }
}

export function unreachable(datasource: string, reason: string): PenstockError {
  return new PenstockError('pipeline.execution.datasource_unreachable', { details: { datasource, reason } });
}

/**
 * Finds a table by the name the listing gives it, letter by letter.
 *
 * @throws 404 `datasource.table_not_found` with a suggestion where a name comes near; 400
 *   `pipeline.execution.parameter_required` when the connection has no current namespace
 */
export async function resolveTable(
  { driver: { introspection }, query, record }: OpenCatalog,
  address: TableAddress,
): Promise<CatalogTable> {
  const namespace = address.namespace ?? (await introspection.currentNamespace(query));
  if (namespace === null) {
    throw new PenstockError('pipeline.execution.parameter_required', {
      message: 'The connection has no current schema; say which one with namespace.',
      details: { parameter: 'namespace' },
    });
  }
  const among = { namespace, include: record.includeSchemas };
  const found = await introspection.tables(query, { ...among, name: address.table }, 1);
  const table = found.find((candidate) => candidate.name === address.table);
  if (table) return table;
  const others = await introspection.tables(query, among, SUGGESTED_AMONG);
  const missing = introspection.filtersByRights ? 'missing or not visible to this login' : 'missing';
  throw tableNotFound(record.dialect, address.table, namespace, others, missing);
}

function tableNotFound(
  dialect: Dialect,
  table: string,
  namespace: readonly string[],
  tables: readonly CatalogTable[],
  missing: string,
): PenstockError {
  const suggestion = nearest(
    table,
    tables.map(({ name }) => name),
  );
  const code = dialect === 'LAKE' ? 'datasource.lake_table_not_found' : 'datasource.table_not_found';
  return new PenstockError(code, {
    message: `Table "${table}" is ${missing}.${suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`}`,
    details: { table, namespace, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}
