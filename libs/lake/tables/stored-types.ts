import { TableProblem, type ScanSurroundings } from './table-scan.js';

/** The files of one table, for what is judged of every one of them. */
export interface JudgedFiles {
  /** As an argument of `parquet_schema`: a text literal, or a list of them. */
  files: string;
  /** What whoever registered the table calls the file of a path. */
  nameOf(path: string): string;
}

/**
 * Parquet names the type of a column twice: by the older "converted" types and by the logical ones. The engine goes by
 * the older alone, so of a column that has only the newer it would give what is stored: a DECIMAL without its point, a
 * text as bytes. Each file has its own footer, so one file of another writer is enough; all of them are looked at.
 *
 * @throws TableProblem naming the first such file and column
 */
export async function refuseUnseenTypes({ files, nameOf }: JudgedFiles, { query }: ScanSurroundings): Promise<void> {
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
