import { FOOTER_COLUMNS, readFooters } from './footer-node.js';
import type { JudgedBefore } from './judged-before.js';
import { misfitOf } from './like-columns.js';
import { refuseUnseenTypes } from './stored-types.js';
import { partitionNames } from './partition-values.js';
import { literal, plainPath, TableProblem, type ScanSurroundings } from './table-scan.js';

/** The files of one table, each of which has a footer of its own. */
export interface JudgedFiles {
  /** As an argument of `parquet_schema`: a text literal, or a list of them. */
  files: string;
  /** The one whose columns the engine gives the table. */
  first: string;
  /** Names the files and their content. */
  set: string;
  /** What whoever registered the table calls the file of a path. */
  nameOf(path: string): string;
}

/** Footers that say the same are read here once; this many that differ are no table. */
const MOST_KINDS = 200;
const MOST_COLUMNS = 100_000;

/**
 * Looks at the footer of every file, unless these files were found alike before. The engine would read the files by the columns of the first and by the older of
 * two type names: rounded, without a decimal point, or not before a query fails.
 *
 * @throws TableProblem naming the first file and column that could come out wrong
 */
export async function judgeFooters(
  judged: JudgedFiles,
  before: JudgedBefore,
  surroundings: ScanSurroundings,
): Promise<void> {
  if (before.has(judged.set)) return;
  await judge(judged, surroundings);
  before.remember(judged.set);
}

async function judge({ files, first, nameOf }: JudgedFiles, surroundings: ScanSurroundings): Promise<void> {
  const { query } = surroundings;
  const kinds = await query(
    `SELECT min(file_name), count(*) FILTER (WHERE file_name = ${literal(first)}) FROM (
       SELECT file_name, sum(hash(column_id, name, num_children, repetition_type, converted_type, logical_type, duckdb_type)) AS kind
         FROM parquet_schema(${files}) GROUP BY file_name)
      GROUP BY kind ORDER BY 1 LIMIT ${MOST_KINDS + 1}`,
  );
  if (kinds.length > MOST_KINDS) throw tooDifferent();
  const samples = `[${kinds.map(([path]) => literal(plainPath(path ?? ''))).join(', ')}]`;
  await refuseUnseenTypes({ files: samples, nameOf }, surroundings);
  if (kinds.length < 2) return;
  const rows = await query(
    `SELECT ${FOOTER_COLUMNS} FROM parquet_schema(${samples}) ORDER BY file_name, column_id LIMIT ${MOST_COLUMNS + 1}`,
  );
  if (rows.length > MOST_COLUMNS) throw tooDifferent();
  const footers = readFooters(rows);
  const table = footers.get(kinds.find(([, isFirst]) => isFirst === '1')?.[0] ?? '');
  if (!table) throw new TableProblem('The files changed while they were looked at.');
  const partitions = new Set(partitionNames(first).map((name) => name.toLowerCase()));
  for (const [path, footer] of footers) {
    const misfit = misfitOf(table, footer, partitions);
    if (!misfit) continue;
    const { column, stored, read } = misfit;
    throw new TableProblem(
      stored === undefined
        ? `The file "${nameOf(path)}" has no column "${column}", which "${nameOf(first)}" has; put files of other columns into a table of their own.`
        : `In the file "${nameOf(path)}" the column "${column}" is ${stored} and would be read as ${read}, as "${nameOf(first)}" has it, which can change its values; write both with one type.`,
    );
  }
}

function tooDifferent(): TableProblem {
  return new TableProblem(
    `The files have more than ${MOST_KINDS} different sets of columns, or sets too large to compare; make them several tables.`,
  );
}
