import { opendir } from 'node:fs/promises';

import { DriverFailure } from '#libs/datasources';

import type { LakeTable } from './registry/lake-table.js';
import { fixedFolder, parseLocation, treePattern } from './registry/location.js';
import type { S3Storage } from './s3/s3-storage.js';

/** What a test of a lake has to list. */
export interface StorageRoots {
  storage: Pick<S3Storage, 'answers' | 'knowsCaller'>;
  /** Whether anything of the datasource says that it reads S3: an endpoint, a region, a credential. */
  namesS3: boolean;
  fileRoots: readonly string[];
}

/**
 * Lists where a lake reads (06 §7): the folder of one table in each bucket, the file roots of tables on this machine. A
 * lake without tables names no place yet, so its service is asked whom it knows, or every file root is listed.
 *
 * @throws DriverFailure
 */
export async function listRoots(
  { storage, namesS3, fileRoots }: StorageRoots,
  tables: readonly Pick<LakeTable, 'location'>[],
  signal: AbortSignal,
): Promise<void> {
  const folders = new Map<string, string>();
  const files: string[] = [];
  for (const { location } of tables) {
    const parsed = parseLocation(location);
    if (typeof parsed === 'string') continue;
    if (parsed.scheme === 'file') files.push(parsed.path);
    else if (!folders.has(parsed.bucket)) folders.set(parsed.bucket, folderOf(parsed.key));
  }
  // Whoever may list a folder of a bucket is often not allowed to list all of it.
  for (const [bucket, folder] of folders) await storage.answers(bucket, folder, signal);
  if (folders.size === 0 && namesS3) await storage.knowsCaller(signal);
  if (files.length === 0 && (folders.size > 0 || namesS3)) return;
  const read = fileRoots.filter((root) => files.length === 0 || files.some((path) => path.startsWith(`${root}/`)));
  for (const root of read) await listFolder(root);
}

/** The part of a key that all keys of its table begin with, up to a slash. */
function folderOf(key: string): string {
  const { folder } = fixedFolder(`/${treePattern(key)}`);
  return folder === '/' ? '' : `${folder.slice(1)}/`;
}

async function listFolder(root: string): Promise<void> {
  try {
    const folder = await opendir(root);
    await folder.read();
    await folder.close();
  } catch (cause) {
    const driverCode = (cause as { code?: string }).code;
    throw new DriverFailure(
      'connection',
      'A folder of datapipelines.datasources.file-roots cannot be listed by this server; make it readable or take it out.',
      { driverCode, cause },
    );
  }
}
