import { writeJson } from '#libs/kernel';
import { mapPostgresType } from '#libs/typesystem';

import type { CatalogColumn } from '../../introspection/introspection.js';
import { referenceTo, schemaIntrospection } from '../../introspection/schema-introspection.js';

/** $1 = the schemas that are shown although they are the system's. */
const SHOWN_SCHEMA = `
  (lower(n.nspname) NOT IN ('information_schema', 'pg_catalog') AND n.nspname !~* '^pg_(toast|temp)' OR lower(n.nspname) = ANY ($1::text[]))
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')`;

const SCHEMAS = `
  SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE ${SHOWN_SCHEMA} ORDER BY n.nspname LIMIT $2::int`;

const TABLES = `
  SELECT n.nspname, c.relname,
         CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW'
                        WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'FOREIGN TABLE' END,
         pg_catalog.obj_description(c.oid, 'pg_class')
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ${SHOWN_SCHEMA}
     AND ($2::text IS NULL OR n.nspname = $2::text) AND ($4::text IS NULL OR c.relname = $4::text)
   ORDER BY n.nspname, c.relname
   LIMIT $3::int`;

/** A domain shows the type and size it stands on; enums, ranges and arrays are known by their kind. */
const COLUMNS = `
  SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), b.oid::int8::text,
         CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END::text,
         (b.typtype IN ('e', 'r', 'm') OR b.typcategory = 'A')::text,
         (NOT (a.attnotnull OR t.typnotnull))::text,
         pg_catalog.col_description(c.oid, a.attnum),
         pg_catalog.array_position(pk.indkey::int2[], a.attnum)::text,
         fk.nspname, fk.relname, fk.attname
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    JOIN pg_catalog.pg_type b ON b.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_catalog.pg_index pk ON pk.indrelid = c.oid AND pk.indisprimary
    LEFT JOIN LATERAL (
      SELECT rn.nspname, r.relname, ra.attname
        FROM pg_catalog.pg_constraint k
        JOIN pg_catalog.pg_class r ON r.oid = k.confrelid
        JOIN pg_catalog.pg_namespace rn ON rn.oid = r.relnamespace
        JOIN pg_catalog.pg_attribute ra
          ON ra.attrelid = r.oid AND ra.attnum = k.confkey[pg_catalog.array_position(k.conkey, a.attnum)]
       WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey)
       ORDER BY k.conname LIMIT 1) fk ON true
   WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
     AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
   ORDER BY a.attnum`;

/** The catalog itself is open to every login, whatever it may read of the tables. */
const STILL_THERE = `
  SELECT EXISTS (
           SELECT 1 FROM pg_catalog.pg_class c
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = m.schema_name AND c.relname = m.table_name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
              AND (m.column_name IS NULL OR EXISTS (
                SELECT 1 FROM pg_catalog.pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attname = m.column_name AND a.attnum > 0 AND NOT a.attisdropped)))::text
    FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (schema_name text, table_name text, column_name text))
         WITH ORDINALITY AS m(schema_name, table_name, column_name, place)
   ORDER BY m.place`;

const HIDES_COLUMNS = `
  SELECT EXISTS (
    SELECT 1 FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname = $1 AND c.relname = $2 AND NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))::text`;

const textArray = (names: readonly string[]): string =>
  `{${names.map((name) => `"${name.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

export const postgresIntrospection = schemaIntrospection({
  schemas: (include, limit) => ({ sql: SCHEMAS, values: [textArray(include), limit] }),
  tables: ({ schema, include, name }, limit) => ({
    sql: TABLES,
    values: [textArray(include), schema, limit, name ?? null],
  }),
  currentSchema: 'SELECT pg_catalog.current_schema()::text',

  async columns(query, { namespace, name: table }) {
    const rows = await query(COLUMNS, [namespace[0], table]);
    return rows.map(
      ([
        name,
        sourceType,
        oid,
        typmod,
        printed,
        nullable,
        remarks,
        position,
        refSchema,
        refTable,
        refColumn,
      ]): CatalogColumn => ({
        name: name ?? '',
        sourceType: sourceType ?? '',
        mapped: mapPostgresType(Number(oid), Number(typmod), printed === 'true'),
        nullable: nullable === 'true',
        remarks: remarks ?? null,
        primaryKey: position == null ? null : Number(position) + 1,
        references: referenceTo(refSchema, refTable, refColumn),
      }),
    );
  },

  async mayHold(query, names) {
    const asked = names.map(({ namespace, name, column }) => ({
      schema_name: namespace[0] ?? null,
      table_name: name,
      column_name: column,
    }));
    return (await query(STILL_THERE, [writeJson(asked)])).map(([there]) => there === 'true');
  },

  async hidesColumns(query, { namespace, name }) {
    const [row] = await query(HIDES_COLUMNS, [namespace[0], name]);
    return row?.[0] === 'true';
  },
});
