import { describe, expect, it } from '@jest/globals';

import { matchingObjects } from './matching-objects.js';
import type { S3Storage, StoredObject } from './s3-storage.js';

const { signal } = new AbortController();

describe('the objects of a pattern', () => {
  let listed: number;
  /** A bucket of so many objects; remembers how far anybody looked. */
  const bucket = (count: number): S3Storage =>
    ({
      async *list(_bucket: string, prefix: string): AsyncGenerator<StoredObject> {
        for (listed = 0; listed < count; listed += 1)
          yield await Promise.resolve({ key: `${prefix}${listed}.parquet`, etag: '"e"', bytes: 1 });
      },
    }) as unknown as S3Storage;

  it('end at the limit in a bucket of a million, whether they match or not', async () => {
    for (const pattern of ['t/**/*.parquet', 't/*.csv', '**'])
      await expect(matchingObjects(bucket(1_000_000), 'b', pattern, 5000, signal)).rejects.toThrow(
        /more than 5000 objects/,
      );
    expect(listed).toBe(5000);
  });

  it('are told one by one while they are listed, so that too many bytes end it too', async () => {
    let bytes = 0;
    const counted = ({ bytes: more }: StoredObject): void => {
      bytes += more;
      if (bytes > 10) throw new RangeError('too large');
    };
    await expect(matchingObjects(bucket(1_000_000), 'b', 't/*', 5000, signal, counted)).rejects.toThrow('too large');
    expect(listed).toBe(10);
  });

  it('of a plain key are that object alone', async () => {
    const found = await matchingObjects(bucket(3), 'b', '1.parquet', 5000, signal);
    expect(found).toEqual([]);
    const exact = { list: async function* () { yield await Promise.resolve({ key: 'k', etag: '"e"', bytes: 1 }); yield { key: 'kk', etag: '"e"', bytes: 1 }; } }; // prettier-ignore
    expect(await matchingObjects(exact as unknown as S3Storage, 'b', 'k', 5000, signal)).toHaveLength(1);
  });
});
