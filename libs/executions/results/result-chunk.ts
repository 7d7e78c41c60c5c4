import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

/** Written into the result's meta, so that a server of another version does not misread the chunks. */
export const CHUNK_ENCODING = 'zstd';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Level 1: half of gzip's size at three times its speed (contract 02 §15). */
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Room for output, of which one piece is enough for rows that halve: each piece is a way to a thread and back. */
const LEAST_ROOM = 1024;

/**
 * So few bytes are not worth a compressor, which is made anew for each chunk and takes longer than everything else that
 * is done to store them: they stand in their frame as they are.
 */
const PLAIN_BYTES = 4096;
/** Magic number; one segment, its size in four bytes; the size; then its one block, the last, not compressed. */
const PLAIN_HEADER = 12;
const MAGIC = 0xfd2f_b528;
const ONE_SEGMENT = 0b1010_0000;
const LAST_BLOCK = 1;

/** `rows`: row arrays in UTF-8, joined by line feeds; JSON text holds no raw line feed. A frame of Zstandard. */
export async function packChunk(rows: Uint8Array): Promise<Buffer> {
  if (rows.length <= PLAIN_BYTES) return plainFrame(rows);
  return compress(rows, { params: LEVEL, chunkSize: Math.max(LEAST_ROOM, rows.length >> 1) });
}

export async function linesOfChunk(chunk: Uint8Array): Promise<string[]> {
  return linesOf(rowsOfPlainFrame(chunk) ?? (await decompress(chunk)));
}

/** RFC 8878 §3.1.1. */
function plainFrame(rows: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PLAIN_HEADER + rows.length);
  frame.writeUInt32LE(MAGIC, 0);
  frame.writeUInt8(ONE_SEGMENT, 4);
  frame.writeUInt32LE(rows.length, 5);
  frame.writeUIntLE((rows.length << 3) | LAST_BLOCK, 9, 3);
  frame.set(rows, PLAIN_HEADER);
  return frame;
}

/** Undefined for any frame but those that {@link plainFrame} makes. */
function rowsOfPlainFrame(chunk: Uint8Array): Uint8Array | undefined {
  const size = chunk.length - PLAIN_HEADER;
  if (size < 0 || size > PLAIN_BYTES) return undefined;
  const frame = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const isPlain =
    frame.readUInt32LE(0) === MAGIC &&
    frame[4] === ONE_SEGMENT &&
    frame.readUInt32LE(5) === size &&
    frame.readUIntLE(9, 3) === ((size << 3) | LAST_BLOCK);
  return isPlain ? frame.subarray(PLAIN_HEADER) : undefined;
}

/** The row arrays of a chunk's rows. */
export function linesOf(rows: Uint8Array): string[] {
  if (rows.length === 0) return [];
  return Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength).toString('utf8').split('\n');
}
