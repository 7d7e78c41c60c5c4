import { TableProblem } from '../tables/table-scan.js';
import type { Mirror } from './mirror.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

export interface MirrorLimits {
  datasource: string;
  maxFiles: number;
  maxBytes: number;
}

/** Copies that are pinned until they are released. */
export interface HeldCopies {
  /** In the order of the objects. */
  paths: string[];
  /** The folder of each copy. Not the folder of all copies: there also lie those of other tables and earlier credentials. */
  directories: string[];
  release(): void;
}

const AT_ONCE = 4;

/** The bucket objects of one datasource's tables, as files of this machine. */
export class MirroredCopies {
  constructor(
    readonly storage: S3Storage,
    private readonly mirror: Mirror,
    readonly limits: MirrorLimits,
  ) {}

  /** All of them or none. @throws TableProblem when they are more bytes than one table may have */
  async hold(bucket: string, objects: readonly StoredObject[], signal: AbortSignal): Promise<HeldCopies> {
    this.refuseTooLarge(objects.reduce((sum, { bytes }) => sum + bytes, 0));
    await this.mirror.ready();
    const { datasource } = this.limits;
    const copies = objects.map((object) => ({ object, ...this.mirror.placeOf(datasource, bucket, object) }));
    const held: string[] = [];
    const release = (): void => this.mirror.release(held);
    try {
      await atOnce(copies, signal, async ({ object, path }, _index, ends) => {
        await this.mirror.hold(this.storage, bucket, object, path, ends);
        held.push(path);
      });
    } catch (error) {
      release();
      throw error;
    }
    return { paths: copies.map(({ path }) => path), directories: copies.map(({ folder }) => folder), release };
  }

  refuseTooLarge(bytes: number): void {
    if (bytes > this.limits.maxBytes)
      throw new TableProblem(
        `The table is larger than ${this.limits.maxBytes} bytes; raise datapipelines.lake.mirror-max-bytes-per-table.`,
      );
  }
}

/**
 * Does the work for every item, a few side by side. After a failure no further item is begun and those under way are told
 * to stop; none of them works on when this has ended.
 *
 * @throws the first failure
 */
export async function atOnce<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T, index: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const ends = AbortSignal.any([signal, failed.signal]);
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (ends.aborted) return;
      try {
        await work(item, index, ends);
      } catch (error) {
        failed.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}
