import { mapOracleCatalogType } from '#libs/typesystem';

import type { CatalogColumn, CatalogTable, Introspection } from '../../introspection/introspection.js';

const SYSTEM_SCHEMAS = [
  ...['SYS', 'SYSTEM', 'OUTLN', 'XDB', 'CTXSYS', 'MDSYS', 'ORDSYS', 'DBSNMP', 'WMSYS', 'AUDSYS', 'OLAPSYS', 'XS$NULL'],
];

const hidden = (include: readonly string[]): string[] =>
  SYSTEM_SCHEMAS.filter((name) => !include.includes(name.toLowerCase()));

/** Accounts of APEX carry its version in their name. */
const shown = (column: string, names: readonly string[], first: number, include: readonly string[]): string => {
  const listed = names.map((_name, index) => `:dp_${first + index}`).join(', ');
  const apex = include.some((name) => name.startsWith('apex_'))
    ? []
    : [`UPPER(${column}) NOT LIKE 'APEX\\_%' ESCAPE '\\'`];
  return [...(names.length === 0 ? [] : [`UPPER(${column}) NOT IN (${listed})`]), ...apex, '1 = 1'].join(' AND ');
};

const TABLES = (namespaced: boolean, named: boolean, names: readonly string[], include: readonly string[]): string => `
  SELECT * FROM (
    SELECT o.owner, o.name, o.kind, c.comments
      FROM (SELECT t.owner, t.table_name AS name, 'TABLE' AS kind FROM all_tables t
             WHERE t.nested = 'NO' AND t.table_name NOT LIKE 'BIN$%'
             UNION ALL
            SELECT v.owner, v.view_name, 'VIEW' FROM all_views v) o
      LEFT JOIN all_tab_comments c ON c.owner = o.owner AND c.table_name = o.name
     WHERE ${shown('o.owner', names, namespaced ? 3 : 2, include)} ${namespaced ? 'AND o.owner = :dp_2' : ''}
           ${named ? `AND o.name = :dp_${names.length + (namespaced ? 3 : 2)}` : ''}
     ORDER BY o.owner, o.name)
   WHERE ROWNUM <= :dp_1`;

const COLUMNS = `
  SELECT c.column_name, c.data_type, c.data_precision, c.data_scale, c.char_length, c.nullable, m.comments
    FROM all_tab_columns c
    LEFT JOIN all_col_comments m
      ON m.owner = c.owner AND m.table_name = c.table_name AND m.column_name = c.column_name
   WHERE c.owner = :dp_1 AND c.table_name = :dp_2
   ORDER BY c.column_id`;

const KEYS = `
  SELECT k.column_name, n.constraint_type, k.position, r.owner, r.table_name, r.column_name
    FROM all_constraints n
    JOIN all_cons_columns k ON k.owner = n.owner AND k.constraint_name = n.constraint_name
    LEFT JOIN all_cons_columns r
      ON r.owner = n.r_owner AND r.constraint_name = n.r_constraint_name AND r.position = k.position
   WHERE n.owner = :dp_1 AND n.table_name = :dp_2 AND n.constraint_type IN ('P', 'R')
   ORDER BY n.constraint_name, k.position`;

export const oracleIntrospection: Introspection = {
  async schemas(query, include, limit) {
    const names = hidden(include);
    const rows = await query(
      `SELECT * FROM (SELECT u.username FROM all_users u WHERE ${shown('u.username', names, 2, include)} ORDER BY u.username)
        WHERE ROWNUM <= :dp_1`,
      [limit, ...names],
    );
    return rows.map(([name]) => [name ?? '']);
  },

  async tables(query, { namespace, include, name: table }, limit) {
    if (namespace !== null && namespace.length !== 1) return [];
    const names = hidden(include);
    const place = namespace === null ? [] : [namespace[0]];
    const named = table === undefined ? [] : [table];
    const sql = TABLES(namespace !== null, table !== undefined, names, include);
    const rows = await query(sql, [limit, ...place, ...names, ...named]);
    return rows.map(([owner, name, type, remarks]): CatalogTable => ({
      namespace: [owner ?? ''],
      name: name ?? '',
      type: type ?? 'TABLE',
      remarks: remarks ?? null,
    }));
  },

  async columns(query, { namespace, name: table }) {
    const columns = await query(COLUMNS, [namespace[0], table]);
    const keys = await query(KEYS, [namespace[0], table]);
    return columns.map(([name, type, precision, scale, length, nullable, remarks]): CatalogColumn => {
      const own = keys.filter(([column]) => column === name);
      const primary = own.find(([, kind]) => kind === 'P');
      const foreign = own.find(([, kind, , , refTable]) => kind === 'R' && refTable != null);
      return {
        name: name ?? '',
        sourceType: sourceTypeOf(type ?? '', precision, scale, length),
        mapped: mapOracleCatalogType({
          type: type ?? '',
          precision: precision == null ? null : Number(precision),
          scale: scale == null ? null : Number(scale),
        }),
        nullable: nullable === 'Y',
        remarks: remarks ?? null,
        primaryKey: primary ? Number(primary[2]) : null,
        references: foreign
          ? { namespace: [foreign[3] ?? ''], table: foreign[4] ?? '', column: foreign[5] ?? '' }
          : null,
      };
    });
  },

  /** The catalogue shows what the login has rights to: a name that it does not list proves nothing. */
  mayHold: (_query, names) => Promise.resolve(names.map(() => true)),

  async currentNamespace(query) {
    const [row] = await query(`SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM dual`, []);
    return row?.[0] == null ? null : [row[0]];
  },
};

type Cell = string | null | undefined;

function sourceTypeOf(type: string, precision: Cell, scale: Cell, length: Cell): string {
  if (type === 'NUMBER' && precision != null) return `NUMBER(${precision},${scale ?? '0'})`;
  return /^N?(?:VAR)?CHAR2?$/.test(type) && length != null ? `${type}(${length})` : type;
}
