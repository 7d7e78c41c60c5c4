import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parquetWriteBuffer } from 'hyparquet-writer';

import { S3_LOGIN, S3Server } from '../../test/fixtures/s3-server.js';
import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene({
  DATAPIPELINES_LAKE_MIRROR_MAX_BYTES: '4000',
  DATAPIPELINES_LAKE_MIRROR_MAX_BYTES_PER_TABLE: '3000',
  DATAPIPELINES_LAKE_TABLE_TIMEOUT_SECONDS: '1',
  DATAPIPELINES_LAKE_MANIFEST_TIMEOUT_SECONDS: '1',
});
let s3: S3Server;

beforeEach(async () => {
  s3 = await S3Server.start();
  await scene.registered('lake', {
    credential: { kind: 'password', username: S3_LOGIN.key, secret: S3_LOGIN.secret },
    properties: { dialect: { endpoint: s3.endpoint, region: S3_LOGIN.region } },
  });
});
afterEach(() => s3.stop());

/** Puts a Parquet file of one query into the bucket. */
async function put(key: string, sql: string): Promise<void> {
  const file = join(scene.folder, 'made.parquet');
  await scene.make(`COPY (${sql}) TO '${file}'`);
  s3.objects.set(`bucket/${key}`, readFileSync(file));
}
const register = (name: string, location: string) =>
  scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'sales', name, format: 'parquet', location });
const files = (): string[] => readdirSync(join(scene.folder, 'spill', 'penstock-lake-cache'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet') || name.includes('.part-')); // prettier-ignore

describe('a lake on S3', () => {
  it('does not send the identity of the machine to an endpoint of its own', async () => {
    s3.open.add('bucket');
    await put('t/a.parquet', 'SELECT 1 AS v');
    await scene.registered('bare', { properties: { dialect: { endpoint: s3.endpoint } } });
    const body = { namespace: 'sales', name: 't', format: 'parquet', location: 's3://bucket/t/' };
    const refused = await refusal(scene.bench.tables.register(scene.team.author, 'bare', body));
    expect(refused.details['reason']).toMatch(/credential or unsigned/);
    expect(s3.requests).toEqual([]);
  });

  it('is unreachable where httpfs alone is allowed and its file is missing', async () => {
    scene.environment['DATAPIPELINES_LAKE_S3_MODE'] = 'httpfs';
    const strict = await scene.another();
    const body = { namespace: 'sales', name: 't', format: 'parquet', location: 's3://bucket/t/' };
    const refused = await refusal(strict.tables.register(scene.team.author, 'lake', body));
    expect([refused.code, refused.details['message']]).toEqual([
      'pipeline.execution.datasource_unreachable',
      expect.stringMatching(/httpfs .*extension-directory/),
    ]);
    expect(await strict.service.test(scene.team.admin, 'lake')).toMatchObject({
      connected: false,
      error_class: 'HTTPFS_ABSENT',
    });
  });

  it('imports by a manifest in a bucket, with the credential of the datasource', async () => {
    await put('pub/a.parquet', 'SELECT 1 AS v');
    const manifest = { publish_prefix: 's3://bucket/pub', namespace: 'pub', tables: [{ name: 'a', format: 'parquet', path: 'a.parquet' }] };
    s3.objects.set('bucket/pub/m.json', Buffer.from(JSON.stringify(manifest)));
    s3.objects.set('bucket/pub/large.json', Buffer.alloc(5 * 1024 * 1024 + 1, ' '));
    const from = (url: string) => scene.bench.imports.import(scene.team.author, 'lake', { manifest_url: url });
    expect((await from('s3://bucket/pub/m.json')).registered_count).toBe(1);
    expect(await scene.bench.read('lake', 'SELECT v FROM pub.a')).toEqual([[1]]);
    for (const [url, code] of [
      ['s3://bucket/pub/none.json', 'pipeline.execution.datasource_unreachable'],
      ['s3://bucket/pub/large.json', 'pipeline.execution.datasource_unreachable'],
      ['s3://bucket/', 'datasource.validation.lake_manifest_url_forbidden'],
      ['s3://BUCKET/x', 'datasource.validation.lake_manifest_url_forbidden'],
    ] as const)
      expect([url, (await refusal(from(url))).code]).toEqual([url, code]);
  }); // prettier-ignore

  it('signs its requests, follows pages, keeps partition names and downloads each content once', async () => {
    s3.pageSize = 1;
    await put('t/zip=007/city=Zürich/a.parquet', 'SELECT 1 AS v');
    await put("t/zip=100/city=O'Brien [x]*/b.parquet", 'SELECT 2 AS v');
    await put('t/zip=null/city=a%2Fb/c.parquet', 'SELECT 3 AS v');
    s3.objects.set('bucket/t/readme.txt', Buffer.from('not a table'));
    await register('t', 's3://bucket/t/');
    const read = () => scene.bench.read('lake', 'SELECT v, zip, city FROM t ORDER BY v');
    expect(await read()).toEqual([[1, '007', 'Zürich'], [2, '100', "O'Brien [x]*"], [3, 'null', 'a/b']]); // prettier-ignore
    await Promise.all([read(), read()]);
    const gets = () => s3.requests.filter((line) => line.endsWith('.parquet'));
    expect([...new Set(gets())]).toEqual(gets());
    expect(gets()).toHaveLength(3);
    // Another process keeps its own: neither removes what the other reads.
    await (await scene.another()).read('lake', 'SELECT v FROM t');
    expect([gets().length, files().length]).toEqual([6, 6]);
    expect(await scene.bench.service.test(scene.team.admin, 'lake')).toMatchObject({ connected: true });
  });

  it('refuses a wrong secret without telling it, and reads an open bucket without one', async () => {
    await put('t/a.parquet', 'SELECT 1 AS v');
    const properties = { dialect: { endpoint: s3.endpoint, region: S3_LOGIN.region } };
    await scene.registered('wrong', { credential: { kind: 'password', username: S3_LOGIN.key, secret: 'other-secret' }, properties });
    const body = { namespace: 'sales', name: 't', format: 'parquet', location: 's3a://bucket/t/*.parquet' };
    const refused = await refusal(scene.bench.tables.register(scene.team.author, 'wrong', body));
    expect(refused.details['reason']).toMatch(/SignatureDoesNotMatch/);
    expect(JSON.stringify(refused)).not.toContain('other-secret');
    s3.open.add('bucket');
    await scene.registered('free', { properties: { dialect: { ...properties.dialect, unsigned: 'true' } } });
    await scene.bench.tables.register(scene.team.author, 'free', body);
    expect(await scene.bench.read('free', 'SELECT v FROM t')).toEqual([[1]]);
  }); // prettier-ignore

  it('never serves part of a table: a broken download, a table too large and a missing one are errors', async () => {
    await put('t/a.parquet', 'SELECT 1 AS v');
    s3.cut = 10;
    expect((await refusal(register('t', 's3://bucket/t/'))).code).toBe('datasource.validation.lake_table_unreadable');
    expect(files().filter((name) => name.endsWith('.parquet'))).toEqual([]);
    s3.cut = 0;
    await register('t', 's3://bucket/t/');
    s3.objects.set('bucket/big/a.parquet', Buffer.alloc(3001));
    expect((await refusal(register('big', 's3://bucket/big/'))).details['reason']).toMatch(/larger than 3000 bytes/);
    expect((await refusal(register('none', 's3://bucket/none/'))).details['reason']).toMatch(/No object/);
    expect((await refusal(register('key', 's3://bucket/t/a.parquet/..x/'))).code).toBe('datasource.validation.lake_location_invalid');
  }); // prettier-ignore

  it('is tested before its first table too: by whether its service is there and knows the credential', async () => {
    const tested = async (name: string, endpoint = s3.endpoint, login: Partial<typeof S3_LOGIN> = {}, more = {}) => {
      const { key, secret, region } = { ...S3_LOGIN, ...login };
      await scene.registered(name, { credential: { kind: 'password', username: key, secret }, properties: { dialect: { endpoint, region, ...more } } });
      const outcome = await scene.bench.service.test(scene.team.root, name);
      expect(JSON.stringify(outcome)).not.toContain(secret);
      return [outcome.connected, outcome.error_class === 'Error' ? outcome.error : outcome.error_class];
    };
    expect(await tested('right')).toEqual([true, undefined]);
    s3.bucketsHidden = true;
    // May read a bucket and not know what others there are.
    expect(await tested('modest')).toEqual([true, undefined]);
    expect(await tested('wrong-secret', s3.endpoint, { secret: 'wrong-secret-of-a-test' })).toEqual([false, 'SignatureDoesNotMatch']);
    expect(await tested('anonymous', s3.endpoint, {}, { unsigned: 'true' })).toEqual([true, undefined]);
    // AWS shows strangers no refusal but another page; a service that fails is none that is there.
    s3.toStrangers = 307;
    expect(await tested('led-on', s3.endpoint, {}, { unsigned: 'true' })).toEqual([true, undefined]);
    s3.toStrangers = 503;
    expect((await tested('failing', s3.endpoint, {}, { unsigned: 'true' }))[0]).toBe(false);
    expect((await tested('nobody-there', '127.0.0.1:1', {}, { unsigned: 'true' }))[0]).toBe(false);
    expect(await tested('nowhere', '127.0.0.1:1')).toEqual([false, expect.stringMatching(/ECONNREFUSED/)]);
  }); // prettier-ignore

  it('is tested by the folders of its tables, because a credential may know those alone', async () => {
    await put('sales/t/a.parquet', 'SELECT 1 AS v');
    await register('t', 's3://bucket/sales/t/*.parquet');
    s3.allowed.set('bucket', 'sales/t/');
    const test = () => scene.bench.service.test(scene.team.admin, 'lake');
    expect(await test()).toMatchObject({ connected: true });
    s3.allowed.set('bucket', 'elsewhere/');
    expect(await test()).toMatchObject({ connected: false, error_class: 'AccessDenied' });
  });

  it('gives a stuck storage the time that one table has, and the others of the import none less', async () => {
    await put('stuck/a.parquet', 'SELECT 1 AS v');
    await put('good/a.parquet', 'SELECT 2 AS v');
    s3.stuck.add('bucket/stuck/a.parquet');
    const table = (name: string) => ({ name, namespace: 'n', format: 'parquet', location: `s3://bucket/${name}/` });
    const tables = [table('stuck'), table('good')];
    const refused = await refusal(scene.bench.imports.import(scene.team.author, 'lake', { tables }));
    expect(refused.failures).toEqual(['lake_table_unreadable tables[0]']);
    expect(refused.details['reason']).toMatch(/within 1 s .*table-timeout-seconds/);
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(0);
    s3.objects.set('bucket/m.json', Buffer.from('{"tables": []}'));
    s3.stuck.add('bucket/m.json');
    const late = await refusal(scene.bench.imports.import(scene.team.author, 'lake', { manifest_url: 's3://bucket/m.json' }));
    expect([late.code, late.message]).toEqual(['pipeline.execution.datasource_unreachable', expect.stringMatching(/within 1 s .*manifest-timeout-seconds/)]);
  }); // prettier-ignore

  it('judges the footer of every copy: one file of another writer would give wrong values beside right ones', async () => {
    const column = { name: 'town', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' } as const;
    const made = (converted: object): Buffer => Buffer.from(parquetWriteBuffer({
      schema: [{ name: 'root', num_children: 1 }, { ...column, ...converted, logical_type: { type: 'STRING' } }],
      columnData: [{ name: 'town', data: ['Zürich'].map((town) => Buffer.from(town)) }],
    }));
    s3.objects.set('bucket/t/a.parquet', made({ converted_type: 'UTF8' }));
    await register('t', 's3://bucket/t/');
    expect(await scene.bench.read('lake', 'SELECT town FROM t')).toEqual([['Zürich']]);
    s3.objects.set('bucket/t/b.parquet', made({}));
    const reason = /In the file "t\/b\.parquet" the column "town" is a String by its logical type alone/;
    expect((await refusal(register('again', 's3://bucket/t/*.parquet'))).details['reason']).toMatch(reason);
    const broken = await refusal((await scene.another()).read('lake', 'SELECT town FROM t'));
    expect([broken.code, broken.details['last_error']]).toEqual(['datasource.lake.table_unavailable', expect.stringMatching(reason)]);
  }); // prettier-ignore

  it('opens the copies of its tables and no others that lie beside them: those may be of other tables or credentials', async () => {
    await put('t/a.parquet', 'SELECT 1 AS v');
    await register('t', 's3://bucket/t/');
    const cache = join(scene.folder, 'spill', 'penstock-lake-cache', 'lake');
    mkdirSync(join(cache, 'earlier'));
    const secret = join(cache, 'earlier', 'secret.parquet');
    await scene.make(`COPY (SELECT 42 AS v) TO '${secret}'`);
    const [own = ''] = files().filter((name) => name.endsWith('a.parquet'));
    const from = (file: string) => scene.bench.read('lake', `SELECT v FROM read_parquet('${file}')`);
    expect(await from(join(cache, '..', own))).toEqual([[1]]);
    await expect(from(secret)).rejects.toMatchObject({ kind: 'permission' });
    await expect(from(join(cache, '**', '*.parquet'))).rejects.toMatchObject({ kind: 'permission' });
  });

  it('keeps a table that its storage refuses with unstorable words from taking the lake down', async () => {
    await put('t/a.parquet', 'SELECT 1 AS v');
    s3.objects.set('other/t/a.parquet', readFileSync(join(scene.folder, 'made.parquet')));
    await register('good', 's3://bucket/t/');
    await register('bad', 's3://other/t/');
    s3.broken.set('other', `no&#0;&#xD800;way${'x'.repeat(3000)}`);
    const fresh = await scene.another();
    expect(await fresh.read('lake', 'SELECT v FROM good')).toEqual([[1]]);
    const { tables } = await fresh.tables.list(scene.team.viewer, 'lake');
    expect(tables.map(({ name, last_error }) => [name, last_error])).toEqual([
      ['bad', expect.stringMatching(/no\uFFFD\uFFFDway/)],
      ['good', null],
    ]);
    expect(tables[0]?.last_error).toHaveLength(2000);
  });

  it('gives way to what is in use, oldest first, and ignores what was left half downloaded', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
      await put(`${name}/x.parquet`, `SELECT '${name.repeat(20)}' AS v FROM range(50)`);
    const size = s3.objects.get('bucket/a/x.parquet')?.length ?? 0;
    const room = Math.floor(4000 / size);
    await register('a', 's3://bucket/a/');
    writeFileSync(join(scene.folder, 'spill', 'penstock-lake-cache', '.part-left'), 'half');
    expect(room).toBeGreaterThan(1);
    const body = (name: string) => ({ name, namespace: 'more', format: 'parquet', location: `s3://bucket/${name}/` });
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      // Looked at and given back: nothing of it stays pinned.
      await scene.bench.tables.register(scene.team.author, 'lake', body(name));
      await scene.bench.tables.unregister(scene.team.author, 'lake', { namespace: 'more', table: name });
    }
    expect(files().filter((name) => name.endsWith('.parquet')).length).toBeLessThanOrEqual(room);
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM a')).toEqual([[50n]]);
  });
});
