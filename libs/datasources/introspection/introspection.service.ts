import { Injectable } from '@nestjs/common';

import { authorise } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import { Logger } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { DatasourceRepository } from '../datasource.repository.js';
import type { DatasourceRecord } from '../datasource.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import { DriverRegistry } from '../drivers/registry.js';
import { DatasourcePools } from '../pool/datasource-pools.js';
import { nearest } from '../properties/nearest.js';
import type { CatalogColumn, CatalogQuery, CatalogTable, Introspection } from './introspection.js';

export interface SchemaListView {
  schemas: string[];
  entries: { namespace: readonly string[]; label: string }[];
  truncated: boolean;
}

export interface TableView {
  namespace: readonly string[];
  schema: string | null;
  name: string;
  type: string;
  remarks?: string;
}

export interface TableListView {
  tables: TableView[];
  truncated: boolean;
}

export interface ColumnView {
  name: string;
  type: string;
  precision?: number;
  scale?: number;
  nullable?: boolean;
  source_type: string;
  warnings: string[];
  remarks?: string;
  primary_key?: number;
  references?: { namespace: readonly string[]; table: string; column: string };
}

/** Most schemas or tables of one answer. */
const CAP = 2000;
/** Most names a misspelt table is compared with. */
const SUGGESTED_AMONG = 5000;
const MOST_SECONDS = 10;

/** Live reads of a datasource's catalog: never a scan of its data, at most 10 s, rolled back (06 §8). */
@Injectable()
export class IntrospectionService {
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

  /** `gaveUp` ends this read, and those below, before its own time: nobody waits for the answer any more. */
  async schemas(principal: Principal, name: string, gaveUp?: AbortSignal): Promise<SchemaListView> {
    const found = await this.#read(principal, name, gaveUp, (catalog, query, record) =>
      catalog.schemas(query, record.includeSchemas, CAP + 1),
    );
    const entries = found.slice(0, CAP).map((namespace) => ({ namespace, label: namespace.join('.') }));
    return { schemas: entries.map(({ label }) => label), entries, truncated: found.length > CAP };
  }

  /** Without a namespace, of all of them. An unknown one holds no tables. */
  async tables(
    principal: Principal,
    name: string,
    filter: { namespace?: readonly string[] | undefined } = {},
    gaveUp?: AbortSignal,
  ): Promise<TableListView> {
    const found = await this.#read(principal, name, gaveUp, (catalog, query, record) =>
      catalog.tables(query, { namespace: filter.namespace ?? null, include: record.includeSchemas }, CAP + 1),
    );
    return { tables: found.slice(0, CAP).map(tableView), truncated: found.length > CAP };
  }

  /** @throws 404 `datasource.table_not_found` with a suggestion where a name comes near */
  async columns(
    principal: Principal,
    name: string,
    request: { table: string; namespace?: readonly string[] | undefined },
    gaveUp?: AbortSignal,
  ): Promise<ColumnView[]> {
    const columns = await this.#read(principal, name, gaveUp, async (catalog, query, record) => {
      const namespace = request.namespace ?? (await this.#current(catalog, query));
      const tables = await catalog.tables(query, { namespace, include: record.includeSchemas }, SUGGESTED_AMONG);
      const table = tables.find((candidate) => candidate.name === request.table);
      if (!table) throw tableNotFound(request.table, namespace, tables);
      return await catalog.columns(query, table);
    });
    return columns.map(columnView);
  }

  async #current(catalog: Introspection, query: CatalogQuery): Promise<readonly string[]> {
    const namespace = await catalog.currentNamespace(query);
    if (namespace !== null) return namespace;
    throw new PenstockError('pipeline.execution.parameter_required', {
      message: 'The connection has no current schema; say which one with namespace.',
      details: { parameter: 'namespace' },
    });
  }

  async #read<T>(
    principal: Principal,
    name: string,
    gaveUp: AbortSignal | undefined,
    work: (catalog: Introspection, query: CatalogQuery, record: DatasourceRecord) => Promise<T>,
  ): Promise<T> {
    const workspace = authorise(principal, 'datasource.introspect');
    const record = await this.repository.visible(this.db, workspace.id, name);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    const { introspection } = this.drivers.get(record.dialect);
    const seconds = Math.min(record.queryTimeoutSeconds ?? MOST_SECONDS, MOST_SECONDS);
    const patience = AbortSignal.timeout(seconds * 1000);
    const signal = gaveUp ? AbortSignal.any([patience, gaveUp]) : patience;
    try {
      const lease = await this.pools.lease(name, 'read', signal);
      try {
        return await work(introspection, (sql, values) => lease.catalog({ sql, values }, signal), record);
      } finally {
        await lease.release();
      }
    } catch (error) {
      throw this.#answer(error, name, seconds);
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

function unreachable(datasource: string, reason: string): PenstockError {
  return new PenstockError('pipeline.execution.datasource_unreachable', { details: { datasource, reason } });
}

function tableNotFound(table: string, namespace: readonly string[], tables: readonly CatalogTable[]): PenstockError {
  const suggestion = nearest(
    table,
    tables.map(({ name }) => name),
  );
  return new PenstockError('datasource.table_not_found', {
    message: `There is no table "${table}" there.${suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`}`,
    details: { table, namespace, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}

function tableView({ namespace, name, type, remarks }: CatalogTable): TableView {
  return { namespace, schema: namespace.at(-1) ?? null, name, type, ...(remarks === null ? {} : { remarks }) };
}

function columnView({
  name,
  sourceType,
  mapped,
  nullable,
  remarks,
  primaryKey,
  references,
}: CatalogColumn): ColumnView {
  return {
    name,
    ...mapped.type,
    ...(nullable === null ? {} : { nullable }),
    source_type: sourceType,
    warnings: mapped.warning ? [mapped.warning] : [],
    ...(remarks === null ? {} : { remarks }),
    ...(primaryKey === null ? {} : { primary_key: primaryKey }),
    ...(references === null ? {} : { references }),
  };
}
