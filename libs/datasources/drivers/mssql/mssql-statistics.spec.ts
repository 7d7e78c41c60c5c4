import { describe, expect, it } from '@jest/globals';

import type { CatalogColumn } from '../../introspection/introspection.js';
import { NEVER } from '../driver.fixture.js';
import { scripted, serverError, type Answer } from './mssql.fixture.js';
import { mssqlStatistics } from './statistics.js';

const NUMBERS: Answer['columns'] = [{ colName: 'n', type: { name: 'IntN' }, dataLength: 4 }];

describe('what SQL Server has gathered about a table', () => {
  const columns = ['id', 'region', 'note'].map((name) => ({ name })) as CatalogColumn[];
  const orders = { namespace: ['dbo'], name: 'Örders', type: 'TABLE', remarks: null };
  const figures = (sql: string): unknown[][] => {
    if (sql.includes('dm_db_stats_histogram'))
      return [
        ['id', '1500', '0.000000000000000e+000', '1', '1500'],
        ['region', '3', '2.500000000000000e-001', 'east', 'west'],
      ];
    if (sql.includes('sys.indexes'))
      return [
        ['pk_orders', '1', '1', 'clustered', 'id'],
        ['by_region', '0', '0', 'nonclustered', 'region'],
        ['by_region', '0', '0', 'nonclustered', 'id'],
      ];
    return [['1500', '2026-03-01T07:05:09.123']];
  };
  const answered = async (answer: (sql: string) => Answer) => {
    const { raw, connection } = await scripted((sql) => (sql.includes('sys.objects') ? answer(sql) : {}));
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    return { raw, read: await mssqlStatistics(query, orders, columns) };
  };

  it('is told with its time, its indexes in order, and the spread of the columns it has looked at', async () => {
    const { raw, read } = await answered((sql) => ({ columns: NUMBERS, rows: figures(sql) }));
    expect(read).toEqual({
      row_estimate: 1500,
      stats_as_of: '2026-03-01T07:05:09.123Z',
      stats_source: 'sys.partitions',
      indexes: [
        { name: 'pk_orders', columns: ['id'], unique: true, primary: true, kind: 'clustered' },
        { name: 'by_region', columns: ['region', 'id'], unique: false, primary: false, kind: 'nonclustered' },
      ],
      columns: [
        { name: 'id', n_distinct: 1500, distinct_is_ratio: false, null_fraction: 0, min: '1', max: '1500' },
        { name: 'region', n_distinct: 3, distinct_is_ratio: false, null_fraction: 0.25, min: 'east', max: 'west' },
        { name: 'note', distinct_is_ratio: false },
      ],
    });
    const asked = raw.asked.filter(({ sql }) => sql.includes('sys.objects'));
    expect(asked.map(({ parameters }) => parameters.map(({ value }) => value))).toEqual(
      Array.from({ length: 3 }, () => ['dbo', 'Örders']),
    );
    for (const { sql } of asked) expect(sql).not.toMatch(/Örders|\bFROM \[?dbo/);
  });

  it.each([208, 229, 297])(
    'leaves out what an older server or a lesser login does not show (error %i)',
    async (code) => {
      const { read } = await answered((sql) =>
        sql.includes('dm_db_stats_histogram') ? { error: serverError(code) } : { columns: NUMBERS, rows: figures(sql) },
      );
      expect([read.row_estimate, read.indexes.length]).toEqual([1500, 2]);
      expect(read.columns).toEqual(columns.map(({ name }) => ({ name, distinct_is_ratio: false })));
    },
  );

  it('of a view, or of a table nobody may count, is nothing: unknown is absent, not zero', async () => {
    const { read } = await answered((sql) => ({
      columns: NUMBERS,
      rows: sql.includes('sys.partitions') ? [[null, null]] : [],
    }));
    expect(read).toEqual({
      stats_source: 'none',
      indexes: [],
      columns: columns.map(({ name }) => ({ name, distinct_is_ratio: false })),
    });
  });
});
