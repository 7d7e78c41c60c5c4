import { mapDuckdbType } from '#libs/typesystem';

import type { CatalogColumn } from '../../introspection/introspection.js';
import { numberOf, referenceTo, schemaIntrospection } from '../../introspection/schema-introspection.js';

/** Schemas of the datasource's own file; `list` is the parameter with the names that are shown although hidden. */
const shown = (list: string): string => `
  database_name = current_database()
  AND (NOT (lower(schema_name) IN ('information_schema', 'pg_catalog') OR lower(schema_name) SIMILAR TO 'pg_(toast|temp).*')
       OR list_contains(string_split(${list}, ','), lower(schema_name)))`;

const SCHEMAS = `
  SELECT schema_name FROM duckdb_schemas() WHERE ${shown('CAST($1 AS VARCHAR)')}
   ORDER BY schema_name LIMIT CAST($2 AS INTEGER)`;

const TABLES = `
  SELECT schema_name, name, type, comment FROM (
    SELECT database_name, schema_name, table_name AS name, 'BASE TABLE' AS type, comment FROM duckdb_tables() WHERE NOT temporary
    UNION ALL
    SELECT database_name, schema_name, view_name, 'VIEW', comment FROM duckdb_views() WHERE NOT temporary) t
   WHERE ${shown('CAST($1 AS VARCHAR)')} AND (CAST($2 AS VARCHAR) IS NULL OR schema_name = CAST($2 AS VARCHAR))
     AND (CAST($4 AS VARCHAR) IS NULL OR name = CAST($4 AS VARCHAR))
   ORDER BY schema_name, name LIMIT CAST($3 AS INTEGER)`;

const COLUMNS = `
  SELECT c.column_name, c.data_type, c.is_nullable, c.comment,
         list_position(pk.constraint_column_names, c.column_name),
         fk.schema_name, fk.referenced_table,
         fk.referenced_column_names[list_position(fk.constraint_column_names, c.column_name)]
    FROM duckdb_columns() c
    LEFT JOIN duckdb_constraints() pk
      ON pk.table_oid = c.table_oid AND pk.database_oid = c.database_oid AND pk.constraint_type = 'PRIMARY KEY'
     AND list_contains(pk.constraint_column_names, c.column_name)
    LEFT JOIN duckdb_constraints() fk
      ON fk.table_oid = c.table_oid AND fk.database_oid = c.database_oid AND fk.constraint_type = 'FOREIGN KEY'
     AND list_contains(fk.constraint_column_names, c.column_name)
   WHERE c.database_name = current_database() AND c.schema_name = CAST($1 AS VARCHAR) AND c.table_name = CAST($2 AS VARCHAR)
   ORDER BY c.column_index`;

/** Schemas may be hidden by the datasource's settings; the engine hides nothing itself. */
const STILL_THERE = `
  SELECT CAST(EXISTS (
    SELECT 1 FROM duckdb_columns() c WHERE c.database_name = current_database() AND c.schema_name = CAST($1 AS VARCHAR)
       AND c.table_name = CAST($2 AS VARCHAR)
       AND (CAST($3 AS VARCHAR) IS NULL OR c.column_name = CAST($3 AS VARCHAR))) AS VARCHAR)`;

export const duckdbIntrospection = schemaIntrospection({
  schemas: (include, limit) => ({ sql: SCHEMAS, values: [include.join(','), limit] }),
  tables: ({ schema, include, name }, limit) => ({
    sql: TABLES,
    values: [include.join(','), schema, limit, name ?? null],
  }),
  currentSchema: 'SELECT current_schema()',

  async columns(query, { namespace, name: table }) {
    const rows = await query(COLUMNS, [namespace[0], table]);
    return rows.map(([name, type, nullable, remarks, position, refSchema, refTable, refColumn]): CatalogColumn => ({
      name: name ?? '',
      sourceType: type ?? '',
      mapped: mapDuckdbType({ name: type ?? '' }),
      nullable: nullable === 'true',
      remarks: remarks ?? null,
      primaryKey: numberOf(position),
      references: referenceTo(refSchema, refTable, refColumn),
    }));
  },

  async mayHold(query, names) {
    const there: boolean[] = [];
    for (const { namespace, name, column } of names) {
      const [row] = await query(STILL_THERE, [namespace[0], name, column]);
      there.push(row?.[0] === 'true');
    }
    return there;
  },
});
