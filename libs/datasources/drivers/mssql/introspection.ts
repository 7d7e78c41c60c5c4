import { mapMssqlCatalogType } from '#libs/typesystem';

import type { CatalogColumn } from '../../introspection/introspection.js';
import { hiddenSchemas, numberOf, referenceTo, schemaIntrospection } from '../../introspection/schema-introspection.js';

const SYSTEM_SCHEMAS = [
  ...['sys', 'guest', 'information_schema', 'db_owner', 'db_accessadmin', 'db_securityadmin', 'db_ddladmin'],
  ...['db_backupoperator', 'db_datareader', 'db_datawriter', 'db_denydatareader', 'db_denydatawriter'],
];

/** Placeholders from the n-th on; a name compares letter by letter whatever the database's collation says. */
const listed = (names: readonly string[], first: number): string =>
  names.map((_name, index) => `@dp_${first + index}`).join(', ');
const EXACTLY = 'COLLATE Latin1_General_100_BIN2';

const shown = (column: string, names: readonly string[], first: number): string =>
  names.length === 0 ? '1 = 1' : `LOWER(${column}) NOT IN (${listed(names, first)})`;

const COMMENT = (major: string, minor: string): string => `
  (SELECT TOP (1) CAST(p.value AS nvarchar(4000)) FROM sys.extended_properties p
    WHERE p.class = 1 AND p.major_id = ${major} AND p.minor_id = ${minor} AND p.name = N'MS_Description')`;

const TABLES = (namespaced: boolean, named: boolean, names: readonly string[]): string => `
  SELECT TOP (@dp_1) s.name, o.name, CASE o.type WHEN 'V' THEN 'VIEW' ELSE 'TABLE' END, ${COMMENT('o.object_id', '0')}
    FROM sys.objects o
    JOIN sys.schemas s ON s.schema_id = o.schema_id
   WHERE o.type IN ('U', 'V') AND ${shown('s.name', names, namespaced ? 3 : 2)}
     ${namespaced ? `AND s.name ${EXACTLY} = @dp_2` : ''}
     ${named ? `AND o.name ${EXACTLY} = @dp_${names.length + (namespaced ? 3 : 2)}` : ''}
   ORDER BY s.name, o.name`;

const COLUMNS = `
  SELECT c.name, t.name, c.precision, c.scale, c.max_length, c.is_nullable, ${COMMENT('c.object_id', 'c.column_id')},
         k.key_ordinal, rs.name, ro.name, rc.name
    FROM sys.objects o
    JOIN sys.schemas s ON s.schema_id = o.schema_id
    JOIN sys.columns c ON c.object_id = o.object_id
    JOIN sys.types t ON t.user_type_id = COALESCE(NULLIF(c.system_type_id, 240), c.user_type_id)
    LEFT JOIN sys.indexes i ON i.object_id = o.object_id AND i.is_primary_key = 1
    LEFT JOIN sys.index_columns k
      ON k.object_id = o.object_id AND k.index_id = i.index_id AND k.column_id = c.column_id
    OUTER APPLY (
      SELECT TOP (1) f.referenced_object_id, f.referenced_column_id FROM sys.foreign_key_columns f
       WHERE f.parent_object_id = o.object_id AND f.parent_column_id = c.column_id ORDER BY f.constraint_object_id) f
    LEFT JOIN sys.objects ro ON ro.object_id = f.referenced_object_id
    LEFT JOIN sys.schemas rs ON rs.schema_id = ro.schema_id
    LEFT JOIN sys.columns rc ON rc.object_id = f.referenced_object_id AND rc.column_id = f.referenced_column_id
   WHERE o.type IN ('U', 'V') AND s.name ${EXACTLY} = @dp_1 AND o.name ${EXACTLY} = @dp_2
   ORDER BY c.column_id`;

const SCHEMAS = (names: readonly string[]): string =>
  `SELECT TOP (@dp_1) s.name FROM sys.schemas s WHERE ${shown('s.name', names, 2)} ORDER BY s.name`;

export const mssqlIntrospection = schemaIntrospection({
  filtersByRights: true,

  schemas(include, limit) {
    const names = hiddenSchemas(SYSTEM_SCHEMAS, include);
    return { sql: SCHEMAS(names), values: [limit, ...names] };
  },

  tables({ schema, include, name }, limit) {
    const names = hiddenSchemas(SYSTEM_SCHEMAS, include);
    const place = schema === null ? [] : [schema];
    const named = name === undefined ? [] : [name];
    const sql = TABLES(schema !== null, name !== undefined, names);
    return { sql, values: [limit, ...place, ...names, ...named] };
  },

  currentSchema: 'SELECT SCHEMA_NAME()',

  async columns(query, { namespace, name: table }) {
    const rows = await query(COLUMNS, [namespace[0], table]);
    return rows.map(
      ([
        name,
        type,
        precision,
        scale,
        length,
        nullable,
        remarks,
        key,
        refSchema,
        refTable,
        refColumn,
      ]): CatalogColumn => ({
        name: name ?? '',
        sourceType: sourceTypeOf(type ?? '', Number(precision), Number(scale), Number(length)),
        mapped: mapMssqlCatalogType({ dataType: type ?? '', precision: Number(precision), scale: Number(scale) }),
        nullable: nullable === 'true' || nullable === '1',
        remarks: remarks ?? null,
        primaryKey: numberOf(key),
        references: referenceTo(refSchema, refTable, refColumn),
      }),
    );
  },
});

/** The type as it was declared; −1 bytes stand for `max`, and a Unicode character takes two. */
function sourceTypeOf(type: string, precision: number, scale: number, length: number): string {
  if (type === 'decimal' || type === 'numeric') return `${type}(${precision},${scale})`;
  if (/^(?:time|datetime2|datetimeoffset)$/.test(type)) return `${type}(${scale})`;
  if (!/^(?:n?(?:var)?char|(?:var)?binary)$/.test(type)) return type;
  const characters = type.startsWith('n') ? length / 2 : length;
  return `${type}(${length === -1 ? 'max' : characters})`;
}
