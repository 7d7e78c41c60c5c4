import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mapMysqlCatalogType, mapMysqlField, MYSQL_TYPE as T, type MysqlFieldDescription } from './mysql-type.js';

const field = (type: number, more: Partial<MysqlFieldDescription> = {}): MysqlFieldDescription => ({
  ...{ type, length: 11, decimals: 0, unsigned: false, binary: false, enumerated: false },
  ...more,
});
const shown = ({ type: { type, precision, scale }, warning }: ReturnType<typeof mapMysqlField>): string =>
  `${type}${precision === undefined ? '' : `(${precision}${scale === undefined ? '' : `,${scale}`})`}${warning ? ' !' : ''}`;

describe('MySQL result columns', () => {
  it.each<[string, MysqlFieldDescription, string]>([
    ['tinyint(1)', field(T.TINY, { length: 1 }), 'BOOLEAN'],
    ['tinyint(1) unsigned', field(T.TINY, { length: 1, unsigned: true }), 'INTEGER'],
    ['tinyint(4)', field(T.TINY, { length: 4 }), 'INTEGER'],
    ['int unsigned', field(T.LONG, { unsigned: true }), 'BIGINTEGER'],
    ['bigint', field(T.LONGLONG), 'BIGINTEGER'],
    ['bigint unsigned', field(T.LONGLONG, { unsigned: true }), 'BIGDECIMAL(20,0)'],
    ['year', field(T.YEAR, { unsigned: true }), 'INTEGER'],
    ['decimal(15,0)', field(T.NEWDECIMAL, { length: 16 }), 'DECIMAL(15,0)'],
    ['decimal(15,2)', field(T.NEWDECIMAL, { length: 17, decimals: 2 }), 'DECIMAL(15,2)'],
    ['decimal(16,2) unsigned', field(T.NEWDECIMAL, { length: 17, decimals: 2, unsigned: true }), 'BIGDECIMAL(16,2)'],
    ['decimal(65,30)', field(T.NEWDECIMAL, { length: 67, decimals: 30 }), 'BIGDECIMAL(65,30)'],
    ['float', field(T.FLOAT, { decimals: 31 }), 'DECIMAL(7)'],
    ['double', field(T.DOUBLE, { decimals: 31 }), 'DECIMAL(15)'],
    ['bit(1)', field(T.BIT, { length: 1, unsigned: true, binary: true }), 'BOOLEAN'],
    ['bit(64)', field(T.BIT, { length: 64, unsigned: true, binary: true }), 'BINARY'],
    ['varchar', field(T.VAR_STRING), 'STRING'],
    ['varbinary', field(T.VAR_STRING, { binary: true }), 'BINARY'],
    ['text', field(T.BLOB), 'STRING'],
    ['blob', field(T.BLOB, { binary: true }), 'BINARY'],
    ['enum of a binary set', field(T.STRING, { binary: true, enumerated: true }), 'STRING'],
    ['json', field(T.JSON, { binary: true }), 'STRING'],
    ['NULL', field(T.NULL, { binary: true }), 'NULL'],
    ['geometry', field(T.GEOMETRY, { binary: true }), 'STRING !'],
    ['vector', field(T.VECTOR, { binary: true }), 'STRING !'],
    ['a type of a later server', field(200), 'STRING !'],
  ])('%s', (_name, description, wanted) => expect(shown(mapMysqlField(description))).toBe(wanted));

  it('tinyInt1isBit=false leaves TINYINT(1) a number', () => {
    expect(shown(mapMysqlField(field(T.TINY, { length: 1 }), false))).toBe('INTEGER');
    const column = { dataType: 'tinyint', columnType: 'tinyint(1)', precision: 3, scale: 0 };
    expect([shown(mapMysqlCatalogType(column)), shown(mapMysqlCatalogType(column, false))]).toEqual([
      'BOOLEAN',
      'INTEGER',
    ]);
  });

  it('is total: no description of a column throws', () => {
    const number = fc.integer({ min: -1, max: 1 << 20 });
    const description = fc.record({
      ...{ type: fc.integer({ min: 0, max: 255 }), length: number, decimals: fc.integer({ min: 0, max: 255 }) },
      ...{ unsigned: fc.boolean(), binary: fc.boolean(), enumerated: fc.boolean() },
    });
    fc.assert(fc.property(description, (given) => void mapMysqlField(given)));
    const words = fc.oneof(fc.string(), fc.constantFrom('constructor', 'decimal', 'bit', 'int', '__proto__'));
    const column = fc.record({
      ...{ dataType: words, columnType: words },
      ...{ precision: fc.option(number), scale: fc.option(number) },
    });
    fc.assert(fc.property(column, (given) => void mapMysqlCatalogType(given)));
  });
});
