import { beforeAll, describe, expect, it } from '@jest/globals';

import { createVector, encodeBatchRows, mapMssqlCatalogType, WireIssues } from '#libs/typesystem';

import type { ColumnMetadata } from './client.js';
import { ResultColumn } from './columns.js';
import { library } from './mssql.fixture.js';

interface TokenParser {
  write(data: Buffer): void;
  read(): { columns: { value: unknown; metadata: ColumnMetadata }[] };
}

let Parser: new (options: Record<string, unknown>) => TokenParser;

beforeAll(async () => {
  await library();
  ({ default: Parser } = (await import('tedious/lib/token/stream-parser.js')) as unknown as {
    default: typeof Parser;
  });
});

/** One column and one value as bytes of the protocol, read by the library, shown as the wire shows it. */
function shown(type: number[], value: number[] | Buffer): { text: string; column: ResultColumn } {
  const parser = new Parser({ tdsVersion: '7_4', useUTC: true });
  parser.write(
    Buffer.concat([
      Buffer.from([0x81, 1, 0, 0, 0, 0, 0, 9, 0, ...type, 1, 0x76, 0]),
      Buffer.from([0xd1]),
      Buffer.from(value),
    ]),
  );
  parser.read();
  const [cell] = parser.read().columns;
  const column = new ResultColumn(cell!.metadata);
  const vector = createVector(column.column, 1);
  if (cell!.value === null) vector.nulls[0] = 1;
  else column.put(cell!.value, vector, 0);
  const [row] = encodeBatchRows([column.column], { rowCount: 1, vectors: [vector] }, new WireIssues());
  return { text: row!.slice(1, -1), column };
}

const COLLATION = [0x09, 0x04, 0xd0, 0x00, 0x34];
const le = (value: bigint, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, at) => Number((BigInt.asUintN(bytes * 8, value) >> BigInt(8 * at)) & 255n));
const text = (value: string): number[] => [...Buffer.from(value, 'utf16le')];

describe('values of SQL Server, from the bytes of the protocol', () => {
  it.each<[string, number[], number[], string, string]>([
    ['BIT', [0x68, 1], [1, 1], 'true', 'BOOLEAN'],
    ['TINYINT', [0x26, 1], [1, 255], '255', 'INTEGER'],
    ['SMALLINT', [0x26, 2], [2, ...le(-32768n, 2)], '-32768', 'INTEGER'],
    ['INT', [0x26, 4], [4, ...le(-2147483648n, 4)], '-2147483648', 'INTEGER'],
    ['BIGINT 2^63−1', [0x26, 8], [8, ...le(2n ** 63n - 1n, 8)], '"9223372036854775807"', 'BIGINTEGER'],
    ['BIGINT −2^63', [0x26, 8], [8, ...le(-(2n ** 63n), 8)], '"-9223372036854775808"', 'BIGINTEGER'],
    ['DECIMAL(15,2)', [0x6a, 9, 15, 2], [9, 1, ...le(999999999999999n, 8)], '9999999999999.99', 'DECIMAL'],
    ['DECIMAL(19,0) 2^53+1', [0x6a, 9, 19, 0], [9, 1, ...le(2n ** 53n + 1n, 8)], '"9007199254740993"', 'BIGDECIMAL'],
    [
      'NUMERIC(38,10)',
      [0x6c, 17, 38, 10],
      [17, 0, ...le(10n ** 38n - 1n, 16)],
      '"-9999999999999999999999999999.9999999999"',
      'BIGDECIMAL',
    ],
    ['NUMERIC(28,28)', [0x6c, 13, 28, 28], [13, 1, ...le(1n, 12)], `"0.${'0'.repeat(27)}1"`, 'BIGDECIMAL'],
    [
      'MONEY, its greatest',
      [0x6e, 8],
      [8, ...le(0x7fffffffn, 4), ...le(0xffffffffn, 4)],
      '"922337203685477.5807"',
      'BIGDECIMAL',
    ],
    ['MONEY, its least', [0x6e, 8], [8, ...le(-0x80000000n, 4), ...le(0n, 4)], '"-922337203685477.5808"', 'BIGDECIMAL'],
    ['SMALLMONEY', [0x6e, 4], [4, ...le(-1n, 4)], '-0.0001', 'DECIMAL'],
    ['REAL', [0x6d, 4], [4, 0xcd, 0xcc, 0x8c, 0x3f], '1.1', 'DECIMAL'],
    ['FLOAT', [0x6d, 8], [8, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f], '0.1', 'DECIMAL'],
    ['DATE 0001-01-01', [0x28], [3, 0, 0, 0], '"0001-01-01"', 'DATE'],
    ['DATE 9999-12-31', [0x28], [3, ...le(3652058n, 3)], '"9999-12-31"', 'DATE'],
    ['TIME(7)', [0x29, 7], [5, ...le(863999999999n, 5)], '"23:59:59.999999"', 'TIME'],
    ['TIME(0)', [0x29, 0], [3, ...le(86399n, 3)], '"23:59:59.000000"', 'TIME'],
    [
      'DATETIME2(7)',
      [0x2a, 7],
      [8, ...le(863999999999n, 5), ...le(3652058n, 3)],
      '"9999-12-31T23:59:59.999999Z"',
      'TIMESTAMP',
    ],
    ['DATETIME2(7) year 1', [0x2a, 7], [8, ...le(10n, 5), ...le(0n, 3)], '"0001-01-01T00:00:00.000001Z"', 'TIMESTAMP'],
    [
      'DATETIMEOFFSET(6): the moment is UTC already',
      [0x2b, 6],
      [10, ...le(123456n, 5), ...le(738944n, 3), ...le(840n, 2)],
      '"2024-02-29T00:00:00.123456Z"',
      'TIMESTAMP',
    ],
    ['DATETIME', [0x6f, 8], [8, ...le(-53690n, 4), ...le(1n, 4)], '"1753-01-01T00:00:00.003000Z"', 'TIMESTAMP'],
    ['SMALLDATETIME', [0x6f, 4], [4, ...le(65535n, 2), ...le(1439n, 2)], '"2079-06-06T23:59:00.000000Z"', 'TIMESTAMP'],
    [
      'UNIQUEIDENTIFIER',
      [0x24, 16],
      [16, 0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
      '"00112233-4455-6677-8899-AABBCCDDEEFF"',
      'STRING',
    ],
    ['NVARCHAR', [0xe7, 100, 0, ...COLLATION], [6, 0, ...text('é😀')], '"é😀"', 'STRING'],
    ['NVARCHAR, empty', [0xe7, 100, 0, ...COLLATION], [0, 0], '""', 'STRING'],
    ['VARBINARY', [0xa5, 10, 0], [3, 0, 0, 255, 39], '"AP8n"', 'BINARY'],
    ['NULL of a DECIMAL', [0x6a, 17, 38, 10], [0], 'null', 'BIGDECIMAL'],
    ['NULL of a DATETIME2', [0x2a, 7], [0], 'null', 'TIMESTAMP'],
  ])('%s', (_name, type, value, expected, canonical) => {
    const { text: seen, column } = shown(type, value);
    expect(seen).toBe(expected);
    expect(column.column.type).toBe(canonical);
    expect(column.warning).toBeUndefined();
  });

  it.each<[string, number[], string]>([
    ['a NUMERIC', [0x6c, 2, 38, 10, 0, ...le(10n ** 38n - 1n, 16)], '"-9999999999999999999999999999.9999999999"'],
    ['MONEY', [0x3c, 0, ...le(0x7fffffffn, 4), ...le(0xffffffffn, 4)], '"922337203685477.5807"'],
    ['BIGINT', [0x7f, 0, ...le(2n ** 53n + 1n, 8)], '"9007199254740993"'],
    ['DATE', [0x28, 0, ...le(738944n, 3)], '"2024-02-29"'],
    ['DATETIME2', [0x2a, 1, 7, ...le(1234567n, 5), ...le(738944n, 3)], '"2024-02-29T00:00:00.123456Z"'],
    ['BINARY', [0xa5, 2, 8, 0, 1, 255], '"0x01ff"'],
  ])('a sql_variant of %s is exact text, with a warning', (_name, body, expected) => {
    const { text: seen, column } = shown([0x62, ...le(8009n, 4)], [...le(BigInt(body.length), 4), ...body]);
    expect(seen).toBe(expected);
    expect(column.warning).toEqual({ code: 'type_mapping.sql_variant', column: 'v', source_type: 'Variant' });
  });

  it('a value that its column does not declare is refused, never rounded', () => {
    const column = new ResultColumn({ colName: 'd', type: { name: 'DecimalN' }, precision: 5, scale: 2 });
    const vector = createVector(column.column, 1);
    expect(() => column.put('1.234', vector, 0)).toThrow('column "d"');
    expect(() => column.put(1.23, vector, 0)).toThrow('column "d"');
  });

  it.each([
    ['decimal', 12, 2, 'DECIMAL'],
    ['numeric', 38, 10, 'BIGDECIMAL'],
    ['float', 53, 0, 'DECIMAL'],
    ['hierarchyid', 0, 0, 'STRING'],
    ['rowversion', 0, 0, 'BINARY'],
    ['sysname', 0, 0, 'STRING'],
    ['money', 19, 4, 'BIGDECIMAL'],
    ['datetimeoffset', 34, 7, 'TIMESTAMP'],
  ])('the catalogue says of %s what a reader will see', (dataType, precision, scale, canonical) => {
    expect(mapMssqlCatalogType({ dataType, precision, scale }).type.type).toBe(canonical);
  });
});
