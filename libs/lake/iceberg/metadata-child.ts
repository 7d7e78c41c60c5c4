/**
 * Reads a table's metadata in a process of its own: the files are other people's and may fill any memory, and a thread
 * that does takes the server with it. Node runs this file as it stands, from the sources too, so it imports nothing of
 * ours but types.
 */
import { createRequire } from 'node:module';
import zlib from 'node:zlib';

import avro from 'avsc';

import type { EntryRow, ManifestRow, MetadataAnswer, MetadataQuestion, TableDocument } from './metadata-protocol.js';

const snappy = createRequire(import.meta.url)('snappyjs') as { uncompress(data: Buffer, most: number): Uint8Array };

const MIB = 1024 * 1024;
const MAX_BLOCK_BYTES = 64 * MIB;
/** As much as a metadata file may have that is not packed. */
const MAX_TABLE_MIB = 32;
const NO_SNAPSHOT = '-1';
const DELETED = '2';

/** Said to whoever registered the table. */
class Refused extends Error {}

type Row = Readonly<Record<string, unknown>>;
type ReadJson = (text: string, reviver: (key: string, value: unknown, at: { source?: string }) => unknown) => unknown;

/** Numbers stay the text they were written as. */
function parsed(text: string, what: string): unknown {
  try {
    return (JSON.parse as ReadJson)(text, (_key, value, { source }) => (typeof value === 'number' ? source : value));
  } catch {
    throw new Refused(`${what} is no JSON.`);
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

/** By its first bytes, not by its name: writers do not agree on one, and no JSON begins with them. */
function unpacked(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return zlib.gunzipSync(bytes, { maxOutputLength: MAX_TABLE_MIB * MIB });
  } catch (error) {
    throw new Refused(
      (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
        ? `A metadata file is larger than ${MAX_TABLE_MIB} MiB when it is unpacked; expire old snapshots of the table.`
        : 'The metadata file is packed with gzip and cannot be unpacked.',
    );
  }
}

function tableDocument(bytes: Uint8Array): TableDocument {
  const table = parsed(unpacked(Buffer.from(bytes)).toString('utf8'), 'The metadata file');
  if (!isRow(table)) throw new Refused('The metadata file is no Iceberg metadata.');
  const wanted = table['current-schema-id'];
  const schema = rowsOf(table['schemas']).find((each) => each['schema-id'] === wanted) ?? table['schema'];
  const current = String(table['current-snapshot-id'] ?? NO_SNAPSHOT);
  const snapshot = rowsOf(table['snapshots']).find((each) => String(each['snapshot-id']) === current);
  if (!snapshot && current !== NO_SNAPSHOT) throw new Refused('The metadata file does not hold its current snapshot.');
  const specs = rowsOf(table['partition-specs']).flatMap((spec) => rowsOf(spec['fields']));
  const properties = table['properties'];
  const mapping = isRow(properties) ? properties['schema.name-mapping.default'] : undefined;
  return {
    formatVersion: table['format-version'] ?? null,
    fields: isRow(schema) ? rowsOf(schema['fields']) : [],
    snapshot,
    partitionFields: [...specs, ...rowsOf(table['partition-spec'])],
    nameMapping: typeof mapping === 'string' ? parsed(mapping, 'The name mapping of the table') : null,
  } as TableDocument;
}

/** Longs as bigints. */
const long = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => Number(a > b) - Number(a < b),
});

/** Of a value of the type; an array of what takes no bytes would be as long as its file claims. */
function leastBytes(type: avro.Type, known: Map<avro.Type, number>): number {
  const before = known.get(type);
  if (before !== undefined) return before;
  // A type inside itself adds nothing to its own least.
  known.set(type, 0);
  const least = leastOf(type, (inner) => leastBytes(inner, known));
  known.set(type, least);
  return least;
}

function leastOf(type: avro.Type, inner: (type: avro.Type) => number): number {
  const { types } = avro;
  if (type instanceof types.RecordType) return type.fields.reduce((sum, field) => sum + inner(field.type), 0);
  if (type instanceof types.ArrayType && inner(type.itemsType) === 0)
    throw new Refused('A manifest has arrays of nothing.');
  if (type instanceof types.MapType) inner(type.valuesType as avro.Type);
  if (type instanceof types.UnwrappedUnionType || type instanceof types.WrappedUnionType)
    for (const branch of type.types) inner(branch);
  if (type instanceof types.FixedType) return type.size;
  return type instanceof types.NullType ? 0 : 1;
}

type Done = (error: Error | null, data?: Buffer) => void;
const maxOutputLength = MAX_BLOCK_BYTES;
const codecs = {
  null: (data: Buffer, done: Done) => done(null, data),
  deflate: (data: Buffer, done: Done) => zlib.inflateRaw(data, { maxOutputLength }, done),
  zstandard: (data: Buffer, done: Done) => zlib.zstdDecompress(data, { maxOutputLength }, done),
  snappy: (data: Buffer, done: Done) => {
    let plain: Buffer;
    try {
      // Its last four bytes are a checksum.
      plain = Buffer.from(snappy.uncompress(data.subarray(0, -4), MAX_BLOCK_BYTES));
    } catch (error) {
      return done(error as Error);
    }
    done(null, plain);
  },
};

/** @param pick undefined for rows that do not count */
function avroRows<T>(bytes: Buffer, maxRows: number, pick: (row: Row) => T | undefined): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const rows: T[] = [];
    let sync: Buffer | undefined;
    const decoder = new avro.streams.BlockDecoder({
      parseHook: (schema) => {
        const type = avro.Type.forSchema(schema, { registry: { long } });
        if (leastBytes(type, new Map()) === 0) throw new Refused('A manifest has entries of nothing.');
        return type;
      },
      codecs,
    });
    decoder.on('metadata', (_type: unknown, _codec: unknown, header: { sync: Buffer }) => {
      sync = Buffer.from(header.sync);
    });
    decoder.on('data', (row: unknown) => {
      if (!isRow(row)) return reject(new Refused('A manifest has entries that are no records.'));
      const picked = pick(row);
      if (picked === undefined) return;
      if (rows.length >= maxRows) reject(new Refused(`The table has more than ${maxRows} files.`));
      else rows.push(picked);
    });
    decoder.on('error', reject);
    decoder.on('end', () => {
      // A file that was cut ends like a whole one, only without its last mark.
      if (sync && bytes.subarray(-sync.length).equals(sync)) resolve(rows);
      else reject(new Refused('A manifest was cut short.'));
    });
    decoder.end(bytes);
  });
}

const textOrNull = (value: unknown): string | null => (value == null ? null : String(value));

const manifestRow = (row: Row): ManifestRow => ({
  path: textOrNull(row['manifest_path']),
  length: textOrNull(row['manifest_length']),
  content: String(row['content'] ?? 0),
});

/** Undefined for a file that is no longer part of the table. */
function entryRow(row: Row): EntryRow | undefined {
  if (String(row['status']) === DELETED) return undefined;
  const file = isRow(row['data_file']) ? row['data_file'] : {};
  const nulls = file['null_value_counts'];
  return {
    content: String(file['content'] ?? 0),
    path: textOrNull(file['file_path']),
    format: textOrNull(file['file_format']),
    records: textOrNull(file['record_count']),
    nulls: Array.isArray(nulls) ? rowsOf(nulls).map(({ key, value }) => [String(key), String(value)] as const) : null,
  };
}

async function answerTo(question: MetadataQuestion): Promise<MetadataAnswer> {
  try {
    if (question.about === 'table') return { found: tableDocument(question.bytes) };
    const bytes = Buffer.from(question.bytes);
    const { maxRows } = question;
    return {
      found:
        question.about === 'list'
          ? await avroRows(bytes, maxRows, manifestRow)
          : await avroRows(bytes, maxRows, entryRow),
    };
  } catch (error) {
    return { refused: error instanceof Refused ? error.message : 'A manifest is no Avro file that can be read.' };
  }
}

process.on('message', (question: MetadataQuestion) => {
  void answerTo(question).then((answer) => process.send?.(answer));
});
