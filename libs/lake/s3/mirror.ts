import { createHash, randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { TableProblem } from '../tables/table-scan.js';
import { isOwnership, ownFolder } from './own-folder.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

const PART = '.part-';
/** A download that began longer ago than this has no downloader any more. */
const ABANDONED_MS = 3_600_000;
const MAX_NAME_BYTES = 255;

interface Kept {
  bytes: number;
  usedAt: number;
  pins: number;
}

interface Arriving {
  bytes: number;
  /** Who pins it when it has come: nothing may push it out before they do. */
  waiting: number;
  done: Promise<void>;
}

/**
 * Copies of S3 objects in a folder of this machine, one per content. What an engine reads is pinned; of the rest the
 * ones used longest ago give way when there are too many bytes. A half-downloaded file has another name and is never read.
 */
export class Mirror {
  readonly #kept = new Map<string, Kept>();
  readonly #arriving = new Map<string, Arriving>();
  #found: Promise<void> | undefined;
  #own: string | undefined;

  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
  ) {}

  /**
   * Where an object's copy stands, once {@link ready}: Hive folders keep their names, because they are values.
   *
   * @returns the file, and the folder that holds this copy alone, ending in `/`
   */
  placeOf(datasource: string, bucket: string, { key, etag }: StoredObject): { path: string; folder: string } {
    const segments = key.split('/');
    const name = segments.pop() ?? '';
    const partitions = segments.filter((segment) => segment.includes('='));
    for (const part of [...partitions, name]) {
      if (
        part === '' ||
        part === '.' ||
        part === '..' ||
        part.includes('\0') ||
        Buffer.byteLength(part) > MAX_NAME_BYTES
      )
        throw new TableProblem('An object has a key that cannot be the name of a file.');
    }
    const digest = createHash('sha256').update([bucket, key, etag].join('\0')).digest('hex').slice(0, 40);
    const folder = join(this.#own ?? this.folder, datasource, digest);
    return { path: join(folder, ...partitions, name), folder: `${folder}/` };
  }

  /** Pins the copy, downloading it if it is not there; everybody who wants it meanwhile waits for the same download. */
  async hold(
    storage: S3Storage,
    bucket: string,
    object: StoredObject,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.ready();
    while (!(await this.#pinned(path))) {
      const waitedFor = this.#arriving.get(path);
      if (!waitedFor) return await this.#arrival(storage, bucket, object, path, signal);
      waitedFor.waiting += 1;
      try {
        return await waitedFor.done;
      } catch (error) {
        // Who began it may have given up, which is no reason for the others to.
        if (!(error instanceof GivenUp)) throw error;
        signal.throwIfAborted();
      }
    }
  }

  release(paths: readonly string[]): void {
    for (const path of paths) {
      const kept = this.#kept.get(path);
      if (kept) kept.pins = Math.max(0, kept.pins - 1);
    }
  }

  async #arrival(
    storage: S3Storage,
    bucket: string,
    object: StoredObject,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    const done = Promise.withResolvers<undefined>();
    const arriving: Arriving = { bytes: object.bytes, waiting: 1, done: done.promise };
    // Nobody may be waiting for it.
    done.promise.catch(() => undefined);
    this.#arriving.set(path, arriving);
    try {
      await this.#makeRoom();
      await download(storage, bucket, object, path, signal);
      this.#kept.set(path, { bytes: object.bytes, usedAt: Date.now(), pins: arriving.waiting });
      this.#arriving.delete(path);
      done.resolve(undefined);
    } catch (error) {
      this.#arriving.delete(path);
      done.reject(signal.aborted ? new GivenUp() : error);
      throw error;
    }
  }

  /** What is on its way counts as if it were there, so that many at once keep to the limit too. */
  async #makeRoom(): Promise<void> {
    let total = 0;
    for (const { bytes } of [...this.#kept.values(), ...this.#arriving.values()]) total += bytes;
    const idle = [...this.#kept].filter(([, { pins }]) => pins === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [path, kept] of idle) {
      if (total <= this.maxBytes) return;
      // While others were removed it may have been pinned.
      if (kept.pins > 0) continue;
      total -= kept.bytes;
      // Or removed, by whoever made room at the same time.
      if (this.#kept.get(path) !== kept) continue;
      this.#kept.delete(path);
      await rm(path, { force: true });
    }
    if (total > this.maxBytes)
      throw new TableProblem(
        'The copies of all tables in use would be larger than datapipelines.lake.mirror-max-bytes.',
      );
  }

  /** False when there is no copy: also when somebody else cleared the folder. */
  async #pinned(path: string): Promise<boolean> {
    const kept = this.#kept.get(path);
    if (!kept) return false;
    kept.pins += 1;
    try {
      await this.#used(path, kept);
      return true;
    } catch (error) {
      kept.pins -= 1;
      if (!isMissing(error)) throw error;
      if (this.#kept.get(path) === kept) this.#kept.delete(path);
      return false;
    }
  }

  async #used(path: string, kept: Kept): Promise<void> {
    kept.usedAt = Date.now();
    const now = new Date(kept.usedAt);
    await utimes(path, now, now);
  }

  /** Finds the folder of this process and what stands in it. A look that failed is taken again by the next who comes. */
  async ready(): Promise<void> {
    this.#found ??= this.#find();
    try {
      await this.#found;
    } catch (error) {
      this.#found = undefined;
      throw error;
    }
  }

  /** What an earlier process left: whole copies are kept, parts nobody works on are removed. */
  async #find(): Promise<void> {
    this.#own = await ownFolder(this.folder);
    for (const entry of await copiesIn(this.#own)) {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = await stat(path);
      if (!basename(path).startsWith(PART)) this.#kept.set(path, { bytes: size, usedAt: mtimeMs, pins: 0 });
      else if (Date.now() - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    }
  }
}

/** The files of a process's own folder, without those of the other processes inside it. */
async function copiesIn(folder: string): Promise<Dirent[]> {
  const datasources = (await readdir(folder)).filter((name) => !isOwnership(name));
  const found = await Promise.all(
    datasources.map((name) => readdir(join(folder, name), { recursive: true, withFileTypes: true }).catch(() => [])),
  );
  return found.flat().filter((entry) => entry.isFile());
}

/** The first who wanted an object gave up before it had come. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function download(
  storage: S3Storage,
  bucket: string,
  object: StoredObject,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = join(dirname(path), `${PART}${randomUUID()}`);
  try {
    await storage.download(bucket, object, part, signal);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
