import { readFile } from 'node:fs/promises';

import { isPinned, newestMetadata } from '../iceberg/newest-metadata.js';
import type { OpenableFiles, OpenTable, TableFiles } from '../iceberg/table-files.js';
import { parseLocation } from '../registry/location.js';
import { TableProblem } from '../tables/table-scan.js';
import { atOnce, type MirroredCopies } from './mirrored-copies.js';
import type { StoredObject } from './s3-storage.js';

const MIB = 1024 * 1024;

/** Opens Iceberg tables in buckets: metadata, manifests and data files are copied and read here. */
export function storedTables(copies: MirroredCopies): OpenTable {
  return async (location, signal) => {
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 's3') throw new TableProblem('The location is no S3 location.');
    const { bucket, key } = parsed;
    const pinned = isPinned(key);
    const root = pinned ? key.split('/').slice(0, -2).join('/') : key.replace(/\/+$/, '');
    const within = root === '' ? '' : `${root}/`;
    const metadata = pinned
      ? key
      : `${within}metadata/${await newestName(copies, bucket, `${within}metadata/`, signal)}`;
    return new StoredTable(copies, { bucket, within }, `s3://${bucket}/${metadata}`, signal);
  };
}

async function newestName(
  copies: MirroredCopies,
  bucket: string,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const names: string[] = [];
  for await (const { key } of copies.storage.list(bucket, folder, signal)) {
    if (names.length >= copies.limits.maxFiles)
      throw new TableProblem(
        `The folder of the table's metadata holds more than ${copies.limits.maxFiles} objects; expire old snapshots of the table.`,
      );
    names.push(key.slice(folder.length));
  }
  return newestMetadata(names);
}

class StoredTable implements TableFiles {
  constructor(
    private readonly copies: MirroredCopies,
    private readonly place: { bucket: string; within: string },
    readonly metadata: string,
    private readonly signal: AbortSignal,
  ) {}

  async read(address: string, mostMib: number): Promise<Uint8Array> {
    const object = await this.#object(address);
    if (object.bytes > mostMib * MIB)
      throw new TableProblem(`A metadata file is larger than ${mostMib} MiB; expire old snapshots of the table.`);
    const { paths, release } = await this.copies.hold(this.place.bucket, [object], this.signal);
    try {
      return await readFile(paths[0] as string);
    } finally {
      release();
    }
  }

  async dataFiles(addresses: readonly string[]): Promise<OpenableFiles> {
    const objects: StoredObject[] = [];
    let bytes = 0;
    await atOnce(addresses, this.signal, async (address, index, ends) => {
      const object = await this.#object(address, ends);
      bytes += object.bytes;
      this.copies.refuseTooLarge(bytes);
      objects[index] = object;
    });
    const { paths, directories, release } = await this.copies.hold(this.place.bucket, objects, this.signal);
    return { paths, allowed: { directories, paths: [] }, release };
  }

  async #object(address: string, signal: AbortSignal = this.signal): Promise<StoredObject> {
    const { bucket, within } = this.place;
    const [, named, key = ''] = /^s3[an]?:\/\/([^/]+)\/(.+)$/su.exec(address) ?? [];
    if (named === undefined) throw new TableProblem('The table names a file that is not on S3.');
    if (named !== bucket || !key.startsWith(within))
      throw new TableProblem('The table names a file outside its own folder.');
    const object = await this.copies.storage.find(bucket, key, signal);
    if (!object) throw new TableProblem('A file that the table names is not there.');
    return object;
  }
}
