import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Column } from '../canonical-type.js';
import { csvCell, csvHeader, csvLine } from './csv.js';
import { splitRow } from './split-row.js';

const STRING: Column = { name: 's', type: 'STRING' };

describe('CSV', () => {
  it.each([
    ['=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"'],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    [' =1', ' =1'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\nb', '"a\nb"'],
    ['', '""'],
    ['null', 'null'],
  ])('a STRING %j is written %j: a spreadsheet must not run it', (text, cell) => {
    expect(csvCell(STRING, JSON.stringify(text))).toBe(cell);
  });

  it('leaves a negative number of another type alone: it is no formula', () => {
    expect(csvCell({ type: 'BIGDECIMAL' }, '"-1.50"')).toBe('-1.50');
    expect(csvCell({ type: 'DECIMAL', precision: 5, scale: 2 }, '-1.50')).toBe('-1.50');
  });

  it('writes NULL as nothing, a row with CRLF, and labels quoted', () => {
    const columns: Column[] = [{ name: 'a,b', type: 'INTEGER' }, STRING, { name: 't', type: 'TIMESTAMP' }];
    expect(csvHeader(columns)).toBe('"a,b",s,t\r\n');
    expect(csvLine(columns, '[1,null,"2026-03-01T00:00:00.000000Z"]')).toBe('1,,2026-03-01T00:00:00.000000Z\r\n');
  });
});

describe('a stored row', () => {
  it('falls into the tokens it was made of, whatever the strings hold', () => {
    const token = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.constantFrom('null', 'true', '-1.50', '"a\\"],["', '"\\\\"'),
    );
    fc.assert(fc.property(fc.array(token), (tokens) => expect(splitRow(`[${tokens.join(',')}]`)).toEqual(tokens)));
  });
});
