import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, DuckDBVarCharVector, type DuckDBConnection } from '@duckdb/node-api';
import { Utf8Texts } from '#libs/typesystem';
import { readStrings } from './string-reader.js';

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

/** Every chunk of a query of one text column, by our reader and by the engine's own. */
async function both(sql: string): Promise<{ ours: (string | null)[]; theirs: (string | null)[] }> {
  const result = await connection.run(sql);
  const ours: (string | null)[] = [];
  const theirs: (string | null)[] = [];
  for (let index = 0; index < result.chunkCount; index++) {
    const chunk = result.getChunk(index);
    const vector = chunk.getColumnVector(0) as DuckDBVarCharVector;
    expect(vector).toBeInstanceOf(DuckDBVarCharVector);
    const own = Array.from({ length: chunk.rowCount }, (_, row) => vector.getItem(row));
    const nulls = Uint8Array.from(own, (text) => (text === null ? 1 : 0));
    const into = new Utf8Texts(chunk.rowCount, 1);
    readStrings(vector, nulls, chunk.rowCount, into);
    ours.push(...own.map((text, row) => (text === null ? null : into.text(row))));
    theirs.push(...own);
  }
  return { ours, theirs };
}

describe('texts out of the engine', () => {
  const lengths = `repeat('x', (i * 7 % 40)::BIGINT)`;
  const cases = {
    'all long': `'label of row ' || i`,
    'at the edge of inline, 11 to 14 bytes': `repeat('e', 11 + i % 4)`,
    'long and inline in turn': `CASE WHEN i % 3 = 0 THEN 'short' ELSE 'a text that is not inline ' || i END`,
    'with nulls in every place': `CASE WHEN i % 5 IN (0, 3) THEN NULL ELSE 'a text that is not inline ' || i END`,
    'only nulls': `NULL::VARCHAR`,
    'empty and of every length': lengths,
    'of several bytes a character, cut nowhere between': `repeat('é😀漢', (1 + i % 9)::BIGINT) || i`,
    'one character of many beyond ASCII': `CASE WHEN i = 1500 THEN 'a text that is nöt ascii' ELSE 'a text that is ascii ' || i END`,
    'with line feeds, quotes and a zero byte': `'"' || chr(10) || chr(0) || '\\ and further text ' || i`,
    'larger than a block of the engine': `CASE WHEN i % 1000 = 0 THEN repeat('large ', 60000) ELSE 'a text between ' || i END`,
    'the same text everywhere, stored once perhaps': `'one constant text for all rows'`,
  };
  for (const [name, expression] of Object.entries(cases)) {
    it(`are those of the engine's own reader: ${name}`, async () => {
      const { ours, theirs } = await both(`SELECT ${expression} AS t FROM range(5000) r(i)`);
      expect(theirs).toHaveLength(5000);
      expect(ours).toEqual(theirs);
    });
  }

  it('are those of rows read by range from a table, in order and against it', async () => {
    await connection.run(
      `CREATE TABLE t AS SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE ${lengths} || i END AS t FROM range(50000) r(i)`,
    );
    for (const tail of ['WHERE rowid >= 128 AND rowid < 20608', 'ORDER BY rowid DESC', 'ORDER BY t']) {
      const { ours, theirs } = await both(`SELECT t FROM t ${tail}`);
      expect(ours).toEqual(theirs);
    }
  });
});
