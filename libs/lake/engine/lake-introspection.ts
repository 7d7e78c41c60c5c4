import type { CatalogColumn, CatalogTable, Introspection } from '#libs/datasources';
import { PenstockError, readJson } from '#libs/kernel';
import { mapDuckdbType } from '#libs/typesystem';

import { dottedName, type LakeTable } from '../registry/lake-table.js';
import { qualifiedView, queryPath, REGISTRY_COPY, viewSchema } from './view-names.js';

/** Deeper namespaces cannot be queried, so they are not offered. */
const OFFERED = `json_array_length(namespace) <= 2`;

const SCHEMAS = `SELECT DISTINCT namespace FROM ${REGISTRY_COPY} WHERE ${OFFERED} ORDER BY 1 LIMIT CAST($1 AS INTEGER)`;
const TABLES = `
  SELECT namespace, name, format, partition_column FROM ${REGISTRY_COPY}
   WHERE ${OFFERED} AND (CAST($1 AS VARCHAR) IS NULL OR namespace = CAST($1 AS VARCHAR))
     AND (CAST($3 AS VARCHAR) IS NULL OR name = CAST($3 AS VARCHAR))
   ORDER BY namespace, name LIMIT CAST($2 AS INTEGER)`;
const PROBLEM = `
  SELECT problem FROM ${REGISTRY_COPY} WHERE namespace = CAST($1 AS VARCHAR) AND name = CAST($2 AS VARCHAR)`;

const IDS = `SELECT namespace, name, id FROM ${REGISTRY_COPY}`;

const NESTED = /^(STRUCT|MAP|UNION)\(|\]$/;

/** Tables of a datasource as they are registered at this moment. */
export type RegisteredTables = (datasource: string) => Promise<readonly Pick<LakeTable, 'id' | 'namespace' | 'name'>[]>;

/**
 * The registry is the catalog: storage has none. What it shows is what the engine was built from (06 §10); what came into
 * the registry since then is not gone.
 */
export function lakeIntrospection(registered: RegisteredTables): Introspection {
  const newer: Introspection['mayHold'] = async (query, names, datasource) => {
    const now = new Map((await registered(datasource)).map((table) => [dottedName(table), table.id]));
    const rows = await query(IDS, []);
    const built = new Map(rows.map(([namespace, name, id]) => [[...namespaceOf(namespace), name].join('.'), id]));
    return names.map((each) => {
      const id = now.get(dottedName(each));
      return id !== undefined && id !== built.get(dottedName(each));
    });
  };
  return {
    ...CATALOG,
    pathOf: queryPath,
    mayHold: newer,
    async hidesColumns(query, table, datasource) {
      const [isNewer] = await newer(query, [{ ...table, column: null }], datasource);
      return isNewer === true;
    },
  };
}

const CATALOG: Introspection = {
  async schemas(query, _include, limit) {
    return (await query(SCHEMAS, [limit])).map(([namespace]) => namespaceOf(namespace));
  },

  async tables(query, { namespace, name: table }, limit) {
    const rows = await query(TABLES, [namespace === null ? null : JSON.stringify(namespace), limit, table ?? null]);
    return rows.map(([found, name, format, partitionColumn]): CatalogTable => ({
      namespace: namespaceOf(found),
      name: name ?? '',
      type: 'VIEW',
      remarks: format ?? null,
      partitionColumn: partitionColumn ?? null,
    }));
  },

  async columns(query, { namespace, name }) {
    const [row] = await query(PROBLEM, [JSON.stringify(namespace), name]);
    const schema = viewSchema(namespace);
    const problem = row?.[0] ?? null;
    if (problem !== null || !schema)
      throw new PenstockError('datasource.lake.table_unavailable', {
        details: { table: dottedName({ namespace, name }), last_error: problem },
      });
    const rows = await query(
      `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${qualifiedView(schema, { name })})`,
      [],
    );
    return rows.map(([column, type]): CatalogColumn => {
      const mapped = mapDuckdbType({ name: type ?? '' });
      return {
        name: column ?? '',
        sourceType: type ?? '',
        mapped: NESTED.test(type ?? '') ? { ...mapped, warning: 'type_mapping.unknown_source_type' } : mapped,
        nullable: null,
        remarks: null,
        primaryKey: null,
        references: null,
      };
    });
  },

  async currentNamespace(query) {
    const rows = await query(SCHEMAS, [2]);
    return rows.length === 1 ? namespaceOf(rows[0]?.[0]) : null;
  },
};

function namespaceOf(text: string | null | undefined): string[] {
  return readJson(text ?? '[]') as string[];
}
