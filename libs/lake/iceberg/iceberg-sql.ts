import { literal, plainPath, TableProblem } from '../tables/table-scan.js';
import { columnExpression } from './column-expression.js';
import { identified, type DataFile } from './data-file.js';
import { engineType, quoted } from './engine-type.js';
import type { TableMetadata } from './table-metadata.js';

/** One query over all files, each kind of file with its own way to the table's columns. */
export function icebergSql(metadata: TableMetadata, files: readonly DataFile[]): string {
  const { columns } = metadata;
  if (files.length === 0)
    return `SELECT ${columns.map(({ name, type }) => `CAST(NULL AS ${engineType(type)}) AS ${quoted(name)}`).join(', ')} WHERE false`;
  const alike = Map.groupBy(files, ({ fields }) => JSON.stringify(fields));
  return [...alike.values()].map((group) => groupSql(metadata, group)).join(' UNION ALL ');
}

function groupSql({ columns, nameMapping, identityColumns }: TableMetadata, files: readonly DataFile[]): string {
  const stored = identified(files[0] as DataFile, nameMapping);
  for (const { id, name } of columns) {
    if (identityColumns.has(id) && !stored.some((field) => field.id === id))
      throw new TableProblem(
        `The partition column "${name}" is not in all data files, so its values cannot be read here.`,
      );
  }
  const picked = columns.map((column) => `${columnExpression(column, stored)} AS ${quoted(column.name)}`);
  const paths = files.map(({ path }) => literal(plainPath(path)));
  return `SELECT ${picked.join(', ')} FROM read_parquet([${paths.join(', ')}], hive_partitioning = false)`;
}
