import { mapMysqlCatalogType } from '#libs/typesystem';

import type { CatalogColumn, CatalogTable, Introspection } from '../../introspection/introspection.js';

const SYSTEM_SCHEMAS = ['information_schema', 'mysql', 'performance_schema', 'sys'];

const list = (names: readonly unknown[]): string => names.map(() => '?').join(', ');

/** Which system schemas stay hidden, once those shown by name are taken out. */
const hidden = (include: readonly string[]): string[] => SYSTEM_SCHEMAS.filter((name) => !include.includes(name));

const shown = (column: string, names: readonly string[]): string =>
  names.length === 0 ? 'TRUE' : `lower(${column}) NOT IN (${list(names)})`;

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

export const mysqlIntrospection: Introspection = {
  async schemas(query, include, limit) {
    const names = hidden(include);
    const rows = await query(
      `SELECT s.SCHEMA_NAME FROM information_schema.SCHEMATA s WHERE ${shown('s.SCHEMA_NAME', names)}
        ORDER BY s.SCHEMA_NAME LIMIT ?`,
      [...names, limit],
    );
    return rows.map(([name]) => [name ?? '']);
  },

  async tables(query, { namespace, include, name: table }, limit) {
    if (namespace !== null && namespace.length !== 1) return [];
    const names = hidden(include);
    const place = namespace === null ? [] : [namespace[0], namespace[0]];
    const named = table === undefined ? [] : [table, table];
    const sql = TABLES(namespace !== null, table !== undefined, names);
    const rows = await query(sql, [...names, ...place, ...named, limit]);
    return rows.map(([schema, name, type, remarks]): CatalogTable => ({
      namespace: [schema ?? ''],
      name: name ?? '',
      type: type ?? 'TABLE',
      remarks: remarks ?? null,
    }));
  },

  async columns(query, { namespace, name: table }) {
    const place = [namespace[0], table, namespace[0], table];
    const columns = await query(COLUMNS, place);
    const keys = await query(KEYS, place);
    return columns.map(([name, dataType, columnType, precision, scale, nullable, remarks]): CatalogColumn => {
      const own = keys.filter(([column]) => column === name);
      const primary = own.find(([, constraint]) => constraint === 'PRIMARY');
      const foreign = own.find(([, , , , refTable]) => refTable != null);
      return {
        name: name ?? '',
        sourceType: columnType ?? '',
        mapped: mapMysqlCatalogType({
          dataType: dataType ?? '',
          columnType: columnType ?? '',
          precision: precision == null ? null : Number(precision),
          scale: scale == null ? null : Number(scale),
        }),
        nullable: nullable === 'YES',
        remarks: remarks ?? null,
        primaryKey: primary ? Number(primary[2]) : null,
        references: foreign
          ? { namespace: [foreign[3] ?? ''], table: foreign[4] ?? '', column: foreign[5] ?? '' }
          : null,
      };
    });
  },

  /** The engine lists what a login may use: what is missing may be kept from it. */
  mayHold: (_query, names) => Promise.resolve(names.map(() => true)),

  async currentNamespace(query) {
    const [row] = await query('SELECT DATABASE()', []);
    return row?.[0] == null ? null : [row[0]];
  },
};
