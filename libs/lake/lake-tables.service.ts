import { Injectable } from '@nestjs/common';

import { AuditLog } from '#libs/audit';
import { DatasourcePools } from '#libs/datasources';
import { PenstockError, validationError, type JsonObject, type Principal } from '#libs/kernel';
import { constraintOf, Database, type Transaction } from '#libs/persistence';

import { NO_PLACE, viewSchema } from './engine/view-names.js';
import { LakeAccess } from './lake-access.js';
import { Preflight } from './preflight.js';
import { dottedName, lakeTableView, type LakeTableFields, type LakeTableView } from './registry/lake-table.js';
import { LakeTableRepository, TABLE_NAME_TAKEN } from './registry/lake-table.repository.js';
import { tableFailure } from './registry/table-failure.js';
import { isTableName, readNamespace, readTableFields } from './registry/table-fields.js';

export interface LakeTableListView {
  datasource: string;
  tables: LakeTableView[];
  count: number;
}

/** The registry of a lake datasource, as every door offers it (06 §10). */
@Injectable()
export class LakeTablesService {
  constructor(
    private readonly db: Database,
    private readonly repository: LakeTableRepository,
    private readonly access: LakeAccess,
    private readonly preflight: Preflight,
    private readonly pools: DatasourcePools,
    private readonly audit: AuditLog,
  ) {}

  /** Every registered table with its last error, by namespace and name. */
  async list(principal: Principal, datasource: string): Promise<LakeTableListView> {
    const record = await this.access.readable(principal, datasource);
    const tables = (await this.repository.all(this.db, record.name)).map(lakeTableView);
    return { datasource: record.name, tables, count: tables.length };
  }

  /** As {@link list}, of several datasources at once; one that is not seen has no entry. */
  async listAmong(principal: Principal, datasources: readonly string[]): Promise<Map<string, LakeTableView[]>> {
    const visible = await this.access.visibleAmong(principal, datasources);
    const tables = await this.repository.among(this.db, visible);
    return new Map(visible.map((name) => [name, (tables.get(name) ?? []).map(lakeTableView)]));
  }

  /**
   * Registers `{namespace, name, format, location, partition_column?}` once a row of it could be read.
   *
   * @throws 400 with every defect, or `datasource.validation.lake_table_unreadable`, nothing stored; 409
   *   `datasource.lake_table_duplicate`
   */
  async register(
    principal: Principal,
    datasource: string,
    body: JsonObject,
    gaveUp?: AbortSignal,
  ): Promise<LakeTableView> {
    const record = await this.access.writable(principal, datasource);
    const fields = readTableFields(body);
    const present = await this.repository.all(this.db, record.name);
    if (present.some((table) => dottedName(table) === dottedName(fields))) throw duplicate(datasource, fields);
    const [unreadable] = await this.preflight.unreadable(principal, record, [fields], gaveUp);
    if (unreadable) throw validationError([tableFailure(unreadable, '')]);
    const table = await this.db.transaction(async (tx) => {
      const inserted = await this.insert(tx, principal, datasource, fields);
      await this.announce(tx, principal, datasource);
      return inserted;
    });
    return table;
  }

  /** @throws 404 `datasource.lake_table_not_found` */
  async unregister(
    principal: Principal,
    datasource: string,
    address: { namespace: string | readonly string[]; table: string },
  ): Promise<void> {
    const record = await this.access.writable(principal, datasource);
    const given = address.namespace;
    const namespace = readNamespace(typeof given === 'string' ? given : [...given]);
    await this.db.transaction(async (tx) => {
      const removed =
        namespace !== undefined &&
        isTableName(address.table) &&
        (await this.repository.remove(tx, record.name, namespace, address.table));
      if (!removed)
        throw new PenstockError('datasource.lake_table_not_found', {
          details: { datasource, namespace: given, table: address.table },
        });
      await this.announce(tx, principal, datasource);
    });
  }

  /** The unique constraint is the referee between two who register one name. */
  async insert(
    tx: Transaction,
    principal: Principal,
    datasource: string,
    fields: LakeTableFields,
  ): Promise<LakeTableView> {
    try {
      const lastError = viewSchema(fields.namespace) ? null : NO_PLACE;
      const table = await this.repository.insert(tx, datasource, fields, principal.userId, lastError);
      if (!table) throw new PenstockError('internal');
      return lakeTableView(table);
    } catch (error) {
      if (constraintOf(error)?.name !== TABLE_NAME_TAKEN) throw error;
      throw duplicate(datasource, fields);
    }
  }

  /** Audit row, and new engines on every instance once the change is committed. */
  async announce(tx: Transaction, principal: Principal, datasource: string): Promise<void> {
    await this.audit.append(tx, principal, 'datasource.updated', { datasource, fields: ['lake_tables'] });
    tx.afterCommit(() => this.pools.changed(principal, datasource));
  }
}

function duplicate(datasource: string, { namespace, name }: LakeTableFields): PenstockError {
  return new PenstockError('datasource.lake_table_duplicate', {
    details: { datasource, namespace, table: name },
  });
}
