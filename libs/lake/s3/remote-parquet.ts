import { fixedFolder, parseLocation, treePattern } from '../registry/location.js';
import { hasNamedNull, partitionedScan } from '../tables/partition-values.js';
import { refuseUnseenTypes } from '../tables/stored-types.js';
import {
  literal,
  plainPath,
  TableProblem,
  type ScanSurroundings,
  type TableResolver,
  type TableScan,
} from '../tables/table-scan.js';
import { matchingObjects } from './matching-objects.js';
import type { MirrorLimits } from './mirrored-copies.js';
import type { S3Storage } from './s3-storage.js';

/** Parquet tables on S3 that the engine reads itself: listed here first, so that a pattern of a million objects ends here. */
export class RemoteParquet implements TableResolver {
  constructor(
    private readonly storage: S3Storage,
    private readonly limits: Pick<MirrorLimits, 'maxFiles'>,
  ) {}

  async resolve({ location }: { location: string }, surroundings: ScanSurroundings): Promise<TableScan> {
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 's3') throw new TableProblem('The location is no S3 location.');
    const { bucket } = parsed;
    const pattern = treePattern(parsed.key);
    const found = await matchingObjects(this.storage, bucket, pattern, this.limits.maxFiles, surroundings.signal);
    const [first] = found;
    if (!first) throw new TableProblem('No object matches the location.');
    // Each further footer would be requests of its own, at every look.
    const footer = literal(plainPath(`s3://${bucket}/${first.key}`));
    await refuseUnseenTypes({ files: footer, nameOf: () => first.key }, surroundings);
    const { folder, plain } = fixedFolder(`/${pattern}`);
    const address = `s3://${bucket}/${pattern}`;
    const files = literal(plain ? plainPath(address) : address);
    const namedNull = hasNamedNull(found.map(({ key }) => key));
    const sql = await partitionedScan({ files, sample: `/${first.key}`, namedNull }, surroundings);
    const inside = `s3://${bucket}${folder === '/' ? '' : folder}/`;
    return { sql, files, isRemote: true, directories: plain ? [] : [inside], paths: plain ? [address] : [] };
  }
}
