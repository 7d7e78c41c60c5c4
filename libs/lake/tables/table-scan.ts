import type { LakeTable } from '../registry/lake-table.js';

/** How the engine reads one table, and what it must be allowed to open for that. */
export interface TableScan {
  /** A query over the table's files. */
  sql: string;
  /** The files as an argument of `parquet_metadata`: a text literal, or a list of them. */
  files: string;
  /** What the table's own metadata counts, for tables that keep such counts. */
  statistics?: { rows: string; columns: readonly { name: string; nulls: string }[] };
  directories: readonly string[];
  paths: readonly string[];
  /** The engine fetches the files itself, each over the network. */
  isRemote?: boolean;
  /** Called once no engine needs the files any more. */
  release?(): void;
}

/** What finding a table's files may use. */
export interface ScanSurroundings {
  signal: AbortSignal;
  /** A query on the engine while it is still open to the outside; rows of text cells. */
  query(sql: string): Promise<(string | null)[][]>;
}

/** Finds the files of tables of one kind. @throws {@link TableProblem} */
export interface TableResolver {
  resolve(table: Pick<LakeTable, 'format' | 'location'>, surroundings: ScanSurroundings): Promise<TableScan>;
}

/** Why a table cannot be read, in words for whoever registered it. */
export class TableProblem extends Error {
  override readonly name = 'TableProblem';
}

/** A text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path that names one file, however its characters would read as a pattern. */
export function plainPath(path: string): string {
  return path.replace(/[*?[]/g, '[$&]');
}
