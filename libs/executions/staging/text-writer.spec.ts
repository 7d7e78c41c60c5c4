import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, INTEGER, VARCHAR, type DuckDBConnection } from '@duckdb/node-api';
import { Utf8Texts, type StringVector, type Utf8Vector } from '#libs/typesystem';
import { TableChunk } from './chunk-writer.js';
import type { StagedColumn } from './staged-column.js';

const COLUMN: StagedColumn = { name: 't', sqlType: 'VARCHAR', type: VARCHAR, sizedAtEnd: false };
const NUMBER: StagedColumn = { name: 'n', sqlType: 'INTEGER', type: INTEGER, sizedAtEnd: false };

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});

afterAll(() => {
  connection.disconnectSync();
  instance.closeSync();
});

function asStrings(texts: readonly (string | null)[]): StringVector {
  const data = texts.map((text) => text ?? '');
  return { layout: 'string', type: { type: 'STRING' }, data, nulls: nullsOf(texts) };
}

function asUtf8(texts: readonly (string | null)[]): Utf8Vector {
  const data = new Utf8Texts(texts.length, 1);
  texts.forEach((text, row) => {
    const bytes = Buffer.from(text ?? '');
    if (text === null) data.skip(row);
    else data.put(row, bytes, 0, bytes.length);
  });
  return { layout: 'utf8', type: { type: 'STRING' }, data, nulls: nullsOf(texts) };
}

function nullsOf(texts: readonly (string | null)[]): Uint8Array {
  return Uint8Array.from(texts, (text) => (text === null ? 1 : 0));
}

/** Appends batches of texts and reads them back as the engine has them, grouped too: equal texts must be one group. */
async function stored(batches: readonly (StringVector | Utf8Vector)[]) {
  await connection.run('CREATE OR REPLACE TABLE texts (t VARCHAR, n INTEGER)');
  const appender = await connection.createAppender('texts');
  const chunk = new TableChunk([COLUMN, NUMBER]);
  let row = 0;
  for (const vector of batches) {
    const rowCount = vector.nulls.length;
    const numbers = Int32Array.from({ length: rowCount }, () => row++);
    const second = {
      layout: 'int32' as const,
      type: { type: 'INTEGER' as const },
      data: numbers,
      nulls: new Uint8Array(rowCount),
    };
    appender.appendDataChunk(chunk.of({ rowCount, vectors: [vector, second] }));
  }
  appender.closeSync();
  const rows = await (await connection.run('SELECT t FROM texts ORDER BY n')).getRows();
  const groups = await (await connection.run('SELECT count(DISTINCT t) FROM texts')).getRows();
  return { texts: rows.map(([text]) => text), groups: Number(groups[0]?.[0]) };
}

describe('texts into the engine', () => {
  const many = <T extends string | null>(text: (row: number) => T, rows = 2048) =>
    Array.from({ length: rows }, (_, row) => text(row));
  const cases: Record<string, (string | null)[]> = {
    'at the edge of inline, 11 to 14 bytes': many((row) => 'e'.repeat(11 + (row % 4))),
    'all inline, fewer bytes than one entry': ['a', '', 'b', null],
    'all empty': many(() => ''),
    'all null': many(() => null),
    'none at all': [],
    'of every length from none': many((row) => 'x'.repeat((row * 7) % 60)),
    'null between inline and long': many((row) =>
      row % 3 === 0 ? null : row % 3 === 1 ? 'short' : `a text that is not inline ${row}`,
    ),
    'of several bytes a character': many((row) => 'é😀漢'.repeat(1 + (row % 9)) + row),
    'with zero bytes, quotes and line feeds': many((row) => `\0"\\\n and further text ${row}`),
    'one of several megabytes': many((row) => (row === 1000 ? 'large '.repeat(1_000_000) : `a text between ${row}`)),
    'equal by their first bytes only': many((row) => `prefix${row % 50}`),
  };
  for (const [name, texts] of Object.entries(cases)) {
    it(`arrive as they were, from strings and from UTF-8: ${name}`, async () => {
      const distinct = new Set(texts.filter((text) => text !== null)).size;
      expect(await stored([asStrings(texts)])).toEqual({ texts, groups: distinct });
      expect(await stored([asUtf8(texts)])).toEqual({ texts, groups: distinct });
    });
  }

  it('stay as they were when the next batches come, and when memory is collected between', async () => {
    const batches = Array.from({ length: 40 }, (_, batch) => many((row) => `batch ${batch} row ${row} and some more`));
    const { texts } = await stored(batches.map((batch, index) => (index % 2 ? asStrings(batch) : asUtf8(batch))));
    expect(texts).toEqual(batches.flat());
  });

  it('a half of a surrogate pair becomes U+FFFD: the engine holds well-formed text only', async () => {
    expect((await stored([asStrings(['\ud800 and a tail that is long'])])).texts).toEqual([
      '\ufffd and a tail that is long',
    ]);
  });

  it('bytes that are no UTF-8 are refused: the engine keeps none of them, and entries would point nowhere', () => {
    const data = new Utf8Texts(2);
    data.put(0, Buffer.from([0xff, ...Buffer.from('and a tail that is long')]), 0, 24);
    data.put(1, Buffer.from('well-formed and longer than inline'), 0, 34);
    const vector: Utf8Vector = { layout: 'utf8', type: { type: 'STRING' }, data, nulls: new Uint8Array(2) };
    expect(() => new TableChunk([COLUMN]).of({ rowCount: 2, vectors: [vector] })).toThrow('well-formed UTF-8');
  });

  it('of two columns are kept apart, whichever comes first', async () => {
    await connection.run('CREATE TABLE pairs (a VARCHAR, n INTEGER, b VARCHAR)');
    const appender = await connection.createAppender('pairs');
    const rows = many((row) => String(row));
    const left = rows.map((row) => (Number(row) % 5 ? `left and longer than inline ${row}` : null));
    const right = rows.map((row) => (Number(row) % 3 ? `right, ${row}` : `right and longer than inline ${row}`));
    const numbers = Int32Array.from(rows.keys());
    const between = {
      layout: 'int32' as const,
      type: { type: 'INTEGER' as const },
      data: numbers,
      nulls: new Uint8Array(2048),
    };
    const chunk = new TableChunk([COLUMN, NUMBER, COLUMN]).of({
      rowCount: 2048,
      vectors: [asUtf8(left), between, asStrings(right)],
    });
    appender.appendDataChunk(chunk);
    appender.closeSync();
    const stored = await (await connection.run('SELECT a, b FROM pairs ORDER BY n')).getRows();
    expect(stored).toEqual(left.map((text, row) => [text, right[row]]));
  });
});
