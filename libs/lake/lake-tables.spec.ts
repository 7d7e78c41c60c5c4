import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { eventually } from '../../test/fixtures/eventually.js';
import { refusal } from './lake.fixture.js';
import { lakeScene } from './lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);
const location = (...parts: string[]): string => `file://${root(...parts)}`;
const parquet = (name: string, location: string, more = {}) => ({
  namespace: 'sales', name, format: 'parquet', location, ...more,
}); // prettier-ignore

beforeEach(async () => {
  await scene.make(`COPY (SELECT i AS id, 'n' || i AS label FROM range(3) t(i)) TO '${root('orders.parquet')}'`);
  await scene.registered('lake');
});

describe('registering a lake table', () => {
  it('reads a row first, stores the table and serves it under its namespace and without it', async () => {
    const view = await scene.bench.tables.register(
      scene.team.author,
      'lake',
      parquet('orders', location('orders.parquet')),
    );
    expect(view).toMatchObject({
      namespace: ['sales'],
      name: 'orders',
      format: 'parquet',
      partition_column: null,
      last_error: null,
    });
    for (const name of ['orders', 'sales.orders', 'memory.sales.orders'])
      expect(await scene.bench.read('lake', `SELECT * FROM ${name} ORDER BY id;`)).toEqual([[0n, 'n0'], [1n, 'n1'], [2n, 'n2']]); // prettier-ignore
    const { tables, count } = await scene.bench.tables.list(scene.team.viewer, 'lake');
    expect([count, tables]).toEqual([1, [view]]);
    expect((await scene.team.audit()).at(-1)).toEqual([
      'datasource.pool_build', expect.anything(),
    ]); // prettier-ignore
  });

  it('reports every defect of a body at once and stores nothing', async () => {
    const body = {
      namespace: 'Sales',
      name: 'a.b',
      format: 'csv',
      location: 'https://x/y',
      partition_column: '1',
      extra: true,
    };
    const { failures } = await refusal(scene.bench.tables.register(scene.team.author, 'lake', body));
    expect(failures).toEqual([
      'properties_invalid extra', 'lake_namespace_invalid namespace', 'lake_name_invalid name',
      'lake_format_invalid format', 'lake_location_invalid location', 'properties_invalid partition_column',
    ]); // prettier-ignore
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(0);
  });

  it('refuses what cannot be read with a reason and stores nothing', async () => {
    const cases: [string, () => string][] = [
      ['a missing file', () => location('none.parquet')],
      ['no Parquet at all', () => location('text.parquet')],
      ['a truncated file', () => location('cut.parquet')],
      ['a wrong footer', () => location('footer.parquet')],
      ['an empty file', () => location('empty.parquet')],
      ['a pattern without files', () => location('none', '*.parquet')],
    ];
    mkdirSync(root('none'));
    writeFileSync(root('text.parquet'), 'no parquet');
    writeFileSync(root('empty.parquet'), '');
    writeFileSync(root('footer.parquet'), Buffer.from('PAR1\xff\xff\xff\x7fPAR1', 'latin1'));
    writeFileSync(root('cut.parquet'), Buffer.from('PAR1 and then it was cut'));
    for (const [what, place] of cases) {
      const refused = await refusal(scene.bench.tables.register(scene.team.author, 'lake', parquet('t', place())));
      expect([what, refused.code]).toEqual([what, 'datasource.validation.lake_table_unreadable']);
      expect(String(refused.details['reason'])).not.toBe('');
    }
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(0);
  });

  it('answers alike for what exists outside the roots and what does not: nobody learns of the files of the server', async () => {
    const outside = (...parts: string[]): string => `file://${join(scene.folder, ...parts)}`;
    await scene.make(`COPY (SELECT 1 AS a) TO '${join(scene.folder, 'outside.parquet')}'`);
    mkdirSync(join(scene.folder, 'there', 'metadata'), { recursive: true });
    symlinkSync(join(scene.folder, 'outside.parquet'), root('link.parquet'));
    symlinkSync(scene.folder, root('linked'));
    const answers = new Set<string>();
    for (const [format, place] of [
      ['parquet', outside('outside.parquet')],
      ['parquet', outside('none.parquet')],
      ['parquet', outside('outside.parquet', 'none')],
      ['parquet', outside('*.parquet')],
      ['parquet', outside('none', '*.parquet')],
      ['parquet', outside('there/')],
      ['parquet', location('link.parquet')],
      ['parquet', location('linked', '*.parquet')],
      ['parquet', location('linked', 'none.parquet')],
      ['iceberg', outside('there')],
      ['iceberg', outside('none')],
      ['iceberg', outside('there', 'metadata', 'v1.metadata.json')],
      ['iceberg', outside('none', 'metadata', 'v1.metadata.json')],
    ] as const) {
      const body = { ...parquet('t', place), format };
      const { code, message, failures, details } = await refusal(scene.bench.tables.register(scene.team.author, 'lake', body));
      expect([place, code, failures, details['reason']]).toEqual([place, 'datasource.validation.lake_location_invalid', ['lake_location_invalid location'], 'file_root']);
      answers.add(message);
    }
    expect(answers.size).toBe(1);
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(0);
  }); // prettier-ignore

  it('counts the entries of a folder before the engine looks into it', async () => {
    const small = await scene.bench.stop().then(() => undefined);
    expect(small).toBeUndefined();
    scene.environment['DATAPIPELINES_LAKE_MAX_FILES_PER_TABLE'] = '20';
    scene.bench = await scene.another();
    mkdirSync(root('many'));
    for (let index = 0; index < 21; index += 1) writeFileSync(root('many', `${index}.txt`), '');
    for (const place of [location('many', '*.parquet'), location('many/'), location('*', '*.parquet')]) {
      const refused = await refusal(scene.bench.tables.register(scene.team.author, 'lake', parquet('t', place)));
      expect(refused.details['reason']).toMatch(/more than 20 files/);
    }
  });

  it('lets one of two who register a name at once win, by the constraint', async () => {
    const both = await Promise.allSettled([1, 2].map(() =>
      scene.bench.tables.register(scene.team.author, 'lake', parquet('orders', location('orders.parquet'))))); // prettier-ignore
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { code, details } = await refusal(
      scene.bench.tables.register(scene.team.author, 'lake', parquet('orders', location('orders.parquet'))),
    );
    expect([code, details]).toEqual(['datasource.lake_table_duplicate', { datasource: 'lake', namespace: ['sales'], table: 'orders' }]); // prettier-ignore
  });

  it('keeps strangers, viewers and other workspaces out, and hides what is not granted', async () => {
    const body = parquet('orders', location('orders.parquet'));
    const attempt = (who: Parameters<typeof scene.bench.tables.register>[0]) => refusal(scene.bench.tables.register(who, 'lake', body));
    expect((await attempt(scene.team.viewer)).code).toBe('auth.role_required');
    expect((await attempt(scene.team.key('read'))).code).toBe('auth.scope.insufficient');
    expect((await attempt(scene.others.author)).code).toBe('datasource.not_found');
    expect((await refusal(scene.bench.tables.list(scene.others.viewer, 'lake'))).code).toBe('datasource.not_found');
    await scene.bench.service.grant(scene.team.root, 'lake', 'others');
    expect((await attempt(scene.others.author)).code).toBe('auth.role_required');
    await scene.bench.service.create(scene.team.root, { name: 'plain', display_name: 'P', dialect: 'DUCKDB', jdbc_url: 'jdbc:duckdb:' });
    expect((await refusal(scene.bench.tables.register(scene.team.author, 'plain', body))).code).toBe('datasource.validation.lake_dialect_required');
  }); // prettier-ignore

  it('is for authors of the owner: a grant does not make a super admin of another workspace one of them', async () => {
    const { tables, imports } = scene.bench;
    const body = parquet('orders', location('orders.parquet'));
    await scene.bench.service.grant(scene.team.root, 'lake', 'others');
    await tables.register(scene.team.root, 'lake', body);
    const list = {
      namespace: 'more',
      tables: [{ name: 'b', format: 'parquet', location: location('orders.parquet') }],
    };
    for (const who of [scene.others.root, scene.others.author, scene.others.key('author')])
      for (const act of [
        () => tables.register(who, 'lake', { ...body, name: 'other' }),
        () => imports.import(who, 'lake', list),
        () => tables.unregister(who, 'lake', { namespace: 'sales', table: 'orders' }),
      ])
        expect((await refusal(act())).code).toBe('auth.role_required');
    expect((await tables.list(scene.others.root, 'lake')).tables.map(({ name }) => name)).toEqual(['orders']);
  });

  it('of an instance lake is for super admins in a session: no author, no administrator, no key of theirs', async () => {
    const { service, tables } = scene.bench;
    const body = parquet('orders', location('orders.parquet'));
    const lake = { display_name: 'Everyone', dialect: 'LAKE', jdbc_url: 'jdbc:duckdb:', global: true };
    await service.create(scene.team.root, { name: 'everyone', ...lake });
    await service.grant(scene.team.root, 'everyone', 'team');
    const { team } = scene;
    const rootKey = { ...team.key('author'), superAdmin: true, workspace: team.root.workspace! };
    for (const [who, code] of [
      [team.author, 'auth.role_required'],
      [team.admin, 'auth.role_required'],
      [team.key('author'), 'auth.session.required'],
      [rootKey, 'auth.session.required'],
    ] as const) {
      expect((await refusal(tables.register(who, 'everyone', body))).code).toBe(code);
      const gone = tables.unregister(who, 'everyone', { namespace: 'sales', table: 'orders' });
      expect((await refusal(gone)).code).toBe(code);
    }
    await tables.register(team.root, 'everyone', body);
    expect(await scene.bench.read('everyone', 'SELECT count(*) FROM sales.orders')).toEqual([[3n]]);
    await tables.unregister(team.root, 'everyone', { namespace: 'sales', table: 'orders' });
    expect((await tables.list(team.viewer, 'everyone')).count).toBe(0);
  });

  it('is all that is written of a lake: a session taken for writing refuses every statement and every row', async () => {
    await scene.bench.tables.register(scene.team.author, 'lake', parquet('orders', location('orders.parquet')));
    const { signal } = new AbortController();
    const lease = await scene.bench.datasources.pools.lease('lake', 'write', signal);
    const refused = { code: 'pipeline.node.datasource_readonly' };
    for (const sql of ['CREATE TABLE kept (a INT)', 'INSERT INTO orders VALUES (9, NULL)', `COPY orders TO '${root('out.parquet')}'`])
      await expect(lease.execute({ sql, values: [] }, { signal })).rejects.toMatchObject(refused);
    await expect(lease.beginWrite({ table: 't', mode: 'append', columns: [], batchRows: 1 }, { signal })).rejects.toMatchObject(refused);
    await lease.release();
    expect(readdirSync(root())).toEqual(['orders.parquet']);
  }); // prettier-ignore

  it('removes a table, on every instance at once, and says when there is none', async () => {
    const other = await scene.another();
    await scene.bench.tables.register(scene.team.author, 'lake', parquet('orders', location('orders.parquet')));
    expect(await other.read('lake', 'SELECT count(*) FROM orders')).toEqual([[3n]]);
    const address = { namespace: 'sales', table: 'orders' };
    await scene.bench.tables.unregister(scene.team.author, 'lake', address);
    for (const bench of [scene.bench, other])
      await expect(bench.read('lake', 'SELECT * FROM sales.orders')).rejects.toThrow(/orders/);
    expect((await refusal(scene.bench.tables.unregister(scene.team.author, 'lake', address))).code).toBe('datasource.lake_table_not_found');
    await scene.bench.tables.register(scene.team.author, 'lake', parquet('again', location('orders.parquet')));
    await eventually('the other instance serves the new table', () => other.read('lake', 'SELECT * FROM again').catch(() => undefined));
  }); // prettier-ignore
});

describe('the views of a lake', () => {
  it('leave no engine behind when what came of them cannot be written down', async () => {
    await scene.bench.tables.register(scene.team.author, 'lake', parquet('orders', location('orders.parquet')));
    rmSync(root('orders.parquet'));
    const { database } = scene.db;
    await database.execute('ALTER TABLE lake_tables ADD CONSTRAINT refused CHECK (last_error IS NULL)');
    const fresh = await scene.another();
    const engines = (): string[] => readdirSync(join(scene.folder, 'spill', 'penstock-lake'));
    const before = engines();
    for (const _ of [1, 2]) await expect(fresh.read('lake', 'SELECT 1')).rejects.toBeDefined();
    await eventually('the engines are gone', () => engines().length === before.length);
    await database.execute('ALTER TABLE lake_tables DROP CONSTRAINT refused');
    expect(await fresh.read('lake', 'SELECT 1')).toEqual([[1]]);
  });

  const register = (body: object) => scene.bench.tables.register(scene.team.author, 'lake', body as never);

  it('puts one segment into a schema and two into a database of their own, beside each other', async () => {
    await register({ ...parquet('orders', location('orders.parquet')), namespace: ['eu-west', 'sales'] });
    await register({ ...parquet('orders', location('orders.parquet')), namespace: 'plain' });
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM "eu-west".sales.orders, plain.orders')).toEqual([[9n]]);
    // Of two namespaces none is the one that is meant.
    await expect(scene.bench.read('lake', 'SELECT * FROM orders')).rejects.toMatchObject({ kind: 'missing_table' });
  });

  it('keeps a table of three segments and says why it cannot be queried; of what no engine could read, nothing', async () => {
    const deep = (name: string, file: string) => register({ ...parquet(name, location(file)), namespace: 'a.b.c' });
    expect((await refusal(deep('t', 'none.parquet'))).code).toBe('datasource.validation.lake_table_unreadable');
    const view = await deep('t', 'orders.parquet');
    expect([view.namespace, view.last_error, view.last_error_at]).toEqual([['a', 'b', 'c'], expect.stringMatching(/three or more segments/), expect.any(String)]);
    await register(parquet('orders', location('orders.parquet')));
    for (const sql of ['SELECT * FROM a.b.c.t', 'SELECT * FROM "a"."b"."c"."t" JOIN orders USING (id)']) {
      const { code, details } = await refusal(scene.bench.read('lake', sql));
      expect([code, details]).toEqual(['datasource.lake.table_unavailable', { table: 'a.b.c.t', last_error: view.last_error }]);
    }
    await expect(scene.bench.read('lake', 'SELECT FROM FROM')).rejects.toMatchObject({ driverCode: 'Parser' });
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM orders')).toEqual([[3n]]);
    const { tables } = await scene.bench.tables.list(scene.team.viewer, 'lake');
    expect(tables.map(({ name, last_error_at }) => [name, last_error_at])).toEqual([['t', view.last_error_at], ['orders', null]]);
    const listed = await scene.bench.datasources.introspection.tables(scene.team.author, 'lake');
    expect(listed.tables.map(({ name }) => name)).toEqual(['orders']);
    await scene.bench.tables.unregister(scene.team.author, 'lake', { namespace: 'a.b.c', table: 't' });
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(1);
  }); // prettier-ignore

  it('refuses a namespace that begins with a name of the engine\u2019s own: no query could tell the two apart', async () => {
    for (const namespace of ['memory', 'system.eu', ['temp', 'x']]) {
      const refused = await refusal(register({ ...parquet('t', location('orders.parquet')), namespace }));
      expect(refused.failures).toEqual(['lake_namespace_invalid namespace']);
    }
    expect((await register({ ...parquet('t', location('orders.parquet')), namespace: 'eu.memory' })).last_error).toBeNull();
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM eu.memory.t')).toEqual([[3n]]);
  }); // prettier-ignore

  it('are previewed each by its own rows, also where a schema and a database have one name', async () => {
    await scene.make(`COPY (SELECT 'eu' AS label, 7 AS id) TO '${root('eu.parquet')}'`);
    await register({ ...parquet('t', location('orders.parquet')), namespace: 'sales' });
    await register({ ...parquet('t', location('eu.parquet')), namespace: ['sales', 'eu'] });
    const preview = (namespace: string[], more = {}) =>
      scene.bench.datasources.preview.read(scene.team.author, 'lake', { table: 't', namespace, ...more });
    const rows = async (...asked: Parameters<typeof preview>) => (await preview(...asked)).rows.map(({ text }) => text);
    const order_by = [{ column: 'id', direction: 'DESC' as const }];
    expect(await rows(['sales'], { order_by, limit: 2 })).toEqual(['["2","n2"]', '["1","n1"]']);
    expect(await rows(['sales', 'eu'])).toEqual(['["eu",7]']);
    expect((await refusal(preview(['eu']))).code).toBe('datasource.lake_table_not_found');
    expect((await refusal(preview(['sales'], { limit: 0 }))).details).toMatchObject({ field: 'limit' });
  }); // prettier-ignore

  it('keeps the text of partition names: a leading zero, a space, another alphabet, none', async () => {
    await scene.make(
      `COPY (SELECT * FROM (VALUES (1, '007', 'Zürich'), (2, '100', 'a b'), (3, NULL, 'x+y')) t(v, zip, city))
         TO '${root('parts')}' (FORMAT parquet, PARTITION_BY (zip, city))`,
    );
    await register(parquet('parts', location('parts/'), { partition_column: 'zip' }));
    expect(await scene.bench.read('lake', 'SELECT v, zip, city FROM parts ORDER BY v')).toEqual([
      [1, '007', 'Zürich'], [2, '100', 'a b'], [3, null, 'x+y'],
    ]); // prettier-ignore
  });

  it('shows a broken table as broken, since when, and serves the others; mended, it is served again', async () => {
    await register(parquet('orders', location('orders.parquet')));
    await scene.make(`COPY (SELECT 1 AS a) TO '${root('other.parquet')}'`);
    await register(parquet('other', location('other.parquet')));
    renameSync(root('orders.parquet'), root('gone'));
    const fresh = await scene.another();
    const broken = await refusal(fresh.read('lake', 'SELECT * FROM sales.orders o JOIN other USING (a)'));
    expect([broken.code, broken.details['table']]).toEqual(['datasource.lake.table_unavailable', 'sales.orders']);
    expect(broken.details['last_error']).toMatch(/no file/i);
    expect(await fresh.read('lake', 'SELECT a FROM other')).toEqual([[1]]);
    // A name of the same spelling that is not the table stays what it is.
    expect(await fresh.read('lake', 'WITH orders AS (SELECT 7 AS x) SELECT x FROM orders')).toEqual([[7]]);
    const [row] = (await scene.bench.tables.list(scene.team.viewer, 'lake')).tables;
    expect([row?.last_error, row?.last_error_at]).toEqual([broken.details['last_error'], expect.any(String)]);
    await (await scene.another()).read('lake', 'SELECT 1');
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).tables[0]).toEqual(row);
    // Broken in another way it is still broken since then.
    writeFileSync(root('orders.parquet'), 'no parquet');
    await (await scene.another()).read('lake', 'SELECT 1');
    const [changed] = (await scene.bench.tables.list(scene.team.viewer, 'lake')).tables;
    expect(changed).toEqual({ ...row, last_error: expect.stringMatching(/parquet/i) });
    expect(changed?.last_error).not.toBe(row?.last_error);
    rmSync(root('orders.parquet'));
    renameSync(root('gone'), root('orders.parquet'));
    expect(await (await scene.another()).read('lake', 'SELECT count(*) FROM orders')).toEqual([[3n]]);
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).tables[0]).toMatchObject({ last_error: null, last_error_at: null });
  }); // prettier-ignore

  it('looks at the tables anew once a file went that it had seen', async () => {
    await register(parquet('orders', location('orders.parquet')));
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM orders')).toEqual([[3n]]);
    rmSync(root('orders.parquet'));
    await scene.bench.read('lake', 'SELECT * FROM orders').catch(() => undefined);
    const broken = await refusal(scene.bench.read('lake', 'SELECT * FROM orders'));
    expect(broken.code).toBe('datasource.lake.table_unavailable');
  });
});

describe('what a lake shows of itself', () => {
  it('lists namespaces, tables and columns from the registry, nested types as text with a warning', async () => {
    await scene.make(`COPY (SELECT 1::DECIMAL(9,2) AS price, {'x': 1} AS nested, [1] AS list, DATE '2024-02-29' AS day) TO '${root('types.parquet')}'`);
    await scene.bench.tables.register(scene.team.author, 'lake', parquet('types', location('types.parquet'), { partition_column: 'day' }));
    const { introspection } = scene.bench.datasources;
    expect((await introspection.schemas(scene.team.author, 'lake')).entries).toEqual([{ namespace: ['sales'], label: 'sales' }]);
    expect((await introspection.tables(scene.team.author, 'lake')).tables).toEqual([
      { namespace: ['sales'], schema: 'sales', name: 'types', type: 'VIEW', remarks: 'parquet', partition_column: 'day' },
    ]);
    const columns = await introspection.columns(scene.team.author, 'lake', { table: 'types' });
    expect(columns.map(({ name, type, warnings }) => [name, type, warnings.length])).toEqual([
      ['price', 'DECIMAL', 0], ['nested', 'STRING', 1], ['list', 'STRING', 1], ['day', 'DATE', 0],
    ]);
    const missing = await refusal(introspection.columns(scene.team.author, 'lake', { table: 'type' }));
    expect([missing.code, missing.details['suggestion']]).toEqual(['datasource.lake_table_not_found', 'types']);
  }); // prettier-ignore

  it('tells from footers alone how many rows there are, how many NULLs and between which values', async () => {
    await scene.make(
      `COPY (SELECT i AS n, CASE WHEN i < 25 THEN NULL ELSE 'x' END AS s FROM range(2, 102) t(i)) TO '${root('stats.parquet')}' (ROW_GROUP_SIZE 2048)`,
    );
    await scene.bench.tables.register(
      scene.team.author,
      'lake',
      parquet('stats', location('stats.parquet'), { partition_column: 'n' }),
    );
    const { statistics } = scene.bench.datasources;
    expect(await statistics.read(scene.team.author, 'lake', { table: 'stats' })).toEqual({
      row_estimate: 100,
      stats_source: 'parquet_metadata',
      indexes: [{ name: 'partition', columns: ['n'], unique: false, primary: false, kind: 'partition' }],
      columns: [
        // 10 and 100 are larger than 2 as numbers only.
        { name: 'n', distinct_is_ratio: false, null_fraction: 0, min: '2', max: '101' },
        { name: 's', distinct_is_ratio: false, null_fraction: 0.23, min: 'x', max: 'x' },
      ],
      partition_column: 'n',
    });
  });

  it('answers a test with the version, and with what is wrong where its file root cannot be listed, tables or none', async () => {
    const test = () => scene.bench.service.test(scene.team.root, 'lake');
    const stands = { connected: true, server_version: expect.stringMatching(/^DuckDB v/) };
    const gone = { connected: false, error_class: 'ENOENT', error: expect.stringMatching(/file-roots/) };
    expect(await test()).toMatchObject(stands);
    renameSync(join(scene.folder, 'roots'), join(scene.folder, 'away'));
    expect(await test()).toMatchObject(gone);
    renameSync(join(scene.folder, 'away'), join(scene.folder, 'roots'));
    await scene.make(`COPY (SELECT 1 AS a) TO '${root('plain.parquet')}'`);
    await scene.bench.tables.register(scene.team.author, 'lake', parquet('plain', location('plain.parquet')));
    expect(await test()).toMatchObject(stands);
    renameSync(join(scene.folder, 'roots'), join(scene.folder, 'away'));
    expect(await test()).toMatchObject(gone);
  }); // prettier-ignore
});
