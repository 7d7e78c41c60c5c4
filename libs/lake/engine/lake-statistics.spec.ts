import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import type { CatalogColumn, CatalogQuery } from '#libs/datasources';

import { lakeScene, refusal } from '../lake.fixture.js';
import { LakeStatistics } from './lake-statistics.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);

describe('statistics of a lake', () => {
  const columns = [{ name: 'n', sourceType: 'BIGINT' }] as CatalogColumn[];
  const table = (name: string) => ({ namespace: ['sales'], name, type: 'VIEW', remarks: null });

  it('open footers once a minute for the same files, and at once for others', async () => {
    let clock = 0;
    let opened = 0;
    const files: Record<string, string> = { a: `['a.parquet']`, b: `['b.parquet']` };
    const query: CatalogQuery = (sql, values) => {
      if (!sql.includes('parquet_metadata'))
        return Promise.resolve([[files[String(values[1])] ?? null, 'parquet', null]]);
      if (sql.includes('row_group_num_rows')) opened += 1;
      return Promise.resolve([[String(opened), String(opened), '1', 'true']]);
    };
    const { read } = new LakeStatistics(() => clock);
    const rows = async (name: string) => (await read(query, table(name), columns)).row_estimate;
    expect([await rows('a'), await rows('a'), opened]).toEqual([1, 1, 1]);
    expect([await rows('b'), opened]).toEqual([2, 2]);
    clock = 59_999;
    expect([await rows('a'), opened]).toEqual([1, 2]);
    clock = 60_000;
    expect([await rows('a'), opened]).toEqual([3, 3]);
    files['a'] = `['a-2.parquet']`;
    expect([await rows('a'), opened]).toEqual([4, 4]);
  });

  it('are not those of another storage that has files at the same address', async () => {
    let opened = 0;
    const of =
      (storage: string): CatalogQuery =>
      (sql) => {
        if (!sql.includes('parquet_metadata'))
          return Promise.resolve([[`'s3://data/*.parquet'`, 'parquet', null, storage]]);
        if (sql.includes('row_group_num_rows')) opened += 1;
        return Promise.resolve([[String(opened), String(opened), storage, 'true']]);
      };
    const { read } = new LakeStatistics(() => 0);
    const rows = async (storage: string) => (await read(of(storage), table('t'), columns)).row_estimate;
    expect([await rows('test'), await rows('production'), await rows('test'), opened]).toEqual([1, 2, 1, 2]);
  });

  it('remember so many tables and no more', async () => {
    let opened = 0;
    const query: CatalogQuery = (sql, values) => {
      if (!sql.includes('parquet_metadata')) return Promise.resolve([[String(values[1]), 'parquet', null]]);
      if (sql.includes('row_group_num_rows')) opened += 1;
      return Promise.resolve([['1', '1', '1', 'true']]);
    };
    const { read } = new LakeStatistics(() => 0);
    for (let at = 0; at < 300; at += 1) await read(query, table(`t${at}`), columns);
    await read(query, table('t299'), columns);
    expect(opened).toBe(300);
    await read(query, table('t0'), columns);
    expect(opened).toBe(301);
  });

  it('count each row group of each file once, however many columns it has, and give up on too many', async () => {
    await scene.make(
      `COPY (SELECT i AS id, i::VARCHAR AS a, i + 1 AS b FROM range(5000) t(i)) TO '${root('one.parquet')}' (ROW_GROUP_SIZE 2048)`,
      `COPY (SELECT i AS id, NULL::VARCHAR AS a, i + 1 AS b FROM range(9000, 14000) t(i)) TO '${root('two.parquet')}' (ROW_GROUP_SIZE 2048)`,
    );
    await scene.registered('lake');
    const body = { namespace: 'sales', name: 't', format: 'parquet', location: `file://${root('*.parquet')}` };
    await scene.bench.tables.register(scene.team.author, 'lake', body);
    const stats = await scene.bench.datasources.statistics.read(scene.team.viewer, 'lake', { table: 't' });
    expect([stats.row_estimate, stats.stats_source]).toEqual([10_000, 'parquet_metadata']);
    // Bounds are those of numbers, where the types have an order: as text "4999" is the largest.
    expect(stats.columns).toEqual([
      { name: 'id', distinct_is_ratio: false, null_fraction: 0, min: '0', max: '13999' },
      { name: 'a', distinct_is_ratio: false, null_fraction: 0.5, min: '0', max: '999' },
      { name: 'b', distinct_is_ratio: false, null_fraction: 0, min: '1', max: '14000' },
    ]);
    const asked: string[] = [];
    const crowded: CatalogQuery = (sql) => {
      asked.push(sql);
      return Promise.resolve(sql.includes('parquet_metadata') ? [['65537', '9']] : [[`['a.parquet']`, 'parquet', null]]);
    };
    expect(await new LakeStatistics(() => 0).read(crowded, table('t'), columns)).toEqual({
      stats_source: 'none', columns: [{ name: 'n', distinct_is_ratio: false }], indexes: [], partition_column: null,
    });
    expect(asked.at(-1)).toMatch(/LIMIT 65537\)/);
  }); // prettier-ignore

  it('and its plans tell how many files a filter on their folders leaves to read', async () => {
    await scene.make(
      `COPY (SELECT i AS id, 'd' || i % 4 AS day FROM range(100) t(i)) TO '${root('days')}' (FORMAT parquet, PARTITION_BY (day))`,
    );
    await scene.registered('lake');
    const body = { namespace: 'sales', name: 'days', format: 'parquet', location: `file://${root('days')}/`, partition_column: 'day' };
    await scene.bench.tables.register(scene.team.author, 'lake', body);
    const { probe, statistics } = scene.bench.datasources;
    const { plan, rows } = await probe.run(scene.team.author, 'lake', { sql: `SELECT count(*) AS n FROM sales.days WHERE day = 'd1'` });
    expect([rows.map(({ text }) => text), plan?.partitions_scanned, plan?.partitions_total]).toEqual([['["25"]'], 1, 4]);
    const whole = await probe.run(scene.team.author, 'lake', { sql: 'SELECT count(*) AS n FROM sales.days' });
    expect(whole.plan).not.toHaveProperty('partitions_scanned');
    expect(await statistics.read(scene.team.viewer, 'lake', { table: 'days' })).toMatchObject({
      row_estimate: 100, partition_column: 'day', indexes: [{ name: 'partition', kind: 'partition' }],
    });
  }); // prettier-ignore

  it('and its probes end in their time with the plan of what ran, and give a long plan cut', async () => {
    await scene.make(`COPY (SELECT 1 AS id) TO '${root('one.parquet')}'`);
    await scene.registered('lake');
    const body = { namespace: 'sales', name: 'one', format: 'parquet', location: `file://${root('one.parquet')}` };
    await scene.bench.tables.register(scene.team.author, 'lake', body);
    const probe = (sql: string, more = {}) => scene.bench.datasources.probe.run(scene.team.author, 'lake', { sql, ...more });
    const endless = 'SELECT count(*) AS n FROM one, range(10000000) a, range(10000000) b';
    const refused = await refusal(probe(endless, { timeout_seconds: 1 }));
    expect([refused.code, refused.details]).toMatchObject(['pipeline.node.query_timeout', { wall_ms: expect.any(Number), plan: { raw: expect.stringMatching(/RANGE/) } }]);
    const wide = Array.from({ length: 60 }, (_, index) => `(SELECT max(id) + ${index} FROM one) AS "c${index}"`).join(', ');
    const { plan, row_count } = await probe(`SELECT ${wide}`);
    expect([plan?.raw.length, row_count]).toEqual([4096, 1]);
    // A view that broke while the lake was in use, a file that went, a column that is none: each has its code.
    expect((await refusal(probe('SELECT nothing FROM one'))).code).toBe('pipeline.node.query_execution_failed');
    expect((await refusal(probe('SELECT * FROM none'))).code).toBe('pipeline.node.query_execution_failed');
  }); // prettier-ignore
});
