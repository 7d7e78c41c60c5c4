import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import avro from 'avsc';

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
}

export interface TableState {
  fields: object[];
  files?: DataFile[];
  manifestContent?: number;
  codec?: 'null' | 'deflate';
  more?: object;
}

async function avroFile(schema: object, rows: object[], codec: string): Promise<Buffer> {
  const encoder = new avro.streams.BlockEncoder(schema as avro.Schema, { codec });
  const out = encoder.pipe(new PassThrough());
  for (const row of rows) encoder.write(row);
  encoder.end();
  return await buffer(out);
}

/** Writes one state of a table: metadata, manifest list, manifest. The data files are the test's own. */
export async function writeState(root: string, version: number, state: TableState): Promise<string> {
  const { fields, files = [], manifestContent = 0, codec = 'deflate', more = {} } = state;
  const folder = join(root, 'metadata');
  mkdirSync(folder, { recursive: true });
  const [manifest, list] = [join(folder, `m${version}.avro`), join(folder, `snap-${version}.avro`)];
  const entries = files.map(({ path, status = 1, content = 0, format = 'PARQUET' }) => ({
    status,
    snapshot_id: null,
    data_file: { content, file_path: `file://${path}`, file_format: format },
  }));
  writeFileSync(manifest, await avroFile(ENTRY, entries, codec));
  writeFileSync(
    list,
    await avroFile(MANIFEST, [{ manifest_path: `file:${manifest}`, content: manifestContent }], codec),
  );
  const metadata = join(folder, `v${version}.metadata.json`);
  const id = '7'.repeat(19);
  const body = {
    'format-version': 2,
    'current-schema-id': 0,
    schemas: [{ 'schema-id': 0, type: 'struct', fields }],
    snapshots: [{ 'snapshot-id': 'ID', 'manifest-list': list }],
    'current-snapshot-id': 'ID',
    ...more,
  };
  writeFileSync(metadata, JSON.stringify(body).replaceAll('"ID"', id));
  return metadata;
}
