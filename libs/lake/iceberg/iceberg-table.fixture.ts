import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';

import avro from 'avsc';

const snappy = createRequire(import.meta.url)('snappyjs') as { compress(data: Buffer): Uint8Array };

const MANIFEST = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    { name: 'manifest_path', type: 'string' },
    { name: 'content', type: 'int', default: 0 },
  ],
} as const;
const ENTRY = {
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int' },
    { name: 'snapshot_id', type: ['null', 'long'], default: null },
    {
      name: 'data_file',
      type: {
        type: 'record',
        name: 'r2',
        fields: [
          { name: 'content', type: 'int', default: 0 },
          { name: 'file_path', type: 'string' },
          { name: 'file_format', type: 'string' },
          { name: 'record_count', type: 'long', default: 0 },
          {
            name: 'null_value_counts',
            type: [
              'null',
              {
                type: 'array',
                items: {
                  type: 'record',
                  name: 'k1',
                  fields: [
                    { name: 'key', type: 'int' },
                    { name: 'value', type: 'long' },
                  ],
                },
              },
            ],
            default: null,
          },
        ],
      },
    },
  ],
} as const;

export interface DataFile {
  path: string;
  status?: number;
  content?: number;
  format?: string;
  records?: number;
  nulls?: Record<number, number>;
}

export interface TableState {
  fields: object[];
  files?: DataFile[];
  manifestContent?: number;
  codec?: 'null' | 'deflate' | 'snappy' | 'zstandard';
  more?: object;
  /** What the table's folder is called in addresses, when it lies elsewhere in the end. */
  address?: string;
}

type Done = (error: Error | null, data?: Buffer) => void;
/** What the encoder does not bring itself. */
const CODECS = {
  ...avro.streams.BlockEncoder.defaultCodecs(),
  zstandard: (data: Buffer, done: Done) => zlib.zstdCompress(data, done),
  snappy: (data: Buffer, done: Done) =>
    done(
      null,
      Buffer.concat([snappy.compress(data), Buffer.from(zlib.crc32(data).toString(16).padStart(8, '0'), 'hex')]),
    ),
};

async function avroFile(schema: object, rows: object[], codec: string): Promise<Buffer> {
  const encoder = new avro.streams.BlockEncoder(schema as avro.Schema, { codec, codecs: CODECS });
  const out = encoder.pipe(new PassThrough());
  for (const row of rows) encoder.write(row);
  encoder.end();
  return await buffer(out);
}

/** Writes one state of a table: metadata, manifest list, manifest. The data files are the test's own. */
export async function writeState(root: string, version: number, state: TableState): Promise<string> {
  const { fields, files = [], manifestContent = 0, codec = 'deflate', more = {}, address } = state;
  const folder = join(root, 'metadata');
  mkdirSync(folder, { recursive: true });
  const [manifest, list] = [join(folder, `m${version}.avro`), join(folder, `snap-${version}.avro`)];
  const called = (path: string, scheme: string): string =>
    address === undefined ? `${scheme}${path}` : path.replace(root, address);
  const entries = files.map(({ path, status = 1, content = 0, format = 'PARQUET', records = 0, nulls }) => ({
    status,
    snapshot_id: null,
    data_file: {
      content,
      file_path: called(path, 'file://'),
      file_format: format,
      record_count: records,
      null_value_counts: nulls ? Object.entries(nulls).map(([key, value]) => ({ key: Number(key), value })) : null,
    },
  }));
  writeFileSync(manifest, await avroFile(ENTRY, entries, codec));
  const rows = [{ manifest_path: called(manifest, 'file:'), content: manifestContent }];
  writeFileSync(list, await avroFile(MANIFEST, rows, codec));
  const metadata = join(folder, `v${version}.metadata.json`);
  const id = '7'.repeat(19);
  const body = {
    'format-version': 2,
    'current-schema-id': 0,
    schemas: [{ 'schema-id': 0, type: 'struct', fields }],
    snapshots: [{ 'snapshot-id': 'ID', 'manifest-list': called(list, '') }],
    'current-snapshot-id': 'ID',
    ...more,
  };
  writeFileSync(metadata, JSON.stringify(body).replaceAll('"ID"', id));
  return metadata;
}
