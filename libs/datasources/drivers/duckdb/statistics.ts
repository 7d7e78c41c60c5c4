import { readJson } from '#libs/kernel';

import {
  countOf,
  sizeOf,
  unknownColumn,
  type IndexStatistics,
  type StatisticsReading,
} from '../../statistics/statistics.js';

const TABLE = `
  SELECT CAST(estimated_size AS VARCHAR) FROM duckdb_tables()
   WHERE database_name = current_database() AND schema_name = CAST($1 AS VARCHAR) AND table_name = CAST($2 AS VARCHAR)`;

/** The engine lists its own indexes and those behind keys apart. `expressions` is a list in the engine's own text form. */
const INDEXES = `
  SELECT index_name, CAST(is_unique AS VARCHAR), CAST(is_primary AS VARCHAR),
         to_json(CAST(expressions AS VARCHAR[])) FROM duckdb_indexes()
   WHERE database_name = current_database() AND schema_name = CAST($1 AS VARCHAR) AND table_name = CAST($2 AS VARCHAR)
   ORDER BY index_name`;
const KEYS = `
  SELECT constraint_name, 'true', CAST(constraint_type = 'PRIMARY KEY' AS VARCHAR), to_json(constraint_column_names)
    FROM duckdb_constraints()
   WHERE database_name = current_database() AND schema_name = CAST($1 AS VARCHAR) AND table_name = CAST($2 AS VARCHAR)
     AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
   ORDER BY constraint_type, constraint_index`;

/** The engine tells the size of a table; of its columns it tells nothing without reading them. */
export const duckdbStatistics: StatisticsReading = async (query, { namespace, name }, columns) => {
  const address = [namespace[0], name];
  const [size] = await query(TABLE, address);
  const rows = countOf(size?.[0]);
  const found = [...(await query(KEYS, address)), ...(await query(INDEXES, address))];
  return {
    ...sizeOf(rows, 'duckdb_tables'),
    indexes: found.map(([index, unique, primary, expressions]): IndexStatistics => ({
      name: index ?? '',
      columns: (readJson(expressions ?? '[]') as string[]).map(unquoted),
      unique: unique === 'true',
      primary: primary === 'true',
      kind: 'art',
    })),
    columns: columns.map(unknownColumn),
  };
};

/** `"odd,name"` is a column, `(a + 1)` an expression. */
function unquoted(text: string): string {
  return /^"(?:[^"]|"")*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text;
}
