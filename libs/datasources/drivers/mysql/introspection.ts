import { mapMysqlCatalogType } from '#libs/typesystem';

import { hiddenSchemas, keysOf, numberOf, schemaIntrospection } from '../../introspection/schema-introspection.js';

const SYSTEM_SCHEMAS = ['information_schema', 'mysql', 'performance_schema', 'sys'];

const list = (names: readonly unknown[]): string => names.map(() => '?').join(', ');

const shown = (column: string, names: readonly string[]): string =>
  names.length === 0 ? 'TRUE' : `lower(${column}) NOT IN (${list(names)})`;

const SCHEMAS = (names: readonly string[]): string => `
  SELECT s.SCHEMA_NAME FROM information_schema.SCHEMATA s WHERE ${shown('s.SCHEMA_NAME', names)}
   ORDER BY s.SCHEMA_NAME LIMIT ?`;

/** Comments: a view's is the word VIEW, and none is an empty text. Names compare letter by letter. */
const TABLES = (namespaced: boolean, named: boolean, names: readonly string[]): string => `
  SELECT t.TABLE_SCHEMA, t.TABLE_NAME, IF(t.TABLE_TYPE LIKE '%VIEW', 'VIEW', 'TABLE'),
         IF(t.TABLE_TYPE LIKE '%VIEW', NULL, NULLIF(t.TABLE_COMMENT, ''))
    FROM information_schema.TABLES t
   WHERE t.TABLE_TYPE <> 'SEQUENCE' AND ${shown('t.TABLE_SCHEMA', names)}
     ${namespaced ? 'AND t.TABLE_SCHEMA = ? AND BINARY t.TABLE_SCHEMA = ?' : ''}
     ${named ? 'AND t.TABLE_NAME = ? AND BINARY t.TABLE_NAME = ?' : ''}
   ORDER BY t.TABLE_SCHEMA, t.TABLE_NAME
   LIMIT ?`;

const COLUMNS = `
  SELECT c.COLUMN_NAME, c.DATA_TYPE, c.COLUMN_TYPE, c.NUMERIC_PRECISION, c.NUMERIC_SCALE, c.IS_NULLABLE,
         NULLIF(c.COLUMN_COMMENT, '')
    FROM information_schema.COLUMNS c
   WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? AND BINARY c.TABLE_SCHEMA = ? AND BINARY c.TABLE_NAME = ?
   ORDER BY c.ORDINAL_POSITION`;

const KEYS = `
  SELECT k.COLUMN_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME,
         k.REFERENCED_COLUMN_NAME
    FROM information_schema.KEY_COLUMN_USAGE k
   WHERE k.TABLE_SCHEMA = ? AND k.TABLE_NAME = ? AND BINARY k.TABLE_SCHEMA = ? AND BINARY k.TABLE_NAME = ?
     AND (k.CONSTRAINT_NAME = 'PRIMARY' OR k.REFERENCED_TABLE_NAME IS NOT NULL)
   ORDER BY k.CONSTRAINT_NAME, k.ORDINAL_POSITION`;

export const mysqlIntrospection = schemaIntrospection({
  filtersByRights: true,

  schemas(include, limit) {
    const names = hiddenSchemas(SYSTEM_SCHEMAS, include);
    return { sql: SCHEMAS(names), values: [...names, limit] };
  },

  tables({ schema, include, name }, limit) {
    const names = hiddenSchemas(SYSTEM_SCHEMAS, include);
    const place = schema === null ? [] : [schema, schema];
    const named = name === undefined ? [] : [name, name];
    const sql = TABLES(schema !== null, name !== undefined, names);
    return { sql, values: [...names, ...place, ...named, limit] };
  },

  currentSchema: 'SELECT DATABASE()',

  async columns(query, { namespace, name: table }) {
    const place = [namespace[0], table, namespace[0], table];
    const columns = await query(COLUMNS, place);
    const keyOf = keysOf(await query(KEYS, place), (constraint) => constraint === 'PRIMARY');
    return columns.map(([name, dataType, columnType, precision, scale, nullable, remarks]) => ({
      name: name ?? '',
      sourceType: columnType ?? '',
      mapped: mapMysqlCatalogType({
        dataType: dataType ?? '',
        columnType: columnType ?? '',
        precision: numberOf(precision),
        scale: numberOf(scale),
      }),
      nullable: nullable === 'YES',
      remarks: remarks ?? null,
      ...keyOf(name),
    }));
  },
});
