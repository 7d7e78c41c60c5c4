import { mapSqliteDeclaredType } from '#libs/typesystem';

import type { CatalogColumn, CatalogTable, Introspection } from '../../introspection/introspection.js';

const TABLES = `
  SELECT name, CASE type WHEN 'view' THEN 'VIEW' ELSE 'TABLE' END FROM sqlite_schema
   WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND (?1 IS NULL OR name = ?1)
   ORDER BY name LIMIT ?2`;

/** Virtual tables hide columns of their own (hidden = 1); generated columns are ordinary ones to a reader. */
const COLUMNS = `
  SELECT c.name, c.type, c."notnull", c.pk, f."table", f."to"
    FROM pragma_table_xinfo(?) c
    LEFT JOIN pragma_foreign_key_list(?) f ON f."from" = c.name
   WHERE c.hidden <> 1 GROUP BY c.cid ORDER BY c.cid`;

export const sqliteIntrospection: Introspection = {
  schemas: () => Promise.resolve([]),

  async tables(query, { namespace, name: table }, limit) {
    if (namespace !== null && namespace.length > 0) return [];
    const rows = await query(TABLES, [table ?? null, limit]);
    return rows.map(([name, type]): CatalogTable => ({
      namespace: [],
      name: name ?? '',
      type: type ?? 'TABLE',
      remarks: null,
    }));
  },

  async columns(query, { name: table }) {
    const rows = await query(COLUMNS, [table, table]);
    return rows.map(([name, declared, notNull, position, refTable, refColumn]): CatalogColumn => ({
      name: name ?? '',
      sourceType: declared ?? '',
      mapped: mapSqliteDeclaredType(declared),
      nullable: notNull === '0',
      remarks: null,
      primaryKey: position === '0' || position == null ? null : Number(position),
      references: refTable == null ? null : { namespace: [], table: refTable, column: refColumn ?? '' },
    }));
  },

  currentNamespace: () => Promise.resolve([]),
};
