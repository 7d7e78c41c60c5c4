import { posix } from 'node:path';

/** Where a lake table lies, read from its location (06 §10). */
export type Location =
  | {
      scheme: 'file';
      /** Absolute; may hold `*`, `?`, `[…]` and `**`. A trailing `/` means the whole tree. */
      path: string;
    }
  | {
      scheme: 's3';
      bucket: string;
      /** Key, prefix or pattern; a trailing `/` or nothing means the whole tree. */
      key: string;
    };

export type LocationDefect = 'length' | 'scheme' | 'character' | 'climbs' | 'bucket' | 'path';

const MAX_LENGTH = 2048;
/** Never escaped: what would need it is refused, here and again where SQL is made. */
const FORBIDDEN = /['"`\\;\s\u0000-\u001f\u007f-\u009f]/u;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** @returns the location, or the word for what is wrong with it */
export function parseLocation(text: string): Location | LocationDefect {
  if (text === '' || text.length > MAX_LENGTH) return 'length';
  if (FORBIDDEN.test(text) || !text.isWellFormed()) return 'character';
  if (text.includes('..')) return 'climbs';
  const s3 = /^s3[an]?:\/\/([^/]*)\/?(.*)$/.exec(text);
  if (s3) {
    const [, bucket = '', key = ''] = s3;
    return BUCKET.test(bucket) ? { scheme: 's3', bucket, key } : 'bucket';
  }
  if (!text.startsWith('file:')) return 'scheme';
  const path = text.slice('file://'.length);
  if (!text.startsWith('file:///') || path.includes('//')) return 'path';
  return { scheme: 'file', path };
}

/** The path with the pattern that finds its files: a folder stands for every Parquet file under it. */
export function treePattern(path: string): string {
  return path === '' || path.endsWith('/') ? `${path}**/*.parquet` : path;
}

const GLOB = /[*?[{]/;

/** The folder all files of a pattern lie in, without its slash; and whether the pattern is one plain file. */
export function fixedFolder(pattern: string): { folder: string; plain: boolean } {
  const at = pattern.search(GLOB);
  if (at < 0) return { folder: posix.dirname(pattern), plain: true };
  const cut = pattern.lastIndexOf('/', at);
  return { folder: cut <= 0 ? '/' : pattern.slice(0, cut), plain: false };
}
