import { parseLocation, treePattern } from '../registry/location.js';
import { parquetScan } from '../tables/parquet-files.js';
import {
  literal,
  plainPath,
  TableProblem,
  type ScanSurroundings,
  type TableResolver,
  type TableScan,
} from '../tables/table-scan.js';
import { keyMatcher } from './key-pattern.js';
import type { Mirror } from './mirror.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

export interface MirrorLimits {
  datasource: string;
  maxFiles: number;
  maxBytes: number;
}

const AT_ONCE = 4;
const GLOB = /[*?[]/;

/** Parquet tables on S3: listed, copied and read as local files, whole or not at all. */
export class MirroredParquet implements TableResolver {
  constructor(
    private readonly storage: S3Storage,
    private readonly mirror: Mirror,
    private readonly limits: MirrorLimits,
  ) {}

  async resolve({ location }: { location: string }, { signal }: ScanSurroundings): Promise<TableScan> {
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 's3') throw new TableProblem('The location is no S3 location.');
    const objects = await this.#matching(parsed.bucket, treePattern(parsed.key), signal);
    return await this.#scan(parsed.bucket, objects, signal);
  }

  /** Counts and sizes are judged while listing, before a byte is copied. */
  async #matching(bucket: string, pattern: string, signal: AbortSignal): Promise<StoredObject[]> {
    const at = pattern.search(GLOB);
    const prefix = at < 0 ? pattern : pattern.slice(0, at);
    const matches = at < 0 ? (key: string) => key === pattern : keyMatcher(pattern);
    const found: StoredObject[] = [];
    let listed = 0;
    let bytes = 0;
    for await (const object of this.storage.list(bucket, prefix, signal)) {
      listed += 1;
      if (listed > this.limits.maxFiles)
        throw new TableProblem(
          `The location holds more than ${this.limits.maxFiles} objects; narrow it, or raise datapipelines.lake.max-files-per-table.`,
        );
      if (object.key.endsWith('/') || !matches(object.key)) continue;
      bytes += object.bytes;
      if (bytes > this.limits.maxBytes)
        throw new TableProblem(
          `The table is larger than ${this.limits.maxBytes} bytes; raise datapipelines.lake.mirror-max-bytes-per-table.`,
        );
      found.push(object);
    }
    if (found.length === 0) throw new TableProblem('No object matches the location.');
    return found;
  }

  async #scan(bucket: string, objects: readonly StoredObject[], signal: AbortSignal): Promise<TableScan> {
    const { datasource } = this.limits;
    const copies = objects.map((object) => ({ object, ...this.mirror.placeOf(datasource, bucket, object) }));
    const held: string[] = [];
    const waiting = copies.values();
    const worker = async (): Promise<void> => {
      for (const { object, path } of waiting) {
        await this.mirror.hold(this.storage, bucket, object, path, signal);
        held.push(path);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) {
      this.mirror.release(held);
      throw failed.reason;
    }
    const files = copies.map(({ path }) => literal(plainPath(path)));
    // Not the folder of all copies: there also lie those of other tables, and of earlier credentials.
    const directories = copies.map(({ folder }) => folder);
    const scan = parquetScan(`[${files.join(', ')}]`, { directories, paths: [] });
    return { ...scan, release: () => this.mirror.release(held) };
  }
}
