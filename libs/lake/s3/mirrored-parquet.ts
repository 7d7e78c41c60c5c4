import { parseLocation, treePattern } from '../registry/location.js';
import { hasNamedNull, partitionedScan } from '../tables/partition-values.js';
import {
  literal,
  plainPath,
  TableProblem,
  type ScanSurroundings,
  type TableResolver,
  type TableScan,
} from '../tables/table-scan.js';
import { namedSet, type JudgedBefore } from '../tables/judged-before.js';
import { judgeFooters } from '../tables/judged-footers.js';
import { matchingObjects } from './matching-objects.js';
import type { MirroredCopies } from './mirrored-copies.js';
import type { StoredObject } from './s3-storage.js';

/** Parquet tables on S3: listed, copied and read as local files, whole or not at all. */
export class MirroredParquet implements TableResolver {
  constructor(
    private readonly copies: MirroredCopies,
    private readonly before: JudgedBefore,
  ) {}

  async resolve({ location }: { location: string }, surroundings: ScanSurroundings): Promise<TableScan> {
    const { signal } = surroundings;
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 's3') throw new TableProblem('The location is no S3 location.');
    const objects = await this.#matching(parsed.bucket, treePattern(parsed.key), signal);
    const { paths, directories, release } = await this.copies.hold(parsed.bucket, objects, signal);
    const files = `[${paths.map((path) => literal(plainPath(path))).join(', ')}]`;
    const keys = new Map(paths.map((path, index) => [path, objects[index]?.key]));
    const sample = paths[0] ?? '';
    try {
      const nameOf = (path: string): string => keys.get(path) ?? path;
      await judgeFooters({ files, first: sample, set: namedSet(paths), nameOf }, this.before, surroundings);
      const sql = await partitionedScan({ files, sample, namedNull: hasNamedNull(paths) }, surroundings);
      return { sql, files, directories, paths: [], release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Counts and sizes are judged while listing, before a byte is copied. */
  async #matching(bucket: string, pattern: string, signal: AbortSignal): Promise<StoredObject[]> {
    const { storage, limits } = this.copies;
    let bytes = 0;
    const found = await matchingObjects(storage, bucket, pattern, limits.maxFiles, signal, (object) => {
      bytes += object.bytes;
      this.copies.refuseTooLarge(bytes);
    });
    if (found.length === 0) throw new TableProblem('No object matches the location.');
    return found;
  }
}
