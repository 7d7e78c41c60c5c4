import { mapH2CatalogType } from '#libs/typesystem';

import { hiddenSchemas, keysOf, numberOf, schemaIntrospection } from '../../introspection/schema-introspection.js';

/** $1 = the system schemas that stay hidden, comma-separated: their names hold none. */
const SHOWN = (column: string): string =>
  `LOCATE(CONCAT(',', LOWER(${column}), ','), CONCAT(',', CAST($1 AS VARCHAR), ',')) = 0`;

const SYSTEM_SCHEMAS = ['information_schema', 'pg_catalog'];

const hidden = (include: readonly string[]): string => hiddenSchemas(SYSTEM_SCHEMAS, include).join(',');

const SCHEMAS = `
  SELECT s.schema_name FROM information_schema.schemata s WHERE ${SHOWN('s.schema_name')}
   ORDER BY s.schema_name LIMIT CAST($2 AS INTEGER)`;

const TABLES = `
  SELECT t.table_schema, t.table_name, t.table_type, t.remarks
    FROM information_schema.tables t
   WHERE ${SHOWN('t.table_schema')} AND (CAST($2 AS VARCHAR) IS NULL OR t.table_schema = CAST($2 AS VARCHAR))
     AND (CAST($4 AS VARCHAR) IS NULL OR t.table_name = CAST($4 AS VARCHAR))
   ORDER BY t.table_schema, t.table_name
   LIMIT CAST($3 AS INTEGER)`;

const COLUMNS = `
  SELECT c.column_name, c.data_type, CAST(c.numeric_precision AS VARCHAR), CAST(c.numeric_scale AS VARCHAR),
         CAST(c.character_maximum_length AS VARCHAR), c.is_nullable, c.remarks
    FROM information_schema.columns c
   WHERE c.table_schema = CAST($1 AS VARCHAR) AND c.table_name = CAST($2 AS VARCHAR)
   ORDER BY c.ordinal_position`;

const KEYS = `
  SELECT k.column_name, n.constraint_type, CAST(k.ordinal_position AS VARCHAR), u.table_schema, u.table_name, u.column_name
    FROM information_schema.key_column_usage k
    JOIN information_schema.table_constraints n
      ON n.constraint_schema = k.constraint_schema AND n.constraint_name = k.constraint_name
    LEFT JOIN information_schema.referential_constraints r
      ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
    LEFT JOIN information_schema.key_column_usage u
      ON u.constraint_schema = r.unique_constraint_schema AND u.constraint_name = r.unique_constraint_name
     AND u.ordinal_position = k.position_in_unique_constraint
   WHERE k.table_schema = CAST($1 AS VARCHAR) AND k.table_name = CAST($2 AS VARCHAR)
     AND n.constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
   ORDER BY n.constraint_type, k.constraint_name, k.ordinal_position`;

export const h2Introspection = schemaIntrospection({
  filtersByRights: true,
  schemas: (include, limit) => ({ sql: SCHEMAS, values: [hidden(include), limit] }),
  tables: ({ schema, include, name }, limit) => ({
    sql: TABLES,
    values: [hidden(include), schema, limit, name ?? null],
  }),
  currentSchema: 'SELECT CURRENT_SCHEMA',

  async columns(query, { namespace, name: table }) {
    const columns = await query(COLUMNS, [namespace[0], table]);
    const keyOf = keysOf(await query(KEYS, [namespace[0], table]), (kind) => kind === 'PRIMARY KEY');
    return columns.map(([name, dataType, precision, scale, length, nullable, remarks]) => {
      const type = (dataType ?? '').toUpperCase();
      return {
        name: name ?? '',
        sourceType: sourceTypeOf(type, precision, scale, length),
        mapped: mapH2CatalogType({ dataType: type, precision: numberOf(precision), scale: numberOf(scale) }),
        nullable: nullable === 'YES',
        remarks: remarks ?? null,
        ...keyOf(name),
      };
    });
  },
});

function sourceTypeOf(
  type: string,
  precision: string | null | undefined,
  scale: string | null | undefined,
  length: string | null | undefined,
): string {
  if (type === 'NUMERIC' && precision != null) return `NUMERIC(${precision}, ${scale ?? '0'})`;
  return /^(?:CHARACTER|CHARACTER VARYING|BINARY|BINARY VARYING)$/.test(type) && length != null
    ? `${type}(${length})`
    : type;
}
