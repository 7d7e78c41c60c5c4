import { describe, expect, it } from '@jest/globals';

import type { CatalogColumn } from '../../introspection/introspection.js';
import { NEVER } from '../driver.fixture.js';
import { scripted } from './oracle.fixture.js';
import { oracleStatistics } from './statistics.js';
import { storedText } from './stored-value.js';

describe('what Oracle has gathered about a table', () => {
  const columns = ['ID', 'PLACED', 'REGION', 'NOTE'].map((name) => ({ name })) as CatalogColumn[];
  const orders = { namespace: ['APP'], name: 'ORDERS', type: 'TABLE', remarks: null };
  const read = async (rows: (sql: string) => unknown[][]) => {
    const { raw, connection } = await scripted((sql) => (sql.includes('all_') ? { rows: rows(sql) } : {}));
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    return { raw, statistics: await oracleStatistics(query, orders, columns) };
  };

  it('is told with its time, its indexes in order, and the spread of the columns it has analysed', async () => {
    const { raw, statistics } = await read((sql) => {
      if (sql.includes('all_tab_col_statistics'))
        return [
          ['ID', '60', '0', 'C102', 'C13D', 'NUMBER'],
          ['PLACED', '60', '15', '787E0301080609', '787E031F010101', 'DATE'],
          ['REGION', '2', '0', '65617374', '77657374', 'VARCHAR2'],
        ];
      if (sql.includes('all_indexes'))
        return [
          ['ORDERS_PK', 'UNIQUE', 'Y', 'NORMAL', 'ID'],
          ['BY_REGION', 'NONUNIQUE', 'N', 'BITMAP', 'REGION'],
          ['BY_UPPER', 'NONUNIQUE', 'N', 'FUNCTION-BASED NORMAL', null],
        ];
      return [['60', '2026-03-01T07:05:09Z']];
    });
    expect(statistics).toEqual({
      row_estimate: 60,
      stats_as_of: '2026-03-01T07:05:09Z',
      stats_source: 'all_tables',
      indexes: [
        { name: 'ORDERS_PK', columns: ['ID'], unique: true, primary: true, kind: 'btree' },
        { name: 'BY_REGION', columns: ['REGION'], unique: false, primary: false, kind: 'bitmap' },
        { name: 'BY_UPPER', columns: ['(expression)'], unique: false, primary: false, kind: 'btree' },
      ],
      columns: [
        { name: 'ID', n_distinct: 60, distinct_is_ratio: false, null_fraction: 0, min: '1', max: '60' },
        {
          ...{ name: 'PLACED', n_distinct: 60, distinct_is_ratio: false, null_fraction: 0.25 },
          ...{ min: '2026-03-01T07:05:08', max: '2026-03-31T00:00:00' },
        },
        { name: 'REGION', n_distinct: 2, distinct_is_ratio: false, null_fraction: 0, min: 'east', max: 'west' },
        { name: 'NOTE', distinct_is_ratio: false },
      ],
    });
    const bound = raw.asked.filter(({ sql }) => sql.includes('all_')).map(({ binds }) => Object.values(binds as object).map(({ val }: { val: unknown }) => val));
    expect(bound).toEqual(Array.from({ length: 3 }, () => ['APP', 'ORDERS']));
  }); // prettier-ignore

  it('of a view, or of a table nobody has analysed, is nothing: unknown is absent, not zero', async () => {
    const none = { stats_source: 'none', indexes: [], columns: columns.map(({ name }) => ({ name, distinct_is_ratio: false })) };
    expect((await read(() => [])).statistics).toEqual(none);
    expect((await read((sql) => (sql.includes('num_rows') ? [[null, null]] : []))).statistics).toEqual(none);
  }); // prettier-ignore

  it.each([
    ['NUMBER', '80', '0'],
    ['NUMBER', 'C102', '1'],
    ['NUMBER', 'C202', '100'],
    ['NUMBER', 'C20215', '120'],
    ['NUMBER', 'C1040F', '3.14'],
    ['NUMBER', 'C33D', '600000'],
    ['NUMBER', 'C00B', '0.1'],
    ['NUMBER', 'BF0B', '0.001'],
    ['NUMBER', '3E6466', '-1'],
    ['NUMBER', '3E593366', '-12.5'],
    ['NUMBER', '3D6466', '-100'],
    ['NUMBER', 'C95B0101010101010A5F', '900000000000000994'],
    ['DATE', '78760C1F183C3C', '2018-12-31T23:59:59'],
    ['TIMESTAMP(6)', '787E03010806010754D4C0', '2026-03-01T07:05:00.123'],
    ['VARCHAR2', '61C3A9', undefined],
    ['VARCHAR2', '61'.repeat(32), undefined],
    ['NUMBER', '', undefined],
    ['NUMBER', 'C1FF', undefined],
    ['DATE', '6363010101', undefined],
    ['RAW', '00FF', undefined],
    ['NVARCHAR2', '0061', undefined],
  ])('%s %s is %s', (type, hex, text) => {
    expect(storedText(type, Buffer.from(hex, 'hex'))).toBe(text);
  });
});
