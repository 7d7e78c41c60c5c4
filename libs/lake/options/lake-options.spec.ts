import { totalmem } from 'node:os';

import { describe, expect, it } from '@jest/globals';

import { checkLakeSection, lakeOptions, namedFiles } from './lake-options.js';

const failures = (section: Record<string, unknown>): string[] =>
  checkLakeSection(new Map(Object.entries(section))).map(({ code, path }) => `${code.split('.').at(-1)} ${path}`);
const options = (section: Record<string, string>) => lakeOptions(new Map(Object.entries(section)));

describe('the options of a lake', () => {
  it.each([
    ['catalog.kind', ['s3', 'glue', 's3_tables', 'rest'], ['S3', 'hive', 's3 ']],
    ['catalog.ref', ['arn:aws:glue:eu-1:123:catalog', 'x'], ['a b', 'x'.repeat(1001), 'é', 'a\nb']],
    ['region', ['eu-central-1', 'us-east-1'], ['EU', 'eu_1', "eu'1", 'x'.repeat(41)]],
    ['endpoint', ['minio', 'minio:9000', '10.0.0.1:80', '[::1]:9000', 'a.b-c.example'], ['http://minio', 'minio:0', 'minio:65536', 'minio:', ':9000', 'a/b', 'user@minio', '-minio', "m'io", 'minio:9000/x']],
    ['url_style', ['path', 'vhost'], ['PATH', 'virtual']],
    ['unsigned', ['true', 'false'], ['TRUE', 'yes', '1']],
    ['memory_limit', ['64MB', '512 MB', '2GB', '1GiB', '100mib'], ['63MB', '0GB', '-1GB', '1.5GB', '50%', '1TB', 'lots', '99999999GB']],
    ['threads', ['1', '16', '256'], ['0', '257', '-1', '1.5', '01', 'many', '1e2']],
    ['temp_directory', ['/data/spill', '/d'], ['spill', '/data/../etc', "/data/it's", '/da"ta', '/da;ta', '/da\nta']],
    ['attach', ['a=/data/a.duckdb', 'a=/data/a.duckdb,b_2=/data/b.duckdb', 'a=/data/a.duckdb, b=/x'], ['a', '=/x', 'a=', 'a=x', 'A=/x', '1a=/x', 'a=/x,a=/y', 'memory=/x', 'system=/x', 'temp=/x', 'a=/x/../y', "a=/x'y", 'a=/x,', 'a b=/x']],
  ])('%s takes what it says and nothing else', (key, good, wrong) => {
    for (const value of good) expect([value, failures({ [key]: value })]).toEqual([value, []]);
    for (const value of wrong)
      expect([value, failures({ [key]: value })]).toEqual([value, [`properties_invalid properties.dialect.${key}`]]);
    for (const value of [1, true, {}, []])
      expect([value, failures({ [key]: value })]).toEqual([value, [`properties_invalid properties.dialect.${key}`]]);
    for (const value of ['', '  ', null])
      expect([value, failures({ [key]: value })]).toEqual([value, [`property_empty properties.dialect.${key}`]]);
  }); // prettier-ignore

  it('are reported all at once, unknown ones among them by their names', () => {
    expect(failures({ region: 'EU', constructor: 'x', secret: 'y', threads: '' })).toEqual([
      'properties_invalid properties.dialect.region',
      'properties_invalid properties.dialect.constructor',
      'properties_invalid properties.dialect.secret',
      'property_empty properties.dialect.threads',
    ]);
    const [unknown] = checkLakeSection(new Map([['memory', '1GB']]));
    expect(unknown?.message).toMatch(/no option "memory"; it has .*memory_limit/);
  });

  it('left out have the presets: a quarter of the memory between 64 MiB and 4 GiB, signatures, no endpoint', () => {
    const preset = options({});
    expect(preset).toMatchObject({
      region: undefined, endpoint: undefined, urlStyle: undefined, unsigned: false, threads: undefined,
      temporaryDirectory: undefined, attachments: [],
    });
    expect(preset.memoryMb).toBeGreaterThanOrEqual(64);
    expect(preset.memoryMb).toBeLessThanOrEqual(Math.min(4096, Math.max(64, Math.floor(totalmem() / 4 / 1024 / 1024))));
  }); // prettier-ignore

  it('given are read: ports, sizes, files that must lie under the roots', () => {
    const given = options({
      endpoint: 'minio', memory_limit: '2GB', threads: '3', unsigned: 'true', url_style: 'vhost', region: 'eu-1',
      temp_directory: '/data/spill', attach: 'a=/data/a.duckdb, b=/data/b.duckdb',
    });
    expect(given).toEqual({
      endpoint: { host: 'minio', port: 80 }, memoryMb: 2048, threads: 3, unsigned: true, urlStyle: 'vhost', region: 'eu-1',
      temporaryDirectory: '/data/spill',
      attachments: [{ alias: 'a', file: '/data/a.duckdb' }, { alias: 'b', file: '/data/b.duckdb' }],
    });
    expect(namedFiles(given).map(({ path, property }) => [path, property])).toEqual([
      ['/data/a.duckdb', 'properties.dialect.attach'],
      ['/data/b.duckdb', 'properties.dialect.attach'],
      ['/data/spill/spill', 'properties.dialect.temp_directory'],
    ]);
    expect(options({ endpoint: '[::1]:9000' }).endpoint).toEqual({ host: '[::1]', port: 9000 });
  }); // prettier-ignore
});
