import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { eventually } from '../../test/fixtures/eventually.js';
import { OtherMakersS3, S3RVER_LOGIN } from '../../test/fixtures/s3rver.js';
import { writeState } from './iceberg/iceberg-table.fixture.js';
import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene({ DATAPIPELINES_LAKE_MIRROR_REFRESH_SECONDS: '1' });
let s3: OtherMakersS3;
beforeAll(async () => {
  s3 = await OtherMakersS3.start();
}, 20_000);
afterAll(() => s3.stop());

const lake = (key: string = S3RVER_LOGIN.key, secret: string = S3RVER_LOGIN.secret) => ({
  credential: { kind: 'password', username: key, secret },
  properties: { dialect: { endpoint: s3.endpoint } },
});
beforeEach(() => scene.registered('lake', lake()));

/** A Parquet file of one query. */
async function parquet(sql: string): Promise<Buffer> {
  const file = join(scene.folder, 'made.parquet');
  await scene.make(`COPY (${sql}) TO '${file}'`);
  return readFileSync(file);
}
const put = async (key: string, sql: string): Promise<void> => s3.put(key, await parquet(sql));
const table = (name: string, location: string) => ({ namespace: 'sales', name, format: 'parquet', location });
const register = (name: string, location: string, datasource = 'lake') =>
  scene.bench.tables.register(scene.team.author, datasource, table(name, location));
const read = (sql: string) => scene.bench.read('lake', sql);

describe('a lake on an S3 server of another maker', () => {
  it('follows its pages of a thousand, and keeps keys with spaces and of every alphabet', async () => {
    const filler = Array.from({ length: 1005 }, (_, index) => [`pages/m/${index}.txt`, 'x'] as const);
    await s3.putAll(filler);
    await put('pages/a=Zürich Süd/first.parquet', 'SELECT 1 AS v');
    await put('pages/a=日本 & +/é ü.parquet', 'SELECT 2 AS v');
    await put("pages/a=O'Brien (x)/last one.parquet", 'SELECT 3 AS v');
    const before = s3.listings;
    await register('pages', 's3://bucket/pages/*/*.parquet');
    expect(s3.listings - before).toBeGreaterThanOrEqual(2);
    expect(await read('SELECT v, a FROM pages ORDER BY v')).toEqual([[1, 'Zürich Süd'], [2, '日本 & +'], [3, "O'Brien (x)"]]); // prettier-ignore
  }, 20_000);

  it('imports by a manifest in the bucket and reads an Iceberg table that lies there', async () => {
    const root = join(scene.folder, 'ice');
    mkdirSync(join(root, 'data'), { recursive: true });
    await scene.make(`COPY (SELECT 7 AS old) TO '${join(root, 'data', 'ä b.parquet')}' (FIELD_IDS {old: 1})`);
    const fields = [{ id: 1, name: 'renamed', type: 'long', required: false }];
    const state = { fields, files: [{ path: join(root, 'data', 'ä b.parquet') }], address: 's3://bucket/ice/t' };
    await writeState(root, 1, state);
    for (const part of ['metadata', 'data'])
      for (const name of readdirSync(join(root, part))) await s3.put(`ice/t/${part}/${name}`, readFileSync(join(root, part, name)));
    await put('pub/a b.parquet', 'SELECT 1 AS v');
    const tables = [{ name: 'plain', format: 'parquet', location: 's3://bucket/pub/' }, { name: 'ice', format: 'iceberg', location: 's3a://bucket/ice/t' }];
    await s3.put('pub/manifest.json', JSON.stringify({ namespace: 'pub', tables }));
    const done = await scene.bench.imports.import(scene.team.author, 'lake', { manifest_url: 's3://bucket/pub/manifest.json' });
    expect(done.registered_count).toBe(2);
    expect(await read('SELECT v, renamed FROM pub.plain, pub.ice')).toEqual([[1, 7n]]);
    expect(await scene.bench.service.test(scene.team.admin, 'lake')).toMatchObject({ connected: true });
  }); // prettier-ignore

  it('sees an object that changed after the time of refreshing, fetches no other again, and gives the error of one that is gone', async () => {
    await put('r/a.parquet', `SELECT 'a1' AS v`);
    await put('r/b.parquet', `SELECT 'b1' AS v`);
    await register('r', 's3://bucket/r/');
    const values = async () => (await read('SELECT v FROM r ORDER BY v')).flat().join();
    expect(await values()).toBe('a1,b1');
    await put('r/b.parquet', `SELECT 'b22' AS v`);
    await eventually('the changed object is read', async () => (await values()) === 'a1,b22');
    expect([s3.fetched('r/a.parquet'), s3.fetched('r/b.parquet')]).toEqual([1, 2]);
    await put('r/c.parquet', `SELECT 'c1' AS v`);
    await eventually('the added object is read', async () => (await values()) === 'a1,b22,c1');
    await s3.remove('r/b.parquet');
    await eventually('the removed object is left out', async () => (await values()) === 'a1,c1');
    for (const name of ['a', 'c']) await s3.remove(`r/${name}.parquet`);
    const broken = await eventually('the empty table is broken', async () => {
      const outcome = await refusal(read('SELECT v FROM r')).catch(() => undefined);
      return outcome?.code === 'datasource.lake.table_unavailable' && outcome;
    });
    expect(broken.details).toEqual({ table: 'sales.r', last_error: 'No object matches the location.' });
    expect([s3.fetched('r/a.parquet'), s3.fetched('r/b.parquet'), s3.fetched('r/c.parquet')]).toEqual([1, 2, 1]);
    await put('r/a.parquet', `SELECT 'back' AS v`);
    await eventually('the table is back', () => values().then((found) => found === 'back', () => false)); // prettier-ignore
  }, 20_000);

  // That a wrong secret is refused too shows against the server of our own, which verifies signatures of version 4.
  it('is refused with an unknown key, its secret is told nowhere, and nothing is stored', async () => {
    await put('t/a.parquet', 'SELECT 1 AS v');
    await scene.registered('wrong', lake('NOBODY', 'not-the-secret'));
    const refused = await refusal(register('t', 's3://bucket/t/', 'wrong'));
    expect([refused.code, refused.details['reason']]).toEqual([
      'datasource.validation.lake_table_unreadable',
      expect.stringMatching(/InvalidAccessKeyId/),
    ]);
    const tested = await scene.bench.service.test(scene.team.admin, 'wrong');
    expect(JSON.stringify([refused, tested])).not.toContain('not-the-secret');
    expect((await scene.bench.tables.list(scene.team.viewer, 'wrong')).count).toBe(0);
    await expect(register('none', 's3://no-such-bucket/t/')).rejects.toMatchObject({
      details: { reason: expect.stringMatching(/NoSuchBucket/) },
    });
  });
});
