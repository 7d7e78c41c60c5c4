import { TableProblem, type ScanSurroundings } from './table-scan.js';

/**
 * Parquet names the type of a column twice: by the older "converted" types and by the logical ones. The engine goes by
 * the older alone, so of a column that has only the newer it would give what is stored: a DECIMAL without its point, a
 * text as bytes. One file of another writer is enough for that.
 *
 * @throws TableProblem naming the first such file and column
 */
export async function refuseUnseenTypes(
  { files, nameOf }: { files: string; nameOf(path: string): string },
  { query }: ScanSurroundings,
): Promise<void> {
  const [column] = await query(
    `SELECT file_name, name, logical_type, duckdb_type FROM parquet_schema(${files})
      WHERE converted_type IS NULL AND num_children IS NULL
        AND ((regexp_matches(logical_type, '^(String|Enum|Json)Type') AND duckdb_type = 'BLOB')
          OR (starts_with(logical_type, 'DecimalType') AND NOT starts_with(duckdb_type, 'DECIMAL'))
          OR (starts_with(logical_type, 'DateType') AND duckdb_type <> 'DATE')
          OR (regexp_matches(logical_type, '^IntType.*isSigned=0') AND NOT starts_with(duckdb_type, 'U')))
      LIMIT 1`,
  );
  if (!column) return;
  const [file, name, logical, read] = column;
  throw new TableProblem(
    `In the file "${nameOf(file ?? '')}" the column "${name}" is a ${logical?.replace(/Type.*$/s, '') ?? ''} by its logical type alone and would be read as ${read}; write the file with the converted types too.`,
  );
}
