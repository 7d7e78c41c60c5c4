import { Injectable } from '@nestjs/common';

import type { DatasourceRecord } from '#libs/datasources';
import { validationError, type JsonObject, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { LakeAccess } from '../lake-access.js';
import { LakeTablesService } from '../lake-tables.service.js';
import { Preflight } from '../preflight.js';
import { dottedName, lakeTableView, type LakeTableFields, type LakeTableView } from '../registry/lake-table.js';
import { LakeTableRepository } from '../registry/lake-table.repository.js';
import { tableFailure } from '../registry/table-failure.js';
import { readImportBody, readTableList } from './import-body.js';
import { Manifests } from './manifest.js';

export interface LakeImportView {
  registered: LakeTableView[];
  registered_count: number;
  already_registered: LakeTableView[];
  already_registered_count: number;
}

/** Registers many tables at once, from a list or a publisher's manifest: all of them or none (06 §10). */
@Injectable()
export class LakeImportService {
  constructor(
    private readonly db: Database,
    private readonly repository: LakeTableRepository,
    private readonly access: LakeAccess,
    private readonly preflight: Preflight,
    private readonly manifests: Manifests,
    private readonly tables: LakeTablesService,
  ) {}

  /**
   * `{tables: [{name, format, location | path, partition_column?, namespace?}], namespace?, publish_prefix?}` or
   * `{manifest_url, namespace?}`; at most 500 tables. What is registered already is left alone.
   *
   * @throws 400 with every defect at its place in the list, unreadable tables too; 400 `lake_manifest_url_forbidden`;
   *   409 when somebody registers one of the names meanwhile. Nothing is stored then
   */
  async import(
    principal: Principal,
    datasource: string,
    body: JsonObject,
    gaveUp?: AbortSignal,
  ): Promise<LakeImportView> {
    const record = await this.access.writable(principal, datasource);
    return await this.importInto(principal, record, body, { gaveUp });
  }

  /**
   * As {@link import}, into a datasource that the caller has judged.
   *
   * @param limits.only names of the list's tables that are wanted; one that is not in it is a defect
   */
  async importInto(
    principal: Principal,
    record: DatasourceRecord,
    body: JsonObject,
    { only = null, gaveUp }: { only?: readonly string[] | null; gaveUp?: AbortSignal },
  ): Promise<LakeImportView> {
    const { name: datasource } = record;
    const request = readImportBody(body);
    const list =
      request.from === 'list'
        ? { tables: request.tables, shared: request }
        : fromManifest(await this.manifests.fetch(record, request.url, gaveUp), request.namespace);
    const wanted = chosen(readTableList(list.tables, list.shared), only);
    const present = new Map(
      (await this.repository.all(this.db, datasource)).map((table) => [dottedName(table), table]),
    );
    const fresh = wanted.filter((fields) => !present.has(dottedName(fields)));
    const unreadable = fresh.length > 0 ? await this.preflight.unreadable(principal, record, fresh, gaveUp) : [];
    if (unreadable.length > 0)
      throw validationError(
        unreadable.map((table) =>
          tableFailure(table, `tables[${wanted.indexOf(fresh[table.index] as (typeof fresh)[number])}]`),
        ),
      );
    const stored = await this.db.transaction(async (tx) => {
      const views = new Map<string, LakeTableView>();
      for (const fields of inOneOrder(fresh))
        views.set(dottedName(fields), await this.tables.insert(tx, principal, datasource, fields));
      if (views.size > 0) await this.tables.announce(tx, principal, datasource);
      return views;
    });
    const registered = fresh.flatMap((fields) => stored.get(dottedName(fields)) ?? []);
    const already = wanted.flatMap((fields) => present.get(dottedName(fields)) ?? []).map(lakeTableView);
    return {
      registered,
      registered_count: registered.length,
      already_registered: already,
      already_registered_count: already.length,
    };
  }
}

/** Two imports that store the same names in different orders would wait for each other. */
function inOneOrder(tables: readonly LakeTableFields[]): LakeTableFields[] {
  return tables.toSorted((one, other) => (dottedName(one) < dottedName(other) ? -1 : 1));
}

function chosen(tables: readonly LakeTableFields[], only: readonly string[] | null): readonly LakeTableFields[] {
  if (only === null) return tables;
  const missing = only.filter((name) => !tables.some((table) => table.name === name));
  if (missing.length > 0)
    throw validationError(
      missing.map((name) => ({
        code: 'datasource.lake_table_not_found',
        path: 'only_tables',
        message: `The manifest has no table "${name}".`,
        details: { table: name },
      })),
    );
  return tables.filter((table) => only.includes(table.name));
}

/** What the request says of the namespace beats the manifest. */
function fromManifest(manifest: JsonObject, namespace: JsonObject[string] | undefined) {
  return {
    tables: manifest['tables'] ?? null,
    shared: {
      namespace: namespace ?? manifest['namespace'] ?? undefined,
      publishPrefix: manifest['publish_prefix'] ?? undefined,
    },
  };
}
