import type { LakeFormat, LakeTable } from '../registry/lake-table.js';
import type { ScanSurroundings, TableResolver, TableScan } from './table-scan.js';

/** Sends each table to whoever can find its files. */
export class TableResolvers implements TableResolver {
  constructor(private readonly finders: Readonly<Record<LakeFormat, { file: TableResolver; s3: TableResolver }>>) {}

  async resolve(table: Pick<LakeTable, 'format' | 'location'>, surroundings: ScanSurroundings): Promise<TableScan> {
    const { file, s3 } = this.finders[table.format];
    return await (table.location.startsWith('file:') ? file : s3).resolve(table, surroundings);
  }
}
