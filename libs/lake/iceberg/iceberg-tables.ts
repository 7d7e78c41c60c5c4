import { literal, plainPath, type ScanSurroundings, type TableResolver, type TableScan } from '../tables/table-scan.js';
import { readDataFiles } from './data-file.js';
import { icebergSql } from './iceberg-sql.js';
import { liveFiles, type LiveFiles } from './live-files.js';
import { MetadataProcess } from './metadata-process.js';
import type { OpenableFiles, OpenTable, TableFiles } from './table-files.js';
import { readTableMetadata, type TableMetadata } from './table-metadata.js';

const MAX_METADATA_MIB = 32;
const NO_FILES: LiveFiles = { addresses: [], rows: 0n, nulls: new Map() };

/** Iceberg tables, read by field ids; whatever could make a row wrong is a problem instead. */
export class IcebergTables implements TableResolver {
  constructor(
    private readonly open: OpenTable,
    private readonly maxFiles: number,
  ) {}

  async resolve({ location }: { location: string }, surroundings: ScanSurroundings): Promise<TableScan> {
    const files = await this.open(location, surroundings.signal);
    const { metadata, live } = await this.#followed(files, surroundings.signal);
    return await scanOf(metadata, live, await files.dataFiles(live.addresses), surroundings);
  }

  async #followed(files: TableFiles, signal: AbortSignal): Promise<{ metadata: TableMetadata; live: LiveFiles }> {
    const reader = new MetadataProcess();
    try {
      const metadata = readTableMetadata(
        await reader.table(await files.read(files.metadata, MAX_METADATA_MIB), signal),
      );
      const { manifestList } = metadata;
      const live =
        manifestList === null ? NO_FILES : await liveFiles(files, reader, manifestList, this.maxFiles, signal);
      return { metadata, live };
    } finally {
      reader.close();
    }
  }
}

async function scanOf(
  metadata: TableMetadata,
  { rows, nulls }: LiveFiles,
  { paths, allowed, release }: OpenableFiles,
  surroundings: ScanSurroundings,
): Promise<TableScan> {
  try {
    const sql = icebergSql(metadata, await readDataFiles(paths, surroundings));
    const files = `[${paths.map((path) => literal(plainPath(path))).join(', ')}]`;
    const counts = metadata.columns.flatMap(({ id, name }) => {
      const count = nulls.get(id);
      return count === undefined ? [] : [{ name, nulls: String(count) }];
    });
    const statistics = rows === null ? {} : { statistics: { rows: String(rows), columns: counts } };
    return { sql, files, ...allowed, ...statistics, ...(release ? { release } : {}) };
  } catch (error) {
    release?.();
    throw error;
  }
}
