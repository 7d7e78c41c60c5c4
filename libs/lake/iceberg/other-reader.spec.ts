import { createReadStream, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { ByteWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { icebergCreate, icebergRead } from 'icebird';
import { avroWrite } from 'icebird/src/avro/avro.write.js';

import { FileRoots } from '#libs/datasources';

import { IcebergTables } from './iceberg-tables.js';
import { writeState, type DataFile, type TableState } from './iceberg-table.fixture.js';
import { localTables } from './local-table.js';

const field = (id: number, name: string, type: string) => ({ id, name, type, required: false });

/** Hands out a folder, whole files and ranges. */
function serveFolder(folder: () => string): Server {
  return createServer((request, response) => {
    const path = join(folder(), decodeURIComponent(request.url ?? ''));
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) return void response.writeHead(404).end();
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const range = first === undefined ? {} : { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
    response.writeHead(first === undefined ? 200 : 206, { 'accept-ranges': 'bytes' });
    createReadStream(path, range).pipe(response);
  });
} // prettier-ignore

/** As the engine writes values into text. */
function textOf(value: unknown, type: string): string | null {
  if (value === undefined || value === null) return null;
  if (!(value instanceof Date)) return String(value as string);
  const text = value.toISOString();
  return type === 'date' ? text.slice(0, 10) : text.replace('T', ' ').replace(/\.?0*Z$/, '');
}

describe('an Iceberg table, beside a reader of another maker', () => {
  let instance: DuckDBInstance;
  let engine: DuckDBConnection;
  let folder: string;
  let server: Server;
  let address: string;
  const { signal } = new AbortController();
  const root = (...parts: string[]): string => join(folder, 't', ...parts);

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    engine = await instance.connect();
    await engine.run(`SET TimeZone = 'UTC'`);
    server = serveFolder(() => folder);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/t`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    engine.disconnectSync();
    instance.closeSync();
  });
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-icebird-')));
    mkdirSync(root('data'), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const query = async (sql: string) =>
    (await engine.runAndReadAll(sql))
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? null : String(cell))));
  /** A data file with field ids, and the schema in its footer that other makers look for. */
  async function data(
    name: string,
    select: string,
    columns: Record<string, [id: number, type: string]>,
  ): Promise<DataFile> {
    const path = root('data', `${name}.parquet`);
    const ids = Object.entries(columns)
      .map(([column, [id]]) => `${column}: ${id}`)
      .join(', ');
    const fields = Object.entries(columns).map(([column, [id, type]]) => field(id, column, type));
    const schema = JSON.stringify({ type: 'struct', 'schema-id': 0, fields });
    await engine.run(
      `COPY (${select}) TO '${path}' (FORMAT parquet, FIELD_IDS {${ids}}, KV_METADATA {"iceberg.schema": '${schema}'})`,
    );
    const [row] = await query(`SELECT count(*) FROM read_parquet('${path}')`);
    return { path, records: Number(row?.[0]), bytes: statSync(path).size };
  }
  const ours = async (metadata: string): Promise<(string | null)[][]> => {
    const tables = new IcebergTables(localTables(new FileRoots([folder])), 50);
    const { sql } = await tables.resolve({ location: `file://${metadata}` }, { signal, query });
    return await query(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${sql}) ORDER BY ALL`);
  };
  async function theirs(name: string, fields: readonly { name: string; type: string }[]): Promise<(string | null)[][]> {
    const rows = await icebergRead({ tableUrl: address, metadataFileName: name });
    const texts = rows.map((row) => fields.map((each) => textOf(row[each.name], each.type)));
    // NULLs last, as the engine sorts.
    const key = (row: (string | null)[]): string => row.map((cell) => (cell === null ? '\u{10ffff}' : cell)).join('\0');
    return texts.sort((one, other) => (key(one) < key(other) ? -1 : 1));
  }
  /** The same state twice: with addresses for us, and with addresses for a reader that fetches. */
  async function both(state: Omit<TableState, 'fields'> & { fields: ReturnType<typeof field>[] }) {
    const metadata = await writeState(root(), 1, { codec: 'null', ...state });
    await writeState(root(), 2, { codec: 'null', address, ...state });
    return {
      ours: () => ours(metadata).catch((error: Error) => error.message),
      theirs: await theirs('v2.metadata.json', state.fields),
    };
  }

  const TYPES = {
    id: [1, 'long'], i: [2, 'int'], d: [3, 'double'], s: [4, 'string'], b: [5, 'boolean'], day: [6, 'date'], moment: [7, 'timestamp'], z: [8, 'timestamptz'],
  } as Record<string, [number, string]>; // prettier-ignore
  const FIELDS = Object.entries(TYPES).map(([name, [id, type]]) => field(id, name, type));

  it.each([1, 2])('of format version %i holds the same values', async (version) => {
    const files = [
      await data('a', `SELECT * FROM (VALUES
        (-9223372036854775807::BIGINT, 7::INT, 1.5::DOUBLE, 'Zürich 日本 🚰', true, DATE '2024-02-29', TIMESTAMP '2024-02-29 23:59:59.123', TIMESTAMPTZ '2024-02-29 23:59:59+00'),
        (9007199254740993, -2147483648, -0.1, '', false, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59', TIMESTAMPTZ '1969-12-31 23:00:00-01')
        ) t(id, i, d, s, b, day, moment, z)`, TYPES),
      await data('b', `SELECT 3::BIGINT AS id, NULL::INT AS i, NULL::DOUBLE AS d, NULL::VARCHAR AS s, NULL::BOOLEAN AS b, NULL::DATE AS day, NULL::TIMESTAMP AS moment, NULL::TIMESTAMPTZ AS z`, TYPES),
    ]; // prettier-ignore
    const more = { 'format-version': version, 'partition-specs': [], 'default-spec-id': 0 };
    const table = await both({ fields: FIELDS, files, more });
    const read = await table.ours();
    // The engine writes the zone behind an instant.
    const withoutZone = Array.isArray(read) ? read.map((row) => row.map((cell, at) => (at === 7 ? (cell?.replace('+00', '') ?? null) : cell))) : read;
    expect(withoutZone).toEqual(table.theirs);
    expect(table.theirs).toHaveLength(3);
  }); // prettier-ignore

  it('with renamed, added, dropped and reordered columns holds the same values, and so do states that dropped a file', async () => {
    const old = await data('old', `SELECT 1 AS a, 'x' AS gone, 'first' AS label`, { a: [1, 'int'], gone: [2, 'string'], label: [3, 'string'] });
    const young = await data('young', `SELECT 'second' AS a, 2 AS renamed, 5::BIGINT AS added`, { a: [3, 'string'], renamed: [1, 'int'], added: [4, 'long'] });
    const removed = { ...(await data('removed', `SELECT 9 AS a`, { a: [1, 'int'] })), status: 2 };
    const kept = { ...old, status: 0 };
    const fields = [field(3, 'a', 'string'), field(4, 'added', 'long'), field(1, 'renamed', 'int')];
    const more = { 'partition-specs': [], 'default-spec-id': 0 };
    const table = await both({ fields, files: [kept, young, removed], more });
    expect(table.theirs).toEqual([['first', null, '1'], ['second', '5', '2']]);
    expect(await table.ours()).toEqual(table.theirs);
  }); // prettier-ignore

  it('partitioned by a column, by a bucket of it and by its day holds the same values', async () => {
    const columns = { id: [1, 'int'], zip: [2, 'string'], day: [3, 'date'] } as Record<string, [number, string]>;
    const part = async (name: string, zip: string | null, day: string) => ({
      ...(await data(name, `SELECT 1 AS id, ${zip === null ? 'NULL::VARCHAR' : `'${zip}'`} AS zip, DATE '${day}' AS day`, columns)),
      partition: { zip, zip_bucket: 3, day_day: 7 },
    });
    const files = [await part('p1', '007', '2024-02-29'), await part('p2', null, '2025-01-01')];
    const partition = [
      { name: 'zip', type: ['null', 'string'], default: null },
      { name: 'zip_bucket', type: ['null', 'int'], default: null },
      { name: 'day_day', type: ['null', 'int'], default: null },
    ];
    const spec = ['identity', 'bucket[8]', 'day'].map((transform, index) => ({
      'source-id': [2, 2, 3][index], 'field-id': 1000 + index, transform, name: partition[index]?.name,
    }));
    const more = { 'partition-specs': [{ 'spec-id': 0, fields: spec }], 'default-spec-id': 0 };
    const fields = Object.entries(columns).map(([name, [id, type]]) => field(id, name, type));
    const table = await both({ fields, files, partition, more });
    expect(table.theirs).toEqual([['1', '007', '2024-02-29'], ['1', null, '2025-01-01']]);
    expect(await table.ours()).toEqual(table.theirs);
  }); // prettier-ignore

  it('with position or equality deletes has fewer rows than its data files, which is why it is refused here', async () => {
    const columns = { id: [1, 'int'], label: [2, 'string'] } as Record<string, [number, string]>;
    const rows = await data('rows', `SELECT i::INT AS id, 'n' || i AS label FROM range(4) t(i) ORDER BY i`, columns);
    const fields = Object.entries(columns).map(([name, [id, type]]) => field(id, name, type));
    const more = { 'partition-specs': [], 'default-spec-id': 0 };
    const whole = await both({ fields, files: [rows], more });
    expect(whole.theirs).toHaveLength(4);
    expect(await whole.ours()).toEqual(whole.theirs);
    const target = rows.path.replace(root(), address);
    const positions = await data('positions', `SELECT '${target}' AS file_path, 1::BIGINT AS pos`, { file_path: [2147483546, 'string'], pos: [2147483545, 'long'] });
    const equal = await data('equal', `SELECT 3::INT AS id`, { id: [1, 'int'] });
    for (const [deletes, left] of [
      [[{ ...positions, content: 1 }], ['0', '2', '3']],
      [[{ ...equal, content: 2 }], ['0', '1', '2']],
      [[{ ...positions, content: 1 }, { ...equal, content: 2 }], ['0', '2']],
    ] as const) {
      const table = await both({ fields, files: [rows], deletes: [...deletes], more });
      expect(table.theirs.map(([id]) => id)).toEqual(left);
      expect(await table.ours()).toMatch(/delete files/);
    }
  }); // prettier-ignore

  it('is read whose every file a library of another maker wrote: metadata, manifests and data', async () => {
    const bytesOf = (write: (writer: ByteWriter) => void): Uint8Array => {
      const writer = new ByteWriter();
      write(writer);
      return new Uint8Array(writer.getBuffer());
    };
    const fields = [{ id: 1, name: 'id', required: false, type: 'long' }, { id: 2, name: 'label', required: false, type: 'string' }] as never;
    const files = new Map<string, ByteWriter>();
    const tableUrl = `file://${root()}`;
    const metadata = await icebergCreate({
      tableUrl,
      schema: { type: 'struct', 'schema-id': 0, fields },
      writerFactory: (file) => {
        const writer = new ByteWriter();
        files.set(file, writer);
        return writer;
      },
    });
    mkdirSync(root('metadata'));
    const first = root('metadata', 'v1.metadata.json');
    writeFileSync(first, new Uint8Array(files.get(`${tableUrl}/metadata/v1.metadata.json`)?.getBuffer() ?? new ArrayBuffer(0)));
    expect(await ours(first)).toEqual([]);

    const parquet = parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 2 },
        { name: 'renamed_since', type: 'INT64', repetition_type: 'OPTIONAL', field_id: 1 },
        { name: 'label', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL', field_id: 2 },
      ],
      columnData: [{ name: 'renamed_since', data: [5n, null, -7n] }, { name: 'label', data: ['é', 'b', null] }],
    });
    writeFileSync(root('data', 'x.parquet'), new Uint8Array(parquet));
    const entry = {
      type: 'record', name: 'manifest_entry', fields: [
        { name: 'status', type: 'int' },
        { name: 'data_file', type: { type: 'record', name: 'r2', fields: [
          { name: 'content', type: 'int' }, { name: 'file_path', type: 'string' }, { name: 'file_format', type: 'string' },
          { name: 'record_count', type: 'long' }, { name: 'file_size_in_bytes', type: 'long' },
        ] } },
      ],
    } as never;
    const dataFile = { content: 0, file_path: `file://${root('data', 'x.parquet')}`, file_format: 'PARQUET', record_count: 3n, file_size_in_bytes: BigInt(parquet.byteLength) };
    const manifest = bytesOf((writer) => avroWrite({ writer, schema: entry, records: [{ status: 1, data_file: dataFile }] }));
    writeFileSync(root('metadata', 'm.avro'), manifest);
    const listed = { type: 'record', name: 'manifest_file', fields: [{ name: 'manifest_path', type: 'string' }, { name: 'manifest_length', type: 'long' }, { name: 'content', type: 'int' }] } as never;
    const row = { manifest_path: `file://${root('metadata', 'm.avro')}`, manifest_length: BigInt(manifest.length), content: 0 };
    writeFileSync(root('metadata', 'snap.avro'), bytesOf((writer) => avroWrite({ writer, schema: listed, records: [row] })));
    const second = root('metadata', 'v2.metadata.json');
    const snapshot = { 'snapshot-id': 1, 'manifest-list': `file://${root('metadata', 'snap.avro')}` };
    writeFileSync(second, JSON.stringify({ ...metadata, 'current-snapshot-id': 1, snapshots: [snapshot] }));
    expect(await ours(second)).toEqual([['-7', null], ['5', 'é'], [null, 'b']]);
    // A manifest of another length than the list says is not the one that was meant.
    writeFileSync(root('metadata', 'm.avro'), Buffer.concat([manifest, Buffer.alloc(1)]));
    await expect(ours(second)).rejects.toThrow(/longer or shorter/);
  }); // prettier-ignore
});
