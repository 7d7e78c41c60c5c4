import { describe, expect, it } from '@jest/globals';
import { createVector, RowEncoder, type Column, type ColumnBatch } from '#libs/typesystem';
import { linesOfChunk } from './result-chunk.js';
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
async function stored(texts: readonly string[], sizes: readonly number[], maxBytes = 1 << 30) {
  const chunks: Buffer[] = [];
  let begun = 0;
  const store = {
    beginResult: (_id: string, _ttl: number, first?: Uint8Array) => {
      if (first) chunks[0] = Buffer.from(first);
      return Promise.resolve(void begun++);
    },
    putChunk: (_id: string, index: number, bytes: Uint8Array) => {
      chunks[index] = Buffer.from(bytes);
      return Promise.resolve();
    },
  };
  const writer = new ResultWriter('run', store, { maxBytes, drainTtlSeconds: 60 }, NEVER);
  const encoder = new RowEncoder(COLUMNS);
  let from = 0;
  for (let turn = 0; from < texts.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    await writer.write(encoder.encode(batch(texts.slice(from, from + size))));
    from += size;
  }
  const result = await writer.finish(COLUMNS);
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

  it('are none of no rows', async () => {
    expect(await stored([], [1])).toMatchObject({ rowCount: 0, bytes: 0, chunkCount: 0, chunkStarts: [] });
  });

  it('may hold exactly as many bytes as are allowed, and one more is refused with both numbers', async () => {
    const bytes = Buffer.byteLength(rowOf('äbc')) * 3;
    expect((await stored(['äbc', 'äbc', 'äbc'], [2], bytes)).bytes).toBe(bytes);
    await expect(stored(['äbc', 'äbc', 'äbc'], [2], bytes - 1)).rejects.toMatchObject({
      code: 'result.too_large',
      details: { max_size_bytes: bytes - 1, bytes },
    });
  });
});
