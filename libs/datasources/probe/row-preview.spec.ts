import { describe, expect, it } from '@jest/globals';

import { refusal } from '../datasource-scene.fixture.js';
import { ENGINES, engineScene } from '../engines.fixture.js';

const texts = (rows: readonly { text: string }[]): string[] => rows.map(({ text }) => text);

describe('first rows and statistics of a table', () => {
  const scene = engineScene();
  const preview = (name: string, table: string, more = {}) =>
    scene.bench.preview.read(scene.team.author, name, { table, ...more });

  describe.each(ENGINES)('on %s', (name) => {
    it('shows rows in the order asked for, whatever the table and its columns are called', async () => {
      const order_by = [
        { column: 'order', direction: 'ASC' as const },
        { column: 'a;b -- c', direction: 'DESC' as const },
      ];
      const read = await preview(name, 'Select "All" :x', { order_by });
      expect(texts(read.rows).map((row) => row.replaceAll(/"(\d)"/g, '$1'))).toEqual(['[1,"one"]', '[2,"two"]']);
      expect(read.schema.map((column) => column.name)).toEqual(['order', 'a;b -- c']);
    });

    it('reads as many rows as asked for and tells whether there are more', async () => {
      expect(await preview(name, 'orders', { limit: 59 })).toMatchObject({ row_count: 59, truncated: true });
      expect(await preview(name, 'orders', { limit: 60 })).toMatchObject({ row_count: 60, truncated: false });
      expect(await preview(name, 'empty_one')).toMatchObject({ rows: [], truncated: false });
    });

    it.each(['orders; DROP TABLE orders', 'orders" UNION SELECT 1', 'ORDERS', 'pg_class', 'sqlite_schema', ''])(
      'a name that the listing does not hold is no table: %j',
      async (table) => {
        expect((await refusal(preview(name, table))).code).toBe('datasource.table_not_found');
      },
    );

    it('sorts by listed columns only, and says which was meant', async () => {
      const by = (column: string, direction?: string) =>
        preview(name, 'orders', { order_by: [{ column, ...(direction === undefined ? {} : { direction }) }] });
      const work = by('total_cent');
      expect(await refusal(work)).toMatchObject({ details: { field: 'order_by.0.column', reason: 'unknown_column' } });
      await expect(work).rejects.toThrow(/Did you mean “total_cents”/);
      // Where none is near, all there are.
      await expect(by('delayed')).rejects.toThrow(/names no column of the table\. It has: id, .*total_cents.*\.$/);
      expect((await refusal(by('1, (SELECT 1)'))).details).toMatchObject({ reason: 'unknown_column' });
      expect((await refusal(by('id', 'ASC; DROP TABLE orders'))).details).toMatchObject({
        field: 'order_by.0.direction',
      });
    });

    it('tells size, indexes and spread as far as the engine has gathered them', async () => {
      const stats = await scene.bench.statistics.read(scene.team.viewer, name, { table: 'orders' });
      const source = { pg: 'pg_class', lite: 'sqlite_stat1', duck: 'duckdb_tables' }[name];
      expect(stats).toMatchObject({ row_estimate: 60, stats_source: source });
      expect(stats.indexes.map(({ columns, unique, primary }) => ({ columns, unique, primary }))).toEqual([
        { columns: ['id'], unique: true, primary: true },
        { columns: ['customer_id'], unique: false, primary: false },
      ]);
      expect(stats.columns.map((column) => column.name)).toEqual(['id', 'customer_id', 'total_cents', 'placed_on']);
    });
  });

  it('refuses numbers of rows that are none, and everybody but authors who see the datasource', async () => {
    for (const limit of [0, -1, 501, 1.5])
      expect((await refusal(preview('pg', 'orders', { limit }))).details).toMatchObject({ field: 'limit' });
    const as = (who: typeof scene.team.author) => refusal(scene.bench.preview.read(who, 'pg', { table: 'orders' }));
    expect((await as(scene.team.viewer)).code).toBe('auth.role_required');
    expect((await as(scene.team.key('read'))).code).toBe('auth.scope.insufficient');
    expect((await as(scene.others.author)).code).toBe('datasource.not_found');
    const stats = scene.bench.statistics.read(scene.others.viewer, 'pg', { table: 'orders' });
    expect((await refusal(stats)).code).toBe('datasource.not_found');
  });

  it('PostgreSQL: ends of values over histogram and common ones, by number and not by text', async () => {
    const { columns, stats_as_of } = await scene.bench.statistics.read(scene.team.viewer, 'pg', { table: 'orders' });
    expect(Date.parse(stats_as_of ?? '')).not.toBeNaN();
    expect(columns).toEqual([
      { name: 'id', n_distinct: 1, distinct_is_ratio: true, null_fraction: 0, min: '1', max: '60' },
      { name: 'customer_id', n_distinct: 4, distinct_is_ratio: false, null_fraction: 0, min: '1', max: '4' },
      { name: 'total_cents', n_distinct: 1, distinct_is_ratio: true, null_fraction: 0, min: '100', max: '6000' },
      {
        name: 'placed_on',
        n_distinct: 1,
        distinct_is_ratio: true,
        null_fraction: 0,
        min: '2026-01-02',
        max: '2026-03-02',
      },
    ]);
  });

  it('PostgreSQL: what nobody has analysed is unknown, not zero; a view has no figures; expressions stand as they are', async () => {
    await scene.onPostgres(`CREATE SCHEMA raw; CREATE TABLE raw.t (a int, b text, c int);
      CREATE UNIQUE INDEX odd ON raw.t (lower(b), a) INCLUDE (c); CREATE VIEW raw.v AS SELECT a FROM raw.t`);
    const stats = (table: string) =>
      scene.bench.statistics.read(scene.team.viewer, 'pg', { table, namespace: ['raw'] });
    expect(await stats('t')).toEqual({
      stats_source: 'none',
      indexes: [{ name: 'odd', columns: ['lower(b)', 'a'], unique: true, primary: false, kind: 'btree' }],
      columns: ['a', 'b', 'c'].map((name) => ({ name, distinct_is_ratio: false })),
    });
    expect(await stats('v')).toEqual({
      stats_source: 'none',
      indexes: [],
      columns: [{ name: 'a', distinct_is_ratio: false }],
    });
    await scene.onPostgres('DROP SCHEMA raw CASCADE');
  });

  it('a table the login may not read is refused by the database, not shown as empty', async () => {
    await scene.onPostgres('CREATE TABLE hidden (a int); REVOKE ALL ON hidden FROM CURRENT_USER');
    const refused = await refusal(preview('pg', 'hidden'));
    await scene.onPostgres('DROP TABLE hidden');
    expect(refused).toMatchObject({ code: 'datasource.table_forbidden', details: { table: 'hidden' } });
  });
});
