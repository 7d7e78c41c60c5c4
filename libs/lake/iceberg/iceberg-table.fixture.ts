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
    { name: 'sequence_number', type: 'long', default: 0 },
  ],
} as const;
const entrySchema = (partition: readonly object[]) => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int' },
    { name: 'snapshot_id', type: ['null', 'long'], default: null },
    { name: 'sequence_number', type: ['null', 'long'], default: null },
    { name: 'file_sequence_number', type: ['null', 'long'], default: null },
    {
      name: 'data_file',
      type: {
        type: 'record',
        name: 'r2',
        fields: [
          { name: 'content', type: 'int', default: 0 },
          { name: 'file_path', type: 'string' },
          { name: 'file_format', type: 'string' },
          { name: 'partition', type: { type: 'record', name: 'r102', fields: partition } },
          { name: 'record_count', type: 'long', default: 0 },
          { name: 'file_size_in_bytes', type: 'long', default: 0 },
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
});

export interface DataFile {
  path: string;
  status?: number;
  content?: number;
  format?: string;
  records?: number;
  nulls?: Record<number, number>;
  partition?: object;
  bytes?: number;
}

export interface TableState {
  fields: object[];
  files?: DataFile[];
  manifestContent?: number;
  /** Delete files, in a manifest of their own that came after the data. */
  deletes?: DataFile[];
  /** Avro fields of what files are partitioned by. */
  partition?: object[];
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

/** Writes one state of a table: metadata, manifest list, manifests. The data files are the test's own. */
export async function writeState(root: string, version: number, state: TableState): Promise<string> {
  const { fields, files = [], deletes, manifestContent = 0, codec = 'deflate', more = {}, address } = state;
  const folder = join(root, 'metadata');
  mkdirSync(folder, { recursive: true });
  const called = (path: string, scheme: string): string =>
    address === undefined ? `${scheme}${path}` : path.replace(root, address);
  const manifest = async (name: string, entries: readonly DataFile[]): Promise<string> => {
    const path = join(folder, name);
    const rows = entries.map((entry) => entryRow(entry, called(entry.path, 'file://')));
    writeFileSync(path, await avroFile(entrySchema(state.partition ?? []), rows, codec));
    return called(path, 'file:');
  };
  const list = join(folder, `snap-${version}.avro`);
  const rows = [
    { manifest_path: await manifest(`m${version}.avro`, files), content: manifestContent, sequence_number: 1 },
  ];
  if (deletes)
    rows.push({ manifest_path: await manifest(`d${version}.avro`, deletes), content: 1, sequence_number: 2 });
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

function entryRow(file: DataFile, path: string): object {
  const { status = 1, content = 0, format = 'PARQUET', records = 0, bytes = 0, nulls, partition = {} } = file;
  // Those added by this state get their number from the manifest.
  const sequence = status === 1 ? null : 1;
  return {
    status,
    snapshot_id: null,
    sequence_number: sequence,
    file_sequence_number: sequence,
    data_file: {
      content,
      file_path: path,
      file_format: format,
      partition,
      record_count: records,
      file_size_in_bytes: bytes,
      null_value_counts: nulls ? Object.entries(nulls).map(([key, value]) => ({ key: Number(key), value })) : null,
    },
  };
}
