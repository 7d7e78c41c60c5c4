import { describe, expect, it } from '@jest/globals';

import { readField } from './iceberg-type.js';
import { initialValue } from './initial-default.js';

const field = (type: unknown, initialDefault: unknown) =>
  readField({ id: '1', name: 'late', type, 'initial-default': initialDefault } as Parameters<typeof readField>[0]);

describe('the default of a column that older files lack', () => {
  it.each([
    ['int', '34', `CAST('34' AS INTEGER)`],
    ['long', '-9007199254740993', `CAST('-9007199254740993' AS BIGINT)`],
    ['boolean', false, 'CAST(false AS BOOLEAN)'],
    ['decimal(9, 2)', '14.20', `CAST('14.20' AS DECIMAL(9,2))`],
    ['string', `it's`, `'it''s'`],
    ['binary', '00fF', `unhex('00fF')`],
    ['timestamp_ns', '2017-11-16T22:31:08.000000001', `CAST('2017-11-16T22:31:08.000000001' AS TIMESTAMP_NS)`],
    [{ type: 'list', 'element-id': '2', element: 'int' }, null, 'CAST(NULL AS INTEGER[])'],
  ])('of %j is %j', (type, value, sql) => {
    expect(initialValue(field(type, value))).toBe(sql);
  });

  it.each([
    ['int', '1.5'],
    ['int', true],
    ['long', 'x'],
    ['boolean', 'true'],
    ['date', `2020-01-01'; DROP`],
    ['timestamptz', '2017-11-16T22:31:08'],
    ['decimal(9,2)', 'NaN'],
    ['uuid', 'none'],
    ['binary', 'xyz'],
    ['fixed[2]', '0'],
    ['string', false],
    ['string', 'nul\0'],
    [{ type: 'list', 'element-id': '2', element: 'int' }, []],
    [{ type: 'struct', fields: [{ id: '2', name: 'a', type: 'int' }] }, { a: '1' }],
  ])('of %j is not %j: a row that was guessed is worse than none', (type, value) => {
    expect(() => initialValue(field(type, value))).toThrow(/default that is none of its type/);
  });
});
