import { describe, expect, it } from '@jest/globals';
import type { ResultMeta, TransientStore } from '#libs/transient';
import { createVector, RowEncoder, type Column, type ColumnBatch } from '#libs/typesystem';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { linesOfChunk, packChunk } from './result-chunk.js';
import { ResultStore } from './result-store.js';
import { ResultWriter } from './result-writer.js';

const COLUMNS: Column[] = [{ name: 't', type: 'STRING' }];
const NEVER = new AbortController().signal;

function batch(texts: readonly string[]): ColumnBatch {
  const vector = createVector(COLUMNS[0]!, Math.max(1, texts.length));
  if (vector.layout !== 'string') throw new TypeError('a STRING is laid out as strings');
  texts.forEach((text, row) => (vector.data[row] = text));
  return { rowCount: texts.length, vectors: [vector] };
}

/** Writes the texts in batches of these sizes; what was stored, chunk by chunk. */
async function stored(
  texts: readonly string[],
  sizes: readonly number[],
  { maxBytes = 1 << 30, last = false, lost = false }: { maxBytes?: number; last?: boolean; lost?: boolean } = {},
) {
  const chunks: Buffer[] = [];
  let begun = 0;
  const store = {
    storeResult: (_id: string, chunk: Uint8Array | undefined, { totalRows }: ResultMeta, ttlSeconds: number) => {
      if (chunk) chunks[0] = Buffer.from(chunk);
      const chunkCount = lost ? 0 : chunks.length;
      return Promise.resolve({ expiresAt: `2026-01-01T00:00:${ttlSeconds}.000Z`, totalRows, chunks: chunkCount });
    },
    beginResult: (_id: string, _ttl: number, first?: Uint8Array) => {
      if (first) chunks[0] = Buffer.from(first);
      return Promise.resolve(void begun++);
    },
    putChunk: (_id: string, index: number, bytes: Uint8Array) => {
      chunks[index] = Buffer.from(bytes);
      return Promise.resolve();
    },
  };
  const writer = new ResultWriter('run', store, { maxBytes, drainTtlSeconds: 60, ttlSeconds: 30 }, NEVER);
  const encoder = new RowEncoder(COLUMNS);
  let from = 0;
  for (let turn = 0; from < texts.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    await writer.write(encoder.encode(batch(texts.slice(from, from + size))));
    from += size;
  }
  const result = await writer.finish({ columns: COLUMNS, warnings: [], last });
  return { ...result, begun, lines: await Promise.all(chunks.map(linesOfChunk)) };
}

const rowOf = (text: string): string => JSON.stringify([text]);

describe('the chunks of a result', () => {
  const texts = Array.from({ length: 3456 }, (_, index) => `${'é"\n'.repeat(index % 5)}${index}`);

  it.each([[[1]], [[7, 2048]], [[700]], [[1000]], [[2048]], [[999, 2, 1001]]])(
    'are the same whatever batches the rows came in: %j',
    async (sizes) => {
      const { lines, chunkStarts, rowCount, bytes, chunkCount } = await stored(texts, sizes);
      expect(lines.flat()).toEqual(texts.map(rowOf));
      expect(chunkStarts).toEqual([0, 1000, 2000, 3000]);
      expect(lines.map((rows) => rows.length)).toEqual([1000, 1000, 1000, 456]);
      expect([rowCount, chunkCount]).toEqual([3456, 4]);
      expect(bytes).toBe(texts.reduce((sum, text) => sum + Buffer.byteLength(rowOf(text)), 0));
    },
  );

  it('are none for a result without rows, which is begun all the same: otherwise it could not be published', async () => {
    expect(await stored([], [1])).toMatchObject({ begun: 1, chunkCount: 0, rowCount: 0, lines: [] });
    expect((await stored(texts, [1000])).begun).toBe(1);
  });

  it('are closed by bytes too, in the middle of a batch, so that no read fetches more than a megabyte or one row', async () => {
    const wide = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(400_000));
    const { lines, chunkStarts } = await stored(wide, [4]);
    expect(chunkStarts).toEqual([0, 3, 6, 9]);
    expect(lines.flat()).toEqual(wide.map(rowOf));
  });

  it('are stored and published in one act where there is one at most, and no node follows', async () => {
    const published = { expiresAt: '2026-01-01T00:00:30.000Z', ttlSeconds: 30 };
    const few = texts.slice(0, 10);
    const { lines, ...result } = await stored(few, [4], { last: true });
    expect(lines).toEqual([few.map(rowOf)]);
    expect(result).toMatchObject({ begun: 0, published, chunkStarts: [0], rowCount: 10 });
    expect(Buffer.from(result.whole!).toString('utf8')).toBe(few.map(rowOf).join('\n'));
    expect(await stored([], [1], { last: true })).toMatchObject({ begun: 0, published, chunkCount: 0, lines: [] });
    // Not while another node may still fail, nor once a chunk is with the store already.
    expect((await stored(few, [4])).published).toBeUndefined();
    expect(await stored(texts, [1000], { last: true })).toMatchObject({ begun: 1, published: undefined });
  });

  it('fail the node when the act that stores them leaves less than was written', async () => {
    await expect(stored(['a'], [1], { last: true, lost: true })).rejects.toMatchObject({
      code: 'result.storage_unavailable',
    });
  });

  it('fail a run whose published result, read again, is not what was written', async () => {
    const { chunkCount: written, ...rest } = await stored(texts, [1000]);
    const publishing = (chunks: number, totalRows: number): Promise<unknown> => {
      const again = { expiresAt: '2026-01-01T00:00:30.000Z', chunks, totalRows };
      const store = { publishResult: () => Promise.resolve(again) } as unknown as TransientStore;
      const delivered = { columns: COLUMNS, warnings: [], stored: { ...rest, chunkCount: written } };
      return new ResultStore(store, { maxBytes: 1, drainTtlSeconds: 1 }).publish('run', delivered, 30);
    };
    await expect(publishing(4, 3456)).resolves.toMatchObject({ ttlSeconds: 30 });
    for (const [chunks, rows] of [
      [3, 3456],
      [4, 3455],
    ] as const)
      await expect(publishing(chunks, rows)).rejects.toMatchObject({ code: 'result.storage_unavailable' });
  });

  it('of few bytes are frames that any reader of Zstandard can open, and their size decides nothing else', async () => {
    for (const length of [0, 1, 255, 256, 4095, 4096, 4097, 70_000]) {
      const rows = Buffer.alloc(length, '[1,"ä"]\n');
      const chunk = await packChunk(rows);
      expect([length, zstdDecompressSync(chunk).equals(rows)]).toEqual([length, true]);
      expect((await linesOfChunk(chunk)).join('\n')).toBe(rows.toString('utf8'));
      // One that another version compressed, whatever its size.
      expect((await linesOfChunk(zstdCompressSync(rows))).join('\n')).toBe(rows.toString('utf8'));
    }
  });

  it('are none of no rows', async () => {
    expect(await stored([], [1])).toMatchObject({ rowCount: 0, bytes: 0, chunkCount: 0, chunkStarts: [] });
  });

  it('may hold exactly as many bytes as are allowed, and one more is refused with both numbers', async () => {
    const bytes = Buffer.byteLength(rowOf('äbc')) * 3;
    expect((await stored(['äbc', 'äbc', 'äbc'], [2], { maxBytes: bytes })).bytes).toBe(bytes);
    await expect(stored(['äbc', 'äbc', 'äbc'], [2], { maxBytes: bytes - 1 })).rejects.toMatchObject({
      code: 'result.too_large',
      details: { max_size_bytes: bytes - 1, bytes },
    });
  });
});
