import { countOf, indexesOf, sizeOf, unknownColumn, type StatisticsReading } from '../../statistics/statistics.js';

const TABLE = `
  SELECT CAST(t.row_count_estimate AS VARCHAR) FROM information_schema.tables t
   WHERE t.table_schema = CAST($1 AS VARCHAR) AND t.table_name = CAST($2 AS VARCHAR) AND t.table_type = 'BASE TABLE'`;

const INDEXES = `
  SELECT i.index_name, i.index_type_name, c.column_name
    FROM information_schema.indexes i
    JOIN information_schema.index_columns c
      ON c.index_schema = i.index_schema AND c.index_name = i.index_name AND c.table_schema = i.table_schema
     AND c.table_name = i.table_name
   WHERE i.table_schema = CAST($1 AS VARCHAR) AND i.table_name = CAST($2 AS VARCHAR)
   ORDER BY CASE i.index_type_name WHEN 'PRIMARY KEY' THEN 0 ELSE 1 END, i.index_name, c.ordinal_position`;

/** H2's selectivity of a column begins with a guess, so nothing is told of columns. */
export const h2Statistics: StatisticsReading = async (query, { namespace, name }, columns) => {
  const [facts] = await query(TABLE, [namespace[0], name]);
  const rows = countOf(facts?.[0]);
  const indexed = (await query(INDEXES, [namespace[0], name])).map(([index, type, column]) => {
    const primary = type === 'PRIMARY KEY';
    const unique = primary || (type ?? '').startsWith('UNIQUE');
    return { name: index ?? '', unique, primary, kind: kindOf(type), column: column ?? '' };
  });
  return {
    ...sizeOf(rows, 'h2_information_schema'),
    indexes: indexesOf(indexed),
    columns: columns.map(unknownColumn),
  };
};

function kindOf(type: string | null | undefined): string {
  return /SPATIAL|HASH/.exec(type ?? '')?.[0].toLowerCase() ?? 'btree';
}
