import type { CatalogQuery, CatalogTable } from '../../introspection/introspection.js';
import {
  countOf,
  indexesOf,
  sizeOf,
  type ColumnStatistics,
  type IndexStatistics,
  type StatisticsReading,
} from '../../statistics/statistics.js';
import { storedText } from './stored-value.js';

/** `last_analyzed` is in the server's own time, which SYSTIMESTAMP knows the zone of. */
const TABLE = `
  SELECT TO_CHAR(t.num_rows),
         TO_CHAR(SYS_EXTRACT_UTC(FROM_TZ(CAST(t.last_analyzed AS TIMESTAMP), TO_CHAR(SYSTIMESTAMP, 'TZH:TZM'))),
                 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    FROM all_tables t
   WHERE t.owner = :dp_1 AND t.table_name = :dp_2`;

/** One row per column, in order. A column whose name the engine made stands for an expression. */
const INDEXES = `
  SELECT i.index_name, i.uniqueness, CASE WHEN n.constraint_name IS NULL THEN 'N' ELSE 'Y' END, i.index_type,
         CASE WHEN c.column_name LIKE 'SYS\\_NC%' ESCAPE '\\' THEN NULL ELSE c.column_name END
    FROM all_indexes i
    JOIN all_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
    LEFT JOIN all_constraints n
      ON n.owner = i.table_owner AND n.table_name = i.table_name AND n.constraint_type = 'P' AND n.index_name = i.index_name
   WHERE i.table_owner = :dp_1 AND i.table_name = :dp_2 AND i.index_type <> 'LOB'
   ORDER BY CASE WHEN n.constraint_name IS NULL THEN 1 ELSE 0 END, i.index_name, c.column_position`;

const COLUMNS = `
  SELECT s.column_name, TO_CHAR(s.num_distinct), TO_CHAR(s.num_nulls), RAWTOHEX(s.low_value), RAWTOHEX(s.high_value),
         c.data_type
    FROM all_tab_col_statistics s
    JOIN all_tab_columns c ON c.owner = s.owner AND c.table_name = s.table_name AND c.column_name = s.column_name
   WHERE s.owner = :dp_1 AND s.table_name = :dp_2`;

/** From `all_tables`, `all_indexes` and `all_tab_col_statistics`; what nobody has analysed is unknown. */
export const oracleStatistics: StatisticsReading = async (query, table, columns) => {
  const address = [table.namespace[0], table.name];
  const [facts] = await query(TABLE, address);
  const rows = countOf(facts?.[0]);
  const known = new Map((await query(COLUMNS, address)).map((row) => [row[0] ?? '', row]));
  return {
    ...(facts?.[1] == null ? {} : { stats_as_of: facts[1] }),
    ...sizeOf(rows, 'all_tables'),
    indexes: await indexes(query, table),
    columns: columns.map(({ name }) => columnStatistics(name, rows, known.get(name))),
  };
};

async function indexes(query: CatalogQuery, { namespace, name }: CatalogTable): Promise<IndexStatistics[]> {
  const rows = await query(INDEXES, [namespace[0], name]);
  return indexesOf(
    rows.map(([index, uniqueness, primary, type, column]) => ({
      name: index ?? '',
      unique: uniqueness === 'UNIQUE',
      primary: primary === 'Y',
      kind: kindOf(type ?? ''),
      column: column ?? '(expression)',
    })),
  );
}

/** NORMAL is what others call a B-tree, also where it is over an expression. */
function kindOf(type: string): string {
  const kind = type.replace(/^FUNCTION-BASED /, '').toLowerCase();
  return kind === 'normal' ? 'btree' : kind;
}

function columnStatistics(
  name: string,
  rows: number | undefined,
  row: readonly (string | null)[] | undefined,
): ColumnStatistics {
  if (!row) return { name, distinct_is_ratio: false };
  const [, distinctText, nullText, low, high, type] = row;
  const [distinct, nulls] = [countOf(distinctText), countOf(nullText)];
  const [min, max] = [low, high].map((hex) =>
    hex == null ? undefined : storedText(type ?? '', Buffer.from(hex, 'hex')),
  );
  return {
    name,
    ...(distinct === undefined ? {} : { n_distinct: distinct }),
    distinct_is_ratio: false,
    ...(nulls === undefined || rows === undefined || rows === 0 ? {} : { null_fraction: Math.min(1, nulls / rows) }),
    ...(min === undefined || max === undefined ? {} : { min, max }),
  };
}
