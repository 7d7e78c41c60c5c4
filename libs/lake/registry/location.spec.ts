import { describe, expect, it } from '@jest/globals';

import { fixedFolder, parseLocation, treePattern } from './location.js';

describe('the location of a lake table', () => {
  it.each([
    ["file:///a'b", 'character'], ['file:///a"b', 'character'], ['file:///a`b', 'character'], ['file:///a\\b', 'character'],
    ['file:///a;b', 'character'], ['file:///a b', 'character'], ['file:///a\tb', 'character'], ['file:///a\u0000b', 'character'],
    ['file:///a\u2028b', 'character'], ['file:///a\ud800', 'character'], ['file:///a/../b', 'climbs'], ['s3://bucket/..', 'climbs'],
    ['file:///a..b', 'climbs'], ['file://host/a', 'path'], ['file:/a', 'path'], ['file:///a//b', 'path'], ['/a', 'scheme'],
    ['http://h/a', 'scheme'], ['S3://bucket/a', 'scheme'], ['s3://B/a', 'bucket'], ['s3:///a', 'bucket'], ['', 'length'],
    [`file:///${'a'.repeat(2048)}`, 'length'],
  ])('refuses %j: it would need quoting, or leads elsewhere', (text, defect) => {
    expect(parseLocation(text)).toBe(defect);
  }); // prettier-ignore

  it('reads files and buckets, whatever the client that wrote them calls S3', () => {
    expect(parseLocation('file:///data/a*.parquet')).toEqual({ scheme: 'file', path: '/data/a*.parquet' });
    for (const scheme of ['s3', 's3a', 's3n'])
      expect(parseLocation(`${scheme}://my.bucket/a/b/`)).toEqual({ scheme: 's3', bucket: 'my.bucket', key: 'a/b/' });
    expect(parseLocation('s3://bucket')).toEqual({ scheme: 's3', bucket: 'bucket', key: '' });
  });

  it('finds the folder that a pattern cannot leave', () => {
    const at = (path: string) => fixedFolder(treePattern(path));
    expect(at('/data/t/')).toEqual({ folder: '/data/t', plain: false });
    expect(at('/data/t/y=*/f.parquet')).toEqual({ folder: '/data/t', plain: false });
    expect(at('/*/f.parquet')).toEqual({ folder: '/', plain: false });
    expect(at('/data/f.parquet')).toEqual({ folder: '/data', plain: true });
  });
});
