import { describe, expect, it } from '@jest/globals';

import type { Mirror } from './mirror.js';
import { atOnce, MirroredCopies } from './mirrored-copies.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

const object = (key: string): StoredObject => ({ key, etag: `"${key}"`, bytes: 1 });
const { signal } = new AbortController();

describe('work for many objects', () => {
  it('is done for four of them side by side, each once', async () => {
    let running = 0;
    let most = 0;
    const done: number[] = [];
    await atOnce([...Array(11).keys()], signal, async (item, index) => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      done.push(item);
      expect(index).toBe(item);
    });
    expect([most, done.sort((a, b) => a - b)]).toEqual([4, [...Array(11).keys()]]);
  });

  it('ends with its first failure: nothing more is begun, what is under way is told, and nobody works on behind it', async () => {
    const begun: number[] = [];
    let stopped = 0;
    const work = atOnce([...Array(1000).keys()], signal, async (item, _index, ends) => {
      begun.push(item);
      if (item === 2) throw new TypeError('the third');
      await new Promise((_resolve, reject) => ends.addEventListener('abort', () => reject(new Error('told')), { once: true }));
    }).finally(() => (stopped = begun.length)); // prettier-ignore
    await expect(work).rejects.toThrow('the third');
    await new Promise((resolve) => setImmediate(resolve));
    expect([begun, stopped]).toEqual([[0, 1, 2, 3], 4]);
  });

  it('ends when nobody waits any more, with the reason of that', async () => {
    const gone = new AbortController();
    const work = atOnce([1, 2, 3, 4, 5], gone.signal, async (item) => {
      if (item === 4) gone.abort(new Error('nobody waits'));
      await Promise.resolve();
    });
    await expect(work).rejects.toThrow('nobody waits');
  });
});

describe('the copies of one table', () => {
  it('are given back, all of them, when one cannot be had', async () => {
    const pinned = new Set<string>();
    const mirror = {
      ready: () => Promise.resolve(),
      placeOf: (_datasource: string, _bucket: string, { key }: StoredObject) => ({ path: key, folder: `${key}/` }),
      hold: (_storage: S3Storage, _bucket: string, { key }: StoredObject) =>
        key === 'c' ? Promise.reject(new TypeError('no c')) : Promise.resolve(void pinned.add(key)),
      release: (paths: string[]) => paths.forEach((path) => pinned.delete(path)),
    } as unknown as Mirror;
    const copies = new MirroredCopies({} as S3Storage, mirror, { datasource: 'lake', maxFiles: 9, maxBytes: 9 });
    await expect(copies.hold('b', ['a', 'b', 'c', 'd'].map(object), signal)).rejects.toThrow('no c');
    expect([...pinned]).toEqual([]);
    const { paths, release } = await copies.hold('b', [object('b'), object('a')], signal);
    expect([paths, [...pinned].sort()]).toEqual([['b', 'a'], ['a', 'b']]); // prettier-ignore
    release();
    expect([...pinned]).toEqual([]);
  });
});
