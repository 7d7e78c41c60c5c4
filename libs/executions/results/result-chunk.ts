import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';

/** Written into the result's meta, so that a server of another version does not misread the chunks. */
export const CHUNK_ENCODING = 'zstd';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Level 1: half of gzip's size at three times its speed (contract 02 §15). */
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Room for output, of which one piece is enough for rows that halve: each piece is a way to a thread and back. */
const LEAST_ROOM = 1024;

/** A chunk of so few bytes takes less time here than its way to a thread and back. */
const SMALL_BYTES = 4096;

/** `rows`: row arrays in UTF-8, joined by line feeds; JSON text holds no raw line feed. */
export async function compressChunk(rows: Uint8Array): Promise<Buffer> {
  const options = { params: LEVEL, chunkSize: Math.max(LEAST_ROOM, rows.length >> 1) };
  return rows.length <= SMALL_BYTES ? zstdCompressSync(rows, options) : compress(rows, options);
}

export async function linesOfChunk(chunk: Uint8Array): Promise<string[]> {
  return linesOf(chunk.length <= SMALL_BYTES / 4 ? zstdDecompressSync(chunk) : await decompress(chunk));
}

/** The row arrays of a chunk's rows. */
export function linesOf(rows: Uint8Array): string[] {
  if (rows.length === 0) return [];
  return Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength).toString('utf8').split('\n');
}
