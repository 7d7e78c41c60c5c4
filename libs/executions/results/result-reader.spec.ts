import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryTransientStore } from '#libs/transient';
import { packChunk } from './result-chunk.js';
import { ResultReader } from './result-reader.js';

const RUN = '0197b2f0-0000-7000-8000-000000000001';
const row = (index: number): string => `[${index},"${'é'.repeat(index % 50)}"]`;

let store: MemoryTransientStore;
let reader: ResultReader;

beforeEach(() => {
  store = new MemoryTransientStore({ maxBytes: 1 << 26 });
  reader = new ResultReader(store);
});

async function stored(sizes: readonly number[], kept = sizes.length): Promise<void> {
  await store.beginResult(RUN, 60);
  let from = 0;
  const chunkStarts: number[] = [];
  for (const [index, size] of sizes.entries()) {
    chunkStarts.push(from);
    const lines = Array.from({ length: size }, (_, at) => row(from + at)).join('\n');
    // A chunk that says less than its place in the meta is as good as lost.
    await store.putChunk(RUN, index, await packChunk(Buffer.from(index < kept ? lines : row(from))));
    from += size;
  }
  await store.publishResult(
    RUN,
    { schemaJson: '[]', warningsJson: '[]', encoding: 'zstd', totalRows: from, bytes: 1, chunkStarts },
    60,
  );
}

const rows = (count: number): string[] => Array.from({ length: count }, (_, index) => row(index));

describe('the first rows of a result', () => {
  it('are the same however many chunks they lie in, and never more than there are', async () => {
    await stored([3, 1000, 2]);
    for (const limit of [1, 3, 4, 1003, 1004, 1005]) expect(await reader.firstRows(RUN, limit)).toEqual(rows(limit));
    expect(await reader.firstRows(RUN, 5000)).toEqual(rows(1005));
  });

  it('are none of an empty result, which is there all the same', async () => {
    await stored([]);
    expect(await reader.firstRows(RUN, 100)).toEqual([]);
    await stored([5]);
    expect(await reader.firstRows(RUN, 0)).toEqual([]);
  });

  it('are undefined, never fewer, when the result is gone or a chunk of the page is not whole', async () => {
    expect(await reader.firstRows(RUN, 10)).toBeUndefined();
    await stored([2, 3], 1);
    expect(await reader.firstRows(RUN, 2)).toEqual(rows(2));
    expect(await reader.firstRows(RUN, 3)).toBeUndefined();
    await stored([2], 0);
    expect(await reader.firstRows(RUN, 1)).toBeUndefined();
  });

  it('are none that a server of another version packed otherwise: what cannot be read counts as gone', async () => {
    await store.beginResult(RUN, 60);
    await store.putChunk(RUN, 0, Buffer.from(row(0)));
    const meta = { schemaJson: '[]', warningsJson: '[]', encoding: 'plain', totalRows: 1, bytes: 1, chunkStarts: [0] };
    await store.publishResult(RUN, meta, 60);
    expect(await reader.info(RUN)).toBeUndefined();
    expect(await reader.firstRows(RUN, 1)).toBeUndefined();
  });

  it('come back exactly from chunks packed here and from those packed in a thread', async () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `[${index},"\\u0000😀${Math.sin(index)}"]`);
    for (const count of [1, 40, 3000]) {
      await store.discardResult(RUN);
      await store.beginResult(RUN, 60);
      await store.putChunk(RUN, 0, await packChunk(Buffer.from(lines.slice(0, count).join('\n'))));
      const meta = {
        schemaJson: '[]',
        warningsJson: '[]',
        encoding: 'zstd',
        totalRows: count,
        bytes: 1,
        chunkStarts: [0],
      };
      await store.publishResult(RUN, meta, 60);
      expect(await reader.firstRows(RUN, count)).toEqual(lines.slice(0, count));
    }
  });
});
