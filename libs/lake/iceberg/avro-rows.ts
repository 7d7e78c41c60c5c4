import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

import { TableProblem } from '../tables/table-scan.js';

const MAX_HEAP_MB = 256;
const MAX_BLOCK_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 20_000;

/**
 * Runs in a thread of its own: a hostile file may claim endless arrays, and only ending its thread stops that. Longs are
 * bigints, because snapshot ids are larger than a double holds.
 */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const zlib = require('node:zlib');
const avro = require(workerData.avsc);
const snappy = require(workerData.snappy);
const maxOutputLength = workerData.maxBlockBytes;
const long = avro.types.LongType.__with({
  fromBuffer: (buffer) => buffer.readBigInt64LE(),
  toBuffer: (value) => { const b = Buffer.alloc(8); b.writeBigInt64LE(value); return b; },
  fromJSON: BigInt, toJSON: String, isValid: (value) => typeof value === 'bigint',
  compare: (a, b) => (a === b ? 0 : a < b ? -1 : 1),
});
const decoder = new avro.streams.BlockDecoder({
  parseHook: (schema) => avro.Type.forSchema(schema, { registry: { long } }),
  codecs: {
    null: (data, done) => done(null, data),
    deflate: (data, done) => zlib.inflateRaw(data, { maxOutputLength }, done),
    zstandard: (data, done) => zlib.zstdDecompress(data, { maxOutputLength }, done),
    snappy: (data, done) => {
      try { done(null, Buffer.from(snappy.uncompress(data.subarray(0, -4), maxOutputLength))); } catch (error) { done(error); }
    },
  },
});
const rows = [];
const bytes = Buffer.from(workerData.bytes);
let sync;
decoder.on('metadata', (_type, _codec, header) => { sync = Buffer.from(header.sync); });
decoder.on('data', (row) => {
  if (rows.length >= workerData.maxRows) throw new Error('too many entries');
  rows.push(JSON.parse(JSON.stringify(row, (_key, value) => (typeof value === 'bigint' ? String(value) : value))));
});
decoder.on('error', (error) => { throw error; });
decoder.on('end', () => {
  // A file that was cut ends like a whole one, only without its last mark.
  if (!sync || !bytes.subarray(-16).equals(sync)) throw new Error('cut short');
  parentPort.postMessage(rows);
});
decoder.end(bytes);
`;

/** The rows of an Avro file as plain values, longs as text. @throws TableProblem within bounded time and memory */
export async function avroRows(bytes: Uint8Array, maxRows: number, signal: AbortSignal): Promise<unknown[]> {
  signal.throwIfAborted();
  const { resolve } = createRequire(import.meta.url);
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { bytes, maxRows, maxBlockBytes: MAX_BLOCK_BYTES, avsc: resolve('avsc'), snappy: resolve('snappyjs') },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    return await new Promise<unknown[]>((resolveRows, reject) => {
      worker.once('message', resolveRows);
      worker.once('error', reject);
      worker.once('exit', () => reject(new TableProblem('A manifest ended without a whole answer.')));
      ends.addEventListener('abort', () => reject(new TableProblem('A manifest takes too long to read.')), {
        once: true,
      });
    });
  } catch (error) {
    if (error instanceof TableProblem) throw error;
    throw new TableProblem('A manifest is no Avro file that can be read.', { cause: error });
  } finally {
    await worker.terminate();
  }
}
