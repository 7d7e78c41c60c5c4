import { quoteIdentifier } from '#libs/typesystem';

import { literal, plainPath, TableProblem } from '../tables/table-scan.js';
import type { IcebergColumn, TableMetadata } from './table-metadata.js';

/** What one data file holds at its top level. */
export interface FileColumns {
  path: string;
  columns: readonly { name: string; id: number | null }[];
}

/** One query over all files: those with field ids by id, the others by the table's name mapping. */
export function icebergSql(metadata: TableMetadata, files: readonly FileColumns[]): string {
  const { columns, nameMapping, identityColumns } = metadata;
  const quoted = (name: string): string => quoteIdentifier('DUCKDB', name);
  if (files.length === 0)
    return `SELECT ${columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoted(name)}`).join(', ')} WHERE false`;
  const withIds: string[] = [];
  const parts: string[] = [];
  for (const file of files) {
    const ids = new Set(file.columns.flatMap(({ id }) => id ?? []));
    const named = ids.size === 0 ? sources(file, columns, nameMapping) : undefined;
    for (const { id, name } of columns) {
      if (identityColumns.has(id) && !(named ? named.has(id) : ids.has(id)))
        throw new TableProblem(
          `The partition column "${name}" is not in all data files, so its values cannot be read here.`,
        );
    }
    if (!named) {
      if (ids.size !== file.columns.length)
        throw new TableProblem('A data file has field ids for some of its columns only.');
      withIds.push(literal(plainPath(file.path)));
      continue;
    }
    const picked = columns.map(({ id, name, type }) => {
      const source = named.get(id);
      return `CAST(${source === undefined ? 'NULL' : quoted(source)} AS ${type}) AS ${quoted(name)}`;
    });
    parts.push(
      `SELECT ${picked.join(', ')} FROM read_parquet(${literal(plainPath(file.path))}, hive_partitioning = false)`,
    );
  }
  if (withIds.length > 0) {
    const schema = columns.map(
      ({ id, name, type }) => `${id}: {name: ${literal(name)}, type: ${literal(type)}, default_value: NULL}`,
    );
    parts.unshift(`SELECT * FROM read_parquet([${withIds.join(', ')}], schema = MAP {${schema.join(', ')}})`);
  }
  return parts.join(' UNION ALL ');
}

/** Which column of a file without ids stands for which field. */
function sources(
  file: FileColumns,
  columns: readonly IcebergColumn[],
  mapping: TableMetadata['nameMapping'],
): Map<number, string> {
  if (!mapping) throw new TableProblem('A data file has no field ids and the table has no name mapping.');
  const present = new Set(file.columns.map(({ name }) => name));
  return new Map(
    columns.flatMap(({ id }): [number, string][] => {
      const source = (mapping.get(id) ?? []).find((name) => present.has(name));
      return source === undefined ? [] : [[id, source]];
    }),
  );
}
