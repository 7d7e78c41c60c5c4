import { mapOracleCatalogType } from '#libs/typesystem';

import { hiddenSchemas, keysOf, numberOf, schemaIntrospection } from '../../introspection/schema-introspection.js';

const SYSTEM_SCHEMAS = [
  ...['SYS', 'SYSTEM', 'OUTLN', 'XDB', 'CTXSYS', 'MDSYS', 'ORDSYS', 'DBSNMP', 'WMSYS', 'AUDSYS', 'OLAPSYS', 'XS$NULL'],
];

const places = (count: number, first: number): string =>
  Array.from({ length: count }, (_place, index) => `:dp_${first + index}`).join(', ');

/** What the names of accounts are compared with, and the values for it. */
interface Shown {
  condition: string;
  values: readonly string[];
}

/** Accounts of APEX carry its version in their names; those shown by name are shown, and no others. */
function shown(column: string, first: number, include: readonly string[]): Shown {
  const names = hiddenSchemas(SYSTEM_SCHEMAS, include);
  const apex = include.filter((name) => name.startsWith('apex_')).map((name) => name.toUpperCase());
  const named = apex.length === 0 ? '' : ` OR UPPER(${column}) IN (${places(apex.length, first + names.length)})`;
  const system = names.length === 0 ? '' : `UPPER(${column}) NOT IN (${places(names.length, first)}) AND `;
  return {
    condition: `${system}(UPPER(${column}) NOT LIKE 'APEX\\_%' ESCAPE '\\'${named})`,
    values: [...names, ...apex],
  };
}

const SCHEMAS = (condition: string): string => `
  SELECT * FROM (SELECT u.username FROM all_users u WHERE ${condition} ORDER BY u.username) WHERE ROWNUM <= :dp_1`;

const TABLES = (condition: string): string => `
  SELECT * FROM (
    SELECT o.owner, o.name, o.kind, c.comments
      FROM (SELECT t.owner, t.table_name AS name, 'TABLE' AS kind FROM all_tables t
             WHERE t.nested = 'NO' AND t.table_name NOT LIKE 'BIN$%'
             UNION ALL
            SELECT v.owner, v.view_name, 'VIEW' FROM all_views v) o
      LEFT JOIN all_tab_comments c ON c.owner = o.owner AND c.table_name = o.name
     WHERE ${condition}
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

export const oracleIntrospection = schemaIntrospection({
  filtersByRights: true,

  schemas(include, limit) {
    const { condition, values } = shown('u.username', 2, include);
    return { sql: SCHEMAS(condition), values: [limit, ...values] };
  },

  tables({ schema, include, name }, limit) {
    const exactly = [
      ...(schema === null ? [] : [['o.owner', schema]]),
      ...(name === undefined ? [] : [['o.name', name]]),
    ];
    const { condition, values } = shown('o.owner', 2 + exactly.length, include);
    const conditions = [...exactly.map(([column], index) => `${column} = :dp_${2 + index}`), condition];
    return { sql: TABLES(conditions.join(' AND ')), values: [limit, ...exactly.map(([, value]) => value), ...values] };
  },

  currentSchema: `SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM dual`,

  async columns(query, { namespace, name: table }) {
    const columns = await query(COLUMNS, [namespace[0], table]);
    const keyOf = keysOf(await query(KEYS, [namespace[0], table]), (kind) => kind === 'P');
    return columns.map(([name, type, precision, scale, length, nullable, remarks]) => ({
      name: name ?? '',
      sourceType: sourceTypeOf(type ?? '', precision, scale, length),
      mapped: mapOracleCatalogType({ type: type ?? '', precision: numberOf(precision), scale: numberOf(scale) }),
      nullable: nullable === 'Y',
      remarks: remarks ?? null,
      ...keyOf(name),
    }));
  },
});

type Cell = string | null | undefined;

function sourceTypeOf(type: string, precision: Cell, scale: Cell, length: Cell): string {
  if (type === 'NUMBER' && precision != null) return `NUMBER(${precision},${scale ?? '0'})`;
  return /^N?(?:VAR)?CHAR2?$/.test(type) && length != null ? `${type}(${length})` : type;
}
