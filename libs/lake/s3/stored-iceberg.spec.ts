import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import { EgressPolicy } from '#libs/egress';

import { S3_LOGIN, S3Server } from '../../../test/fixtures/s3-server.js';
import { IcebergTables } from '../iceberg/iceberg-tables.js';
import { writeState, type TableState } from '../iceberg/iceberg-table.fixture.js';
import { lakeOptions } from '../options/lake-options.js';
import { Mirror } from './mirror.js';
import { MirroredCopies } from './mirrored-copies.js';
import { S3Storage } from './s3-storage.js';
import { storedTables } from './stored-table.js';

const field = (id: number, name: string, type: unknown) => ({ id, name, type, required: false });
const NO_RULES = { deny: [], allow: [], refuseLoopback: false, services: [] };
const FIELDS = [field(1, 'id', 'long'), field(2, 'label', 'string')];

describe('an Iceberg table in a bucket', () => {
  let s3: S3Server;
  let folder: string;
  let instance: DuckDBInstance;
  let engine: DuckDBConnection;
  let mirror: Mirror;
  const { signal } = new AbortController();
  const made = (...parts: string[]): string => join(folder, 'made', ...parts);

  beforeEach(async () => {
    s3 = await S3Server.start();
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-stored-')));
    mkdirSync(made('data'), { recursive: true });
    instance = await DuckDBInstance.create(':memory:');
    engine = await instance.connect();
    mirror = new Mirror(join(folder, 'cache'), 1_000_000);
  });
  afterEach(async () => {
    await s3.stop();
    engine.disconnectSync();
    instance.closeSync();
    rmSync(folder, { recursive: true });
  });

  function tables(limits: { maxFiles?: number; maxBytes?: number } = {}): IcebergTables {
    const { maxFiles = 20, maxBytes = 100_000 } = limits;
    const options = lakeOptions(new Map([['endpoint', s3.endpoint], ['region', S3_LOGIN.region]])); // prettier-ignore
    const storage = new S3Storage(
      options,
      { username: S3_LOGIN.key, secret: S3_LOGIN.secret },
      new EgressPolicy(NO_RULES),
    );
    const copies = new MirroredCopies(storage, mirror, { datasource: 'lake', maxFiles, maxBytes });
    return new IcebergTables(storedTables(copies), maxFiles);
  }
  const query = async (sql: string) =>
    (await engine.runAndReadAll(sql))
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? null : String(cell))));
  const resolve = (location = 's3://bucket/t', from = tables()) => from.resolve({ location }, { signal, query });
  const problem = (...asked: Parameters<typeof resolve>): Promise<string> =>
    resolve(...asked).then(
      () => 'none',
      ({ name, message }: Error) => `${name}: ${message}`,
    );
  const rows = async (sql: string) => (await engine.runAndReadAll(`SELECT * FROM (${sql}) ORDER BY 1`)).getRowsJson();

  async function data(name: string, select: string, ids: string): Promise<{ path: string }> {
    await engine.run(`COPY (${select}) TO '${made('data', name)}' (FORMAT parquet, FIELD_IDS {${ids}})`);
    return { path: made('data', name) };
  }
  /** Writes a state here and puts all of it into the bucket. */
  async function put(version: number, state: TableState): Promise<void> {
    await writeState(made(), version, { address: 's3a://bucket/t', ...state });
    for (const part of ['metadata', 'data'])
      for (const name of readdirSync(made(part)))
        s3.objects.set(`bucket/t/${part}/${name}`, readFileSync(made(part, name)));
  }

  it('is read out of copies, followed to its newest metadata or pinned to one, each content fetched once', async () => {
    const [a, b] = [await data('a.parquet', `SELECT 1 AS old, 'a' AS label`, 'old: 1, label: 2'), await data('[b] ?.parquet', `SELECT 2 AS id`, 'id: 1')]; // prettier-ignore
    await put(1, { fields: FIELDS, files: [a] });
    await put(2, { fields: FIELDS, files: [a, b] });
    const newest = await resolve();
    expect(await rows(newest.sql)).toEqual([['1', 'a'], ['2', null]]); // prettier-ignore
    const pinned = await resolve('s3n://bucket/t/metadata/v1.metadata.json');
    expect(await rows(pinned.sql)).toEqual([['1', 'a']]);
    expect(newest.paths).toEqual([]);
    expect(newest.directories).toHaveLength(2);
    for (const directory of newest.directories) expect(directory.startsWith(join(folder, 'cache'))).toBe(true);
    await put(3, { fields: [field(1, 'renamed', 'long')], files: [b] });
    const followed = await resolve('s3://bucket/t/');
    expect(await rows(followed.sql)).toEqual([['2']]);
    const gets = s3.requests.filter((line) => line.startsWith('GET') && !line.endsWith('/bucket/'));
    expect(gets.length).toBe(new Set(gets).size);
    for (const scan of [newest, pinned, followed]) scan.release?.();
  });

  it('follows a writer that began to pack its metadata, and unpacks no more than it may', async () => {
    const a = await data('a.parquet', 'SELECT 1 AS id', 'id: 1');
    const b = await data('b.parquet', 'SELECT 2 AS id', 'id: 1');
    const key = (name: string): string => `bucket/t/metadata/${name}`;
    for (const newest of ['v2.gz.metadata.json', 'v2.metadata.json.gz', '00002-b.gz.metadata.json', '00002-b.metadata.json.gz']) {
      await put(2, { fields: [field(1, 'id', 'long')], files: [b] });
      const packed = gzipSync(s3.objects.get(key('v2.metadata.json')) as Buffer);
      rmSync(made('metadata', 'v2.metadata.json'));
      s3.objects.delete(key('v2.metadata.json'));
      await put(1, { fields: [field(1, 'id', 'long')], files: [a] });
      s3.objects.set(key(newest), packed);
      for (const place of ['s3://bucket/t', `s3://${key(newest)}`]) {
        const scan = await resolve(place);
        expect([newest, await rows(scan.sql)]).toEqual([newest, [['2']]]);
        scan.release?.();
      }
      s3.objects.delete(key(newest));
    }
    s3.objects.set(key('v3.gz.metadata.json'), gzipSync(Buffer.alloc(33 * 1024 * 1024, ' ')));
    expect(await problem()).toMatch(/TableProblem: .*larger than 32 MiB when it is unpacked/);
  }); // prettier-ignore

  it('names nothing outside its own folder of its own bucket: other tables have other readers', async () => {
    const a = await data('a.parquet', 'SELECT 1 AS id', 'id: 1');
    await put(1, { fields: FIELDS, files: [a] });
    const body = s3.objects.get('bucket/t/data/a.parquet') as Buffer;
    for (const key of ['bucket/other/a.parquet', 'foreign/t/data/a.parquet', 'bucket/t2/a.parquet']) s3.objects.set(key, body);
    for (const path of ['s3://bucket/other/a.parquet', 's3://foreign/t/data/a.parquet', 's3://bucket/t2/a.parquet', 's3://bucket/t'])
      expect([path, await put(1, { fields: FIELDS, files: [{ path }] }).then(() => problem())]).toEqual([path, expect.stringMatching(/^TableProblem: .*(outside its own folder|not on S3)/)]);
    for (const place of ['file:///etc/passwd', '/etc/passwd', 'https://x/y', 's3://foreign/t/metadata/snap-1.avro']) {
      await put(1, { fields: FIELDS, more: { snapshots: [{ 'snapshot-id': 'ID', 'manifest-list': place }] } });
      expect(await problem()).toMatch(/outside its own folder|not on S3/);
    }
    expect(s3.requests.filter((line) => /other|foreign|t2/.test(line))).toEqual([]);
  }); // prettier-ignore

  it('is whole or not there: a missing file, a broken download, too many bytes, too many files', async () => {
    const a = await data('a.parquet', 'SELECT 1 AS id', 'id: 1');
    await put(1, { fields: FIELDS, files: [a, { path: made('data', 'gone.parquet') }] });
    expect(await problem()).toMatch(/TableProblem: .*not there/);
    await put(2, { fields: FIELDS, files: [a] });
    s3.cut = 10;
    expect(await problem()).toMatch(/DriverFailure/);
    s3.cut = 0;
    expect(await problem('s3://bucket/t', tables({ maxBytes: 500 }))).toMatch(/larger than 500 bytes/);
    await put(3, { fields: FIELDS, files: Array.from({ length: 21 }, () => a) });
    expect(await problem()).toMatch(/more than 20 files/);
    for (let version = 0; version < 21; version += 1) s3.objects.set(`bucket/t/metadata/x${version}`, Buffer.alloc(0));
    expect(await problem()).toMatch(/more than 20 objects/);
    expect(await problem('s3://bucket/none')).toMatch(/no Iceberg metadata/);
    expect(await problem('s3://bucket/none/metadata/v1.metadata.json')).toMatch(/not there/);
  });
});
