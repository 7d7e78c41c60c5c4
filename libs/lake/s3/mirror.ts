import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { TableProblem } from '../tables/table-scan.js';
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

/**
 * Copies of S3 objects in a folder of this machine, one per content. What an engine reads is pinned; of the rest the
 * ones used longest ago give way when there are too many bytes. A half-downloaded file has another name and is never read.
 */
export class Mirror {
  readonly #kept = new Map<string, Kept>();
  readonly #arriving = new Map<string, Promise<void>>();
  #found: Promise<void> | undefined;

  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
  ) {}

  folderOf(datasource: string): string {
    return join(this.folder, datasource);
  }

  /** Where an object's copy stands: Hive folders keep their names, because they are values. */
  pathOf(datasource: string, bucket: string, { key, etag }: StoredObject): string {
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
    return join(this.folderOf(datasource), digest, ...partitions, name);
  }

  /** Pins the copy, downloading it if it is not there; everybody who wants it meanwhile waits for the same download. */
  async hold(
    storage: S3Storage,
    bucket: string,
    object: StoredObject,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    await (this.#found ??= this.#find());
    const kept = this.#kept.get(path);
    if (kept) {
      kept.pins += 1;
      await this.#used(path, kept);
      return;
    }
    let arriving = this.#arriving.get(path);
    if (!arriving) {
      arriving = this.#download(storage, bucket, object, path, signal).finally(() => this.#arriving.delete(path));
      this.#arriving.set(path, arriving);
    }
    await arriving;
    const arrived = this.#kept.get(path);
    if (!arrived) throw new TableProblem('The copy of an object went while it was wanted.');
    arrived.pins += 1;
  }

  release(paths: readonly string[]): void {
    for (const path of paths) {
      const kept = this.#kept.get(path);
      if (kept) kept.pins = Math.max(0, kept.pins - 1);
    }
  }

  async #download(
    storage: S3Storage,
    bucket: string,
    object: StoredObject,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#makeRoom(object.bytes);
    await mkdir(dirname(path), { recursive: true });
    const part = join(dirname(path), `${PART}${randomUUID()}`);
    try {
      await storage.download(bucket, object, part, signal);
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    this.#kept.set(path, { bytes: object.bytes, usedAt: Date.now(), pins: 0 });
  }

  async #makeRoom(bytes: number): Promise<void> {
    let total = bytes;
    for (const kept of this.#kept.values()) total += kept.bytes;
    const idle = [...this.#kept].filter(([, { pins }]) => pins === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [path, kept] of idle) {
      if (total <= this.maxBytes) return;
      this.#kept.delete(path);
      total -= kept.bytes;
      await rm(path, { force: true });
    }
    if (total > this.maxBytes)
      throw new TableProblem(
        'The copies of all tables in use would be larger than datapipelines.lake.mirror-max-bytes.',
      );
  }

  async #used(path: string, kept: Kept): Promise<void> {
    kept.usedAt = Date.now();
    const now = new Date(kept.usedAt);
    await utimes(path, now, now);
  }

  /** What an earlier process left: whole copies are kept, parts nobody works on are removed. */
  async #find(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const entry of await readdir(this.folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = await stat(path);
      if (!basename(path).startsWith(PART)) this.#kept.set(path, { bytes: size, usedAt: mtimeMs, pins: 0 });
      else if (Date.now() - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    }
  }
}
