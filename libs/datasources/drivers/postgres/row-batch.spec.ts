import { describe, expect, it } from '@jest/globals';
import { encodeBatchRows, type Column } from '#libs/typesystem';
import { readText } from './binary-values.js';
import { RowBatch } from './row-batch.js';

const COLUMNS: Column[] = [{ name: 't', type: 'STRING' }];

/** The body of a DataRow of one column. */
function dataRow(value: Buffer | null): Buffer {
  const head = Buffer.alloc(6);
  head.writeInt16BE(1, 0);
  head.writeInt32BE(value === null ? -1 : value.length, 2);
  return value === null ? head : Buffer.concat([head, value]);
}

/** Rows read in network chunks of `perChunk`, as wire text. */
function read(values: readonly (Buffer | null)[], perChunk: number): unknown[] {
  const batch = new RowBatch(COLUMNS, [readText]).begin(values.length);
  for (let from = 0; from < values.length; from += perChunk) {
    const rows = values.slice(from, from + perChunk).map(dataRow);
    const chunk = Buffer.concat(rows);
    let at = 0;
    for (const row of rows) {
      batch.add(chunk, at, at + row.length);
      at += row.length;
    }
  }
  return encodeBatchRows(COLUMNS, batch.finish()).map((row) => (JSON.parse(row) as unknown[])[0]);
}

describe('texts of a database without an encoding', () => {
  const halves = [Buffer.from([0xc3]), Buffer.from([0xa9]), null, Buffer.from('whole é'), Buffer.from([0xff, 0x41])];
  for (const perChunk of [1, 2, 5]) {
    it(`what is no UTF-8 is U+FFFD in its own row, and no two rows make a character: ${perChunk} rows a chunk`, () => {
      expect(read(halves, perChunk)).toEqual(['\ufffd', '\ufffd', null, 'whole é', '\ufffdA']);
    });
  }

  it('rows behind and before an ill-formed one stay as they are', () => {
    const values = Array.from({ length: 500 }, (_, row) =>
      row === 250
        ? Buffer.from([0x80])
        : row % 7 === 0
          ? null
          : Buffer.from(`row ${row} 漢字 and a longer tail of text`),
    );
    expect(read(values, 64)).toEqual(values.map((value) => value && value.toString('utf8')));
  });
});

describe('texts as they come', () => {
  it('a byte order mark, zero bytes and control characters are kept', () => {
    const texts = ['\ufeffmarked', '\u0001\u001f\u007f', '"\\/\n\t', ''];
    expect(
      read(
        texts.map((text) => Buffer.from(text)),
        4,
      ),
    ).toEqual(texts);
  });
});
