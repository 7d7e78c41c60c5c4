import { Injectable } from '@nestjs/common';

import type { Principal } from '#libs/kernel';

import type { DatasourceRecord } from '../datasource.js';
import { CatalogReader, resolveTable, type TableAddress } from './catalog-reader.js';
import type { CatalogColumn, CatalogTable, CatalogTableName } from './introspection.js';

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
  /** Of a lake table; absent in dialects that have none. */
  partition_column?: string | null;
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

/** Live reads of a datasource's catalog: never a scan of its data, at most 10 s, rolled back (06 §8). */
@Injectable()
export class IntrospectionService {
  constructor(private readonly catalogs: CatalogReader) {}

  /** `gaveUp` ends this read, and those below, before its own time: nobody waits for the answer any more. */
  async schemas(principal: Principal, name: string, gaveUp?: AbortSignal): Promise<SchemaListView> {
    const record = await this.#visible(principal, name);
    const found = await this.catalogs.read(record, gaveUp, ({ driver, query }) =>
      driver.introspection.schemas(query, record.includeSchemas, CAP + 1),
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
    const record = await this.#visible(principal, name);
    const among = { namespace: filter.namespace ?? null, include: record.includeSchemas };
    const found = await this.catalogs.read(record, gaveUp, ({ driver, query }) =>
      driver.introspection.tables(query, among, CAP + 1),
    );
    return { tables: found.slice(0, CAP).map(tableView), truncated: found.length > CAP };
  }

  /** @throws 404 `datasource.table_not_found` with a suggestion where a name comes near */
  async columns(
    principal: Principal,
    name: string,
    request: TableAddress,
    gaveUp?: AbortSignal,
  ): Promise<ColumnView[]> {
    return (await this.describe(principal, name, request, gaveUp)).columns;
  }

  /** As {@link columns}, with the place where the table was found. */
  async describe(
    principal: Principal,
    name: string,
    request: TableAddress,
    gaveUp?: AbortSignal,
  ): Promise<{ table: CatalogTableName; columns: ColumnView[] }> {
    const record = await this.#visible(principal, name);
    return await this.catalogs.read(record, gaveUp, async (catalog) => {
      const table = await resolveTable(catalog, request);
      const columns = await catalog.driver.introspection.columns(catalog.query, table);
      return { table: { namespace: table.namespace, name: table.name }, columns: columns.map(columnView) };
    });
  }

  async #visible(principal: Principal, name: string): Promise<DatasourceRecord> {
    return await this.catalogs.visible(principal, 'datasource.introspect', name);
  }
}

function tableView({ namespace, name, type, remarks, partitionColumn }: CatalogTable): TableView {
  return {
    namespace,
    schema: namespace.at(-1) ?? null,
    name,
    type,
    ...(remarks === null ? {} : { remarks }),
    ...(partitionColumn === undefined ? {} : { partition_column: partitionColumn }),
  };
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
