import type { LakeTable } from '../registry/lake-table.js';
import { TableProblem, type ScanSurroundings, type TableResolver, type TableScan } from './table-scan.js';

/** Sends each table to whoever can find its files. */
export class TableResolvers implements TableResolver {
  constructor(
    private readonly parquet: { file: TableResolver; s3: TableResolver },
    private readonly iceberg: { file: TableResolver },
  ) {}

  async resolve(table: Pick<LakeTable, 'format' | 'location'>, surroundings: ScanSurroundings): Promise<TableScan> {
    if (table.format === 'parquet' && table.location.startsWith('file:'))
      return await this.parquet.file.resolve(table, surroundings);
    if (table.format === 'parquet' && /^s3[an]?:/.test(table.location))
      return await this.parquet.s3.resolve(table, surroundings);
    if (table.format === 'iceberg' && table.location.startsWith('file:'))
      return await this.iceberg.file.resolve(table, surroundings);
    throw new TableProblem('Iceberg tables are read from file:// locations only.');
  }
}
