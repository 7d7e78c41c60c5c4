import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import { FileRoots } from '#libs/datasources';

import type { TableScan } from '../tables/table-scan.js';
import { IcebergTables } from './iceberg-tables.js';
import { writeState, type DataFile, type TableState } from './iceberg-table.fixture.js';
import { localTables } from './local-table.js';

const field = (id: number, name: string, type: unknown, more: object = {}) => ({
  id,
  name,
  type,
  required: false,
  ...more,
});
const struct = (...fields: object[]) => ({ type: 'struct', fields });
const list = (id: number, element: unknown) => ({ type: 'list', 'element-id': id, element, 'element-required': false });
const map = (key: number, value: number, keyType: unknown, valueType: unknown) => ({
  type: 'map', 'key-id': key, key: keyType, 'value-id': value, value: valueType, 'value-required': false,
}); // prettier-ignore

describe('reading an Iceberg table', () => {
  let instance: DuckDBInstance;
  let engine: DuckDBConnection;
  let folder: string;
  let tables: IcebergTables;
  const { signal } = new AbortController();
  const root = (...parts: string[]): string => join(folder, 'ice', ...parts);
  const file = (name: string): string => root('data', `${name}.parquet`);

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    engine = await instance.connect();
    await engine.run(`SET TimeZone = 'UTC'`);
  });
  afterAll(() => {
    engine.disconnectSync();
    instance.closeSync();
  });
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-iceberg-')));
    mkdirSync(root('data'), { recursive: true });
    tables = new IcebergTables(localTables(new FileRoots([folder])), 50);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const query = async (sql: string) =>
    (await engine.runAndReadAll(sql))
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? null : String(cell))));
  const resolve = (location = `file://${root()}`): Promise<TableScan> =>
    tables.resolve({ location }, { signal, query });
  const write = (name: string, select: string, ids: string) =>
    engine.run(`COPY (${select}) TO '${file(name)}' (FORMAT parquet${ids === '' ? '' : `, FIELD_IDS {${ids}}`})`);
  /** All rows of a state as JSON, in the order of the first column. */
  async function rows(state: Omit<TableState, 'files'> & { files: string[] }): Promise<unknown[][]> {
    await writeState(root(), 1, { ...state, files: state.files.map((name) => ({ path: file(name) })) });
    const { sql } = await resolve();
    return (await engine.runAndReadAll(`SELECT * FROM (${sql}) ORDER BY 1`)).getRowsJson();
  }
  async function problem(state: TableState): Promise<string> {
    await writeState(root(), 1, state);
    return await resolve().then(
      () => 'none',
      ({ name, message }: Error) => `${name}: ${message}`,
    );
  }

  it.each(['null', 'deflate', 'snappy', 'zstandard'] as const)('takes manifests of the codec %s', async (codec) => {
    await write('a', 'SELECT 1 AS id', 'id: 1');
    expect(await rows({ fields: [field(1, 'id', 'long')], files: ['a'], codec })).toEqual([['1']]);
  });

  it('follows ids into structs, lists and maps: renamed, added, dropped, widened and reordered members', async () => {
    await write(
      'old',
      `SELECT 1 AS id, {'lat': 1.5::FLOAT, 'gone': 9, 'place': {'town': 'Ulm'}} AS spot,
              [{'sku': 'a', 'n': 1}, NULL, {'sku': NULL, 'n': 2}] AS items, MAP {'k': {'v': 7}} AS tags`,
      `id: 1, spot: {__duckdb_field_id: 2, lat: 3, gone: 4, place: {__duckdb_field_id: 5, town: 6}},
       items: {__duckdb_field_id: 7, element: {__duckdb_field_id: 8, sku: 9, n: 10}},
       tags: {__duckdb_field_id: 11, key: 12, value: {__duckdb_field_id: 13, v: 14}}`,
    );
    await write(
      'none',
      `SELECT 2 AS id, NULL::STRUCT(lat FLOAT, gone INT, place STRUCT(town VARCHAR)) AS spot,
              NULL::STRUCT(sku VARCHAR, n INT)[] AS items, NULL::MAP(VARCHAR, STRUCT(v INT)) AS tags`,
      `id: 1, spot: {__duckdb_field_id: 2, lat: 3, gone: 4, place: {__duckdb_field_id: 5, town: 6}},
       items: {__duckdb_field_id: 7, element: {__duckdb_field_id: 8, sku: 9, n: 10}},
       tags: {__duckdb_field_id: 11, key: 12, value: {__duckdb_field_id: 13, v: 14}}`,
    );
    await write('older', 'SELECT 3 AS id', 'id: 1');
    const fields = [
      field(1, 'id', 'long'),
      field(2, 'place', struct(
        field(5, 'where', struct(field(6, 'city', 'string'), field(20, 'zip', 'string'))),
        field(3, 'latitude', 'double'),
      )),
      field(7, 'lines', list(8, struct(field(10, 'count', 'long'), field(9, 'article', 'string'), field(21, 'new', 'int')))),
      field(11, 'labels', map(12, 13, 'string', struct(field(22, 'fresh', 'date'), field(14, 'value', 'long')))),
    ]; // prettier-ignore
    expect(await rows({ fields, files: ['old', 'none', 'older'] })).toEqual([
      ['1', { where: { city: 'Ulm', zip: null }, latitude: 1.5 },
        [{ count: '1', article: 'a', new: null }, null, { count: '2', article: null, new: null }],
        [{ key: 'k', value: { fresh: null, value: '7' } }]],
      ['2', null, null, null],
      ['3', null, null, null],
    ]); // prettier-ignore
  });

  it('does not read a member by its name when another has taken that name', async () => {
    await write(
      'a',
      `SELECT 1 AS id, {'x': 'was x', 'y': 'was y'} AS s`,
      'id: 1, s: {__duckdb_field_id: 2, x: 3, y: 4}',
    );
    const fields = [field(1, 'id', 'int'), field(2, 's', struct(field(4, 'x', 'string'), field(3, 'y', 'string')))];
    expect(await rows({ fields, files: ['a'] })).toEqual([[1, { x: 'was y', y: 'was x' }]]);
  });

  it('gives older files the defaults of Iceberg 3, each type as the format writes it', async () => {
    await write('old', 'SELECT 1 AS id', 'id: 1');
    await write('new', `SELECT 2 AS id, NULL::INT AS i`, 'id: 1, i: 2');
    const initial = (id: number, name: string, type: unknown, value: unknown) =>
      field(id, name, type, { 'initial-default': value });
    const fields = [
      field(1, 'id', 'int'), initial(2, 'i', 'int', 34), initial(3, 'l', 'long', 'BIG'), initial(4, 'b', 'boolean', true),
      initial(5, 'd', 'double', 1.5), initial(6, 'dec', 'decimal(9, 2)', '14.20'), initial(7, 'day', 'date', '2017-11-16'),
      initial(8, 'at', 'timestamptz', '2017-11-16T22:31:08.000001+00:00'), initial(9, 's', 'string', `it's "x"`),
      initial(10, 'u', 'uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'), initial(11, 'bin', 'binary', '00ff'),
      initial(12, 'st', struct(initial(13, 'in', 'int', 5), field(14, 'none', 'int')), {}),
    ]; // prettier-ignore
    await writeState(root(), 1, { fields, files: [{ path: file('old') }, { path: file('new') }] });
    const metadata = root('metadata', 'v1.metadata.json');
    const text = await import('node:fs/promises').then(({ readFile }) => readFile(metadata, 'utf8'));
    writeFileSync(
      metadata,
      text.replace('"BIG"', '9007199254740993').replace('"format-version":2', '"format-version":3'),
    );
    const { sql } = await resolve();
    const read = (await engine.runAndReadAll(`SELECT * FROM (${sql}) ORDER BY id`)).getRowsJson();
    const late = ['9007199254740993', true, 1.5, '14.20', '2017-11-16', '2017-11-16 22:31:08.000001+00', `it's "x"`,
      'f79c3e09-677c-4bbd-a479-3f349cb785e7', '\\x00\\xFF', { in: 5, none: null }]; // prettier-ignore
    expect(read).toEqual([
      [1, 34, ...late],
      [2, null, ...late],
    ]);
  });

  it('reads files without ids by the name mapping, nested ones too, and refuses them without one', async () => {
    await write('plain', `SELECT 5 AS ident, {'b': 'x', 'c': 'y'} AS s, [{'q': 1}] AS l`, '');
    const fields = [
      field(1, 'id', 'long'),
      field(2, 's', struct(field(4, 'b', 'string'), field(3, 'was_b', 'string'))),
      field(5, 'l', list(6, struct(field(7, 'p', 'int')))),
    ];
    const files = [{ path: file('plain') }];
    expect(await problem({ fields, files })).toMatch(/no name mapping/);
    const names = (id: number, given: string[], inside: object[] = []) => ({
      'field-id': id,
      names: given,
      fields: inside,
    });
    const mapping = [
      names(1, ['id', 'ident']),
      names(2, ['s'], [names(3, ['b']), names(4, ['c'])]),
      names(5, ['l'], [names(6, ['element'], [names(7, ['p', 'q'])])]),
    ];
    const more = { properties: { 'schema.name-mapping.default': JSON.stringify(mapping) } };
    expect(await rows({ fields, files: ['plain'], more })).toEqual([['5', { b: 'y', was_b: 'x' }, [{ p: 1 }]]]);
  });

  it('reads a file named in two entries twice, as the format means it', async () => {
    await write('a', `SELECT 1 AS id, {'x': 1} AS s`, 'id: 1, s: {__duckdb_field_id: 2, x: 3}');
    expect(await rows({ fields: [field(1, 'id', 'int')], files: ['a', 'a'] })).toEqual([[1], [1]]);
  });

  it('does not take the folders of a file for columns', async () => {
    mkdirSync(root('data', 'day=2024-01-01'));
    await write('day=2024-01-01/a', 'SELECT 1 AS id', 'id: 1');
    expect(await rows({ fields: [field(1, 'id', 'int'), field(2, 'day', 'string')], files: ['day=2024-01-01/a'] })).toEqual([[1, null]]);
  }); // prettier-ignore

  it('is refused wherever its rows could be wrong', async () => {
    await write('a', `SELECT 1 AS id, 'a' AS label, 'b'::BLOB AS bytes`, 'id: 1, label: 2, bytes: 3');
    await write('twice', `SELECT 1 AS id, 'a' AS "ID"`, '');
    await write('half', 'SELECT 1 AS id, 2 AS other', 'id: 1');
    const files = [{ path: file('a') }];
    const A = { path: file('a') };
    const id = [field(1, 'id', 'int')];
    const spec = { 'partition-specs': [{ fields: [{ 'source-id': 4, transform: 'identity', name: 'p' }] }] };
    for (const [state, says] of [
      [{ fields: id, files, manifestContent: 1 }, /delete files/],
      [{ fields: id, files: [{ ...A, content: 2 }] }, /delete files/],
      [{ fields: id, files: [{ ...A, format: 'ORC' }] }, /not Parquet/],
      [{ fields: [field(1, 'id', struct())], files }, /struct without fields/],
      [{ fields: [field(1, 'id', struct(field(2, 'x', 'int')))], files }, /struct in the table and a primitive/],
      [{ fields: [field(1, 'id', 'geography')], files }, /geography/],
      [{ fields: [field(2, 'label', 'long')], files }, /VARCHAR in a data file and BIGINT/],
      [{ fields: [field(3, 'bytes', 'string')], files }, /BLOB in a data file and VARCHAR/],
      [{ fields: [field(1, 'id', 'timestamp')], files }, /INTEGER in a data file/],
      [{ fields: [field(4, 'p', 'int')], files, more: spec }, /partition column/],
      [{ fields: id, files, more: { 'format-version': 4 } }, /version 4/],
      [{ fields: id, files: [{ path: file('half') }] }, /some of its columns/],
      [{ fields: id, files: [{ path: file('gone') }] }, /not there/],
      [{ fields: id, files: Array.from({ length: 51 }, () => A) }, /more than 50/],
      [{ fields: id, files, more: { 'current-snapshot-id': 5 } }, /current snapshot/],
      [{ fields: [], files }, /no current schema/],
      [{ fields: [{ id: 1, type: 'int' }], files }, /no name or id/],
      [{ fields: [field(1, 'id', nested(40))], files }, /deep/],
    ] as [TableState, RegExp][])
      expect(await problem(state)).toMatch(says);
    expect(await problem({ fields: id, files: [{ path: file('twice') }] })).toMatch(/several columns|name mapping/);
  });

  it('does not follow its metadata out of its folder', async () => {
    await engine.run(`COPY (SELECT 1 AS id) TO '${join(folder, 'beside.parquet')}' (FIELD_IDS {id: 1})`);
    symlinkSync(join(folder, 'beside.parquet'), file('link'));
    const id = [field(1, 'id', 'int')];
    for (const path of [join(folder, 'beside.parquet'), root('..', 'beside.parquet'), file('link')])
      expect(await problem({ fields: id, files: [{ path }] })).toMatch(/outside its own folder/);
    for (const place of ['s3://bucket/m.avro', 'https://x/m.avro', 'file://host/m.avro', '/etc/passwd', 'm.avro'])
      expect(
        await problem({ fields: id, more: { snapshots: [{ 'snapshot-id': 'ID', 'manifest-list': place }] } }),
      ).toMatch(/outside its own folder|not on this machine/);
    const other = new IcebergTables(localTables(new FileRoots([root('data')])), 50);
    await expect(other.resolve({ location: `file://${root()}` }, { signal, query })).rejects.toThrow(/file-roots/);
  });

  it('refuses damaged metadata, whatever is wrong with it', async () => {
    await write('a', 'SELECT 1 AS id', 'id: 1');
    const id = [field(1, 'id', 'int')];
    const written = () => writeState(root(), 9, { fields: id, files: [{ path: file('a') }] });
    const said = () => resolve().then(() => 'none', ({ name, message }: Error) => `${name}: ${message}`); // prettier-ignore
    await written();
    for (const bytes of ['Obj\x01', 'no avro', '']) {
      writeFileSync(root('metadata', 'snap-9.avro'), bytes, 'latin1');
      expect(await said()).toMatch(/TableProblem: .*manifest/i);
    }
    await written();
    truncateSync(root('metadata', 'm9.avro'), 200);
    expect(await said()).toMatch(/TableProblem: .*manifest/i);
    await written();
    truncateSync(file('a'), 20);
    expect(await said()).toMatch(/not|footer|magic/i);
    writeFileSync(root('metadata', 'v10.metadata.json'), '{"schemas": '.repeat(10));
    expect(await said()).toMatch(/JSON/);
    writeFileSync(root('metadata', 'v11.metadata.json'), '');
    truncateSync(root('metadata', 'v11.metadata.json'), 32 * 1024 * 1024 + 1);
    expect(await said()).toMatch(/larger than 32 MiB/);
    mkdirSync(root('metadata', 'v12.metadata.json'));
    expect(await said()).toMatch(/no plain file/);
  });

  it('is followed to a newest state that is packed, by every name writers give it, and not left at an old one', async () => {
    await write('a', 'SELECT 1 AS id', 'id: 1');
    await write('b', 'SELECT 2 AS id', 'id: 1');
    const id = [field(1, 'id', 'int')];
    const state = async (version: number, files: string[]): Promise<Buffer> => {
      const written = await writeState(root(), version, {
        fields: id,
        files: files.map((name) => ({ path: file(name) })),
      });
      const bytes = readFileSync(written);
      rmSync(written);
      return bytes;
    };
    const [old, packed] = [await state(1, ['a']), gzipSync(await state(2, ['b']))];
    for (const [before, newest] of [
      ['v2.metadata.json', 'v10.gz.metadata.json'],
      ['v2.metadata.json', 'v10.metadata.json.gz'],
      ['00001-a.metadata.json', '00002-b.gz.metadata.json'],
      ['00001-a.metadata.json', '00002-b.metadata.json.gz'],
      ['00002-b.metadata.json', '00002-c.metadata.json.gz'],
    ] as const) {
      writeFileSync(root('metadata', before), old);
      writeFileSync(root('metadata', newest), packed);
      for (const place of [`file://${root()}`, `file://${root('metadata', newest)}`]) {
        const { sql } = await resolve(place);
        expect([place, (await engine.runAndReadAll(sql)).getRowsJson()]).toEqual([place, [[2]]]);
      }
      const pinned = await resolve(`file://${root('metadata', before)}`);
      expect((await engine.runAndReadAll(pinned.sql)).getRowsJson()).toEqual([[1]]);
      for (const name of [before, newest]) rmSync(root('metadata', name));
    }
  });

  it('unpacks no more of its metadata than it would read, and says when it is no gzip', async () => {
    await writeState(root(), 1, { fields: [field(1, 'id', 'int')] });
    const newest = root('metadata', 'v2.gz.metadata.json');
    const said = () => resolve().then(() => 'none', ({ name, message }: Error) => `${name}: ${message}`); // prettier-ignore
    writeFileSync(newest, gzipSync(Buffer.alloc(33 * 1024 * 1024, ' ')));
    expect(await said()).toMatch(/TableProblem: .*larger than 32 MiB when it is unpacked/);
    writeFileSync(newest, gzipSync(readFileSync(root('metadata', 'v1.metadata.json'))).subarray(0, -20));
    expect(await said()).toMatch(/TableProblem: .*cannot be unpacked/);
    writeFileSync(newest, gzipSync('no metadata'));
    expect(await said()).toMatch(/TableProblem: .*no JSON/);
  });

  it('counts rows and NULLs from its manifests', async () => {
    await write('a', 'SELECT 1 AS id, NULL::INT AS n', 'id: 1, n: 2');
    const files: DataFile[] = [
      { path: file('a'), records: 3, nulls: { 1: 0, 2: 2 } },
      { path: file('a'), records: 4, nulls: { 1: 1 } },
    ];
    await writeState(root(), 1, { fields: [field(1, 'id', 'int'), field(2, 'n', 'int')], files });
    expect((await resolve()).statistics).toEqual({ rows: '7', columns: [{ name: 'id', nulls: '1' }] });
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? 'int' : list(100 + depth, nested(depth - 1));
}
