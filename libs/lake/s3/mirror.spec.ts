import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { Mirror } from './mirror.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

const { signal } = new AbortController();
const object = (key: string, bytes = 4): StoredObject => ({ key, etag: `"${key}"`, bytes });

describe('the copies of S3 objects', () => {
  let folder: string;
  /** Ends each download that has begun. */
  let gates: (() => void)[];
  let downloads: string[];
  /** A download waits until it is let go. */
  let held: boolean;

  const storage = {
    async download(_bucket: string, { key, bytes }: StoredObject, file: string, wanted: AbortSignal) {
      downloads.push(key);
      if (held) {
        await new Promise<void>((resolve, reject) => {
          gates.push(resolve);
          wanted.addEventListener('abort', () => reject(wanted.reason as Error), { once: true });
        });
      }
      await writeFile(file, 'x'.repeat(bytes));
    },
  } as unknown as S3Storage;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-mirror-'));
    gates = [];
    downloads = [];
    held = false;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const hold = async (mirror: Mirror, wanted: StoredObject, ends: AbortSignal = signal): Promise<string> => {
    await mirror.ready();
    const { path } = mirror.placeOf('lake', 'b', wanted);
    await mirror.hold(storage, 'b', wanted, path, ends);
    return path;
  };
  const begun = async (count: number): Promise<void> => {
    while (gates.length < count) await new Promise((resolve) => setImmediate(resolve));
  };

  it('are fetched again when somebody cleared the folder: a table must not stay broken until the server is restarted', async () => {
    const mirror = new Mirror(folder, 100);
    const path = await hold(mirror, object('a'));
    rmSync(join(folder, 'lake'), { recursive: true });
    await hold(mirror, object('a'));
    expect(await readFile(path, 'utf8')).toBe('xxxx');
    expect(downloads).toEqual(['a', 'a']);
  });

  it('come to those who wait also when the first who wanted them gives up', async () => {
    const mirror = new Mirror(folder, 100);
    held = true;
    const first = new AbortController();
    const one = hold(mirror, object('a'), first.signal);
    await begun(1);
    const other = hold(mirror, object('a'));
    await new Promise((resolve) => setImmediate(resolve));
    first.abort(new Error('gone'));
    await expect(one).rejects.toThrow('gone');
    await begun(2);
    gates[1]?.();
    expect(existsSync(await other)).toBe(true);
  });

  it('keep to the limit also while several are on their way', async () => {
    const mirror = new Mirror(folder, 10);
    held = true;
    const one = hold(mirror, object('a', 6));
    await begun(1);
    await expect(hold(mirror, object('b', 6))).rejects.toThrow(/mirror-max-bytes/);
    gates[0]?.();
    await one;
    expect(downloads).toEqual(['a']);
  });

  it('that everybody waited for are pinned for each of them before anything can push them out', async () => {
    const mirror = new Mirror(folder, 10);
    held = true;
    const both = [hold(mirror, object('a', 6)), hold(mirror, object('a', 6))];
    await begun(1);
    gates[0]?.();
    const [path = ''] = await Promise.all(both);
    held = false;
    mirror.release([path]);
    await expect(hold(mirror, object('b', 6))).rejects.toThrow(/mirror-max-bytes/);
    mirror.release([path]);
    await hold(mirror, object('b', 6));
    expect(existsSync(path)).toBe(false);
  });

  it('are never removed while they are pinned, however the removal of others is interleaved', async () => {
    const mirror = new Mirror(folder, 12);
    const [a, b] = [await hold(mirror, object('a')), await hold(mirror, object('b'))];
    mirror.release([a, b]);
    const [, again] = await Promise.allSettled([hold(mirror, object('c', 12)), hold(mirror, object('b'))]);
    if (again.status === 'fulfilled') expect(existsSync(b)).toBe(true);
    expect(again.status).toBe('fulfilled');
  });

  it('are looked for again when the first look failed', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const mirror = new Mirror(join(file, 'cache'), 100);
    await expect(hold(mirror, object('a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    rmSync(file);
    expect(existsSync(await hold(mirror, object('a')))).toBe(true);
  });
});
