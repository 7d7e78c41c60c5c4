import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

/** Written into the result's meta, so that chunks of another build are not misread. */
export const CHUNK_ENCODING = 'zstd';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Level 1: half of gzip's size at three times its speed (contract 02 §15). */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** `lines`: row arrays joined by line feeds; JSON text holds no raw line feed. */
export function compressChunk(lines: string): Promise<Buffer> {
  return compress(Buffer.from(lines, 'utf8'), LEVEL);
}

export async function linesOfChunk(chunk: Uint8Array): Promise<string[]> {
  return (await decompress(chunk)).toString('utf8').split('\n');
}
