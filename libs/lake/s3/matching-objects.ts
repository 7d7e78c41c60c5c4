import { TableProblem } from '../tables/table-scan.js';
import { keyMatcher } from './key-pattern.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

const GLOB = /[*?[]/;

/**
 * The objects a pattern of keys means, counted while they are listed.
 *
 * @param counted is told of each before the next is asked for
 */
export async function matchingObjects(
  storage: S3Storage,
  bucket: string,
  pattern: string,
  maxFiles: number,
  signal: AbortSignal,
  counted: (object: StoredObject) => void = () => undefined,
): Promise<StoredObject[]> {
  const at = pattern.search(GLOB);
  const prefix = at < 0 ? pattern : pattern.slice(0, at);
  const matches = at < 0 ? (key: string) => key === pattern : keyMatcher(pattern);
  const found: StoredObject[] = [];
  let listed = 0;
  for await (const object of storage.list(bucket, prefix, signal)) {
    listed += 1;
    if (listed > maxFiles)
      throw new TableProblem(
        `The location holds more than ${maxFiles} objects; narrow it, or raise datapipelines.lake.max-files-per-table.`,
      );
    if (object.key.endsWith('/') || !matches(object.key)) continue;
    counted(object);
    found.push(object);
  }
  return found;
}
