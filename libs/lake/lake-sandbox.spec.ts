import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import type { DriverFailure } from '#libs/datasources';

import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);

beforeEach(async () => {
  mkdirSync(root('in'));
  await scene.make(
    `COPY (SELECT 1 AS a) TO '${root('in', 'a.parquet')}'`,
    `COPY (SELECT 'secret' AS s) TO '${root('beside.parquet')}'`,
    `COPY (SELECT 'secret' AS s) TO '${join(scene.folder, 'outside.parquet')}'`,
  );
  writeFileSync(join(scene.folder, 'outside.txt'), 'secret');
  await scene.registered('lake');
  await scene.bench.tables.register(scene.team.author, 'lake', {
    namespace: 'sales',
    name: 'a',
    format: 'parquet',
    location: `file://${root('in', '*.parquet')}`,
  });
});

/** The statement's failure, told apart from the reading of something. */
async function refused(sql: string): Promise<DriverFailure> {
  const outcome = await scene.bench.read('lake', sql).then(
    (rows) => ({ rows }),
    (failure: unknown) => failure as DriverFailure,
  );
  if ('rows' in outcome) throw new TypeError(`it was read: ${sql} → ${String(outcome.rows)}`);
  return outcome;
}

describe('the walls around a lake', () => {
  it('let nothing be read beside the roots of its tables, by any name for it', async () => {
    symlinkSync(join(scene.folder, 'outside.parquet'), root('in', 'link.txt'));
    symlinkSync(scene.folder, root('in', 'dir'));
    const outside = join(scene.folder, 'outside.parquet');
    for (const place of [
      outside,
      root('beside.parquet'),
      root('in', '..', 'beside.parquet').replace('/beside', '/../roots/beside'),
      `${root('in')}/../beside.parquet`,
      `${root('in')}/./../beside.parquet`,
      root('in', 'link.txt'),
      root('in', 'dir', 'outside.parquet'),
      `file://${outside}`,
      `${root()}/*.parquet`,
      `${root('in')}*/../*.parquet`,
      'http://127.0.0.1:9/x.parquet',
      'https://example.org/x.parquet',
      's3://bucket/x.parquet',
      'hf://datasets/x.parquet',
    ]) {
      for (const way of [`read_parquet('${place}')`, `'${place}'`, `read_blob('${place}')`, `read_csv('${place}')`]) {
        expect([way, (await refused(`SELECT * FROM ${way}`)).driverCode]).toEqual([
          way,
          expect.stringMatching(/Permission|IO|Catalog|Missing Extension|Invalid Input|Binder|HTTP/),
        ]);
      }
    }
    for (const sql of [
      `SELECT * FROM glob('${scene.folder}/**')`,
      `SELECT * FROM glob('/etc/*')`,
      `SELECT * FROM read_text('${join(scene.folder, 'outside.txt')}')`,
      `SELECT * FROM parquet_metadata('${outside}')`,
      `SELECT * FROM sniff_csv('/etc/passwd')`,
      `SELECT * FROM sales.a WHERE (SELECT count(*) FROM read_text('/etc/passwd')) > 0`,
      `FROM query('FROM read_text(''/etc/passwd'')')`,
    ])
      await refused(sql);
  });

  it('let no statement but a SELECT run, so that nothing is written, loaded or loosened', async () => {
    for (const sql of [
      `COPY (SELECT 1) TO '${root('in', 'new.parquet')}'`,
      `COPY sales.a TO '${join(scene.folder, 'new.parquet')}'`,
      `ATTACH ':memory:' AS other`,
      `ATTACH '${root('in', 'x.db')}' AS other`,
      `DETACH memory`,
      `LOAD httpfs`,
      `INSTALL httpfs`,
      `SET enable_external_access = true`,
      `SET GLOBAL allowed_directories = ['/']`,
      `RESET allowed_directories`,
      `SET lock_configuration = false`,
      `PRAGMA threads = 1`,
      `CREATE TABLE t (a INT)`,
      `CREATE OR REPLACE VIEW sales.a AS SELECT 2 AS a`,
      `DROP VIEW sales.a`,
      `INSERT INTO memory.__dp.lake_tables VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
      `EXPORT DATABASE '${root('in', 'dump')}'`,
      `CALL pragma_version()`,
      `CHECKPOINT`,
      `BEGIN`,
      `SELECT 1; SELECT 2`,
      `CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')`,
    ]) {
      const failure = await refused(sql);
      expect([sql, failure.name]).toEqual([sql, 'DriverFailure']);
    }
    expect((await refused(`COPY (SELECT 1) TO '${root('in', 'new.parquet')}'`)).reason).toBe('not_select');
    expect(await scene.bench.read('lake', 'SELECT * FROM sales.a')).toEqual([[1]]);
  });

  it('show nothing of the folder the engine spills into, nor of another lake', async () => {
    const [row] = await scene.bench.read('lake', `SELECT value FROM duckdb_settings() WHERE name = 'temp_directory'`);
    const spill = String(row?.[0]);
    expect(spill).toMatch(/\/lake-[^/]+$/);
    writeFileSync(join(spill, '..', 'other-engine.tmp'), 'secret');
    await refused(`SELECT * FROM read_text('${join(spill, '..', 'other-engine.tmp')}')`);
    await scene.registered('second');
    await refused(`SELECT * FROM second.sales.a`);
    expect((await refused(`SELECT count(*) FROM duckdb_secrets()`)).reason).toBe('engine_function');
  });

  it('hold attached files read-only, and let no other in by their name', async () => {
    await scene.make(
      `ATTACH '${root('old.duckdb')}' AS old`,
      'CREATE TABLE old.t AS SELECT 7 AS v',
      'DETACH old',
      `ATTACH '${join(scene.folder, 'outside.duckdb')}' AS outside`,
      'DETACH outside',
    );
    const lake = (attach: string) => ({ properties: { dialect: { attach } } });
    await scene.registered('attached', lake(`old=${root('old.duckdb')}`));
    expect(await scene.bench.read('attached', 'SELECT v FROM old.t')).toEqual([[7]]);
    const on = (sql: string) => scene.bench.read('attached', sql).then(() => 'done', (error: Error) => error.name);
    for (const sql of ['INSERT INTO old.t VALUES (8)', 'DROP TABLE old.t', 'DETACH old', `ATTACH '${root('old.duckdb')}' AS again`])
      expect([sql, await on(sql)]).toEqual([sql, 'DriverFailure']);
    for (const attach of [`out=${join(scene.folder, 'outside.duckdb')}`, `out=${root('..', 'outside.duckdb')}`, 'memory=/x', 'a=relative.duckdb', `a=${root('old.duckdb')},a=${root('b.duckdb')}`])
      await expect(scene.registered('refused', lake(attach))).rejects.toMatchObject({ code: 'datasource.validation.properties_invalid' });
    symlinkSync(join(scene.folder, 'outside.duckdb'), root('link.duckdb'));
    const linked = await scene.registered('linked', lake(`out=${root('link.duckdb')}`)).then(() => scene.bench.service.test(scene.team.root, 'linked'), () => undefined);
    expect(linked?.connected ?? false).toBe(false);
  }); // prettier-ignore

  it('that cannot be built are no table\u2019s fault: the lake cannot be reached, and says why to whoever tests it', async () => {
    await scene.registered('unbuilt', { properties: { dialect: { temp_directory: root('spill') } } });
    writeFileSync(root('spill'), 'no folder');
    const { introspection, pools, probe } = scene.bench.datasources;
    const body = { namespace: 'n', name: 't', format: 'parquet', location: `file://${root('in', 'a.parquet')}` };
    for (const work of [
      () => introspection.tables(scene.team.author, 'unbuilt'),
      () => scene.bench.tables.register(scene.team.author, 'unbuilt', body),
    ])
      expect((await refusal(work())).code).toBe('pipeline.execution.datasource_unreachable');
    expect((await refusal(probe.run(scene.team.author, 'unbuilt', { sql: 'SELECT 1' }))).code).toBe('pipeline.execution.datasource_unreachable');
    await expect(pools.lease('unbuilt', 'read', new AbortController().signal)).rejects.toMatchObject({ kind: 'connection' });
    expect(await scene.bench.service.test(scene.team.admin, 'unbuilt')).toMatchObject({ connected: false, error_class: expect.any(String) });
    expect((await scene.bench.tables.list(scene.team.viewer, 'unbuilt')).count).toBe(0);
  }); // prettier-ignore

  it('keep rows in the order of their files, which a result that is cut or paged relies on', async () => {
    const setting = `SELECT value FROM duckdb_settings() WHERE name = 'preserve_insertion_order'`;
    expect(await scene.bench.read('lake', setting)).toEqual([['true']]);
  });

  it('let the engine spill where it is told, below the file roots only, and keep to its memory', async () => {
    mkdirSync(root('spill'));
    const lake = (folder: string) => ({ properties: { dialect: { temp_directory: folder, memory_limit: '64MB', threads: '1' } } });
    await expect(scene.registered('outside', lake(join(scene.folder, 'elsewhere')))).rejects.toMatchObject({ code: 'datasource.validation.properties_invalid' });
    await scene.registered('spilling', lake(root('spill')));
    const settings = `SELECT value FROM duckdb_settings() WHERE name IN ('memory_limit', 'temp_directory', 'threads') ORDER BY name`;
    expect(await scene.bench.read('spilling', settings)).toEqual([['61.0 MiB'], [expect.stringContaining(`${root('spill')}/lake-`)], ['1']]);
    const heavy = 'SELECT count(*) FROM (SELECT DISTINCT md5(i::VARCHAR) FROM range(600000) t(i))';
    expect(await scene.bench.read('spilling', heavy)).toEqual([[600000n]]);
    await refused(`SELECT * FROM read_text('${root('spill')}/**')`);
  }); // prettier-ignore

  it('stop a statement that runs away, within its time', async () => {
    const stop = AbortSignal.timeout(300);
    const lease = await scene.bench.datasources.pools.lease('lake', 'read', new AbortController().signal);
    const runaway = lease.openCursor(
      { sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b', values: [] },
      { fetchSize: 1, signal: stop },
    );
    await expect(runaway.then((cursor) => cursor.next(stop))).rejects.toMatchObject({ kind: 'cancelled' });
    await lease.release('destroy');
    expect(await scene.bench.read('lake', 'SELECT * FROM sales.a')).toEqual([[1]]);
  });

  it('stand also when a row of the registry is changed behind it: a location is judged again wherever SQL is made of it', async () => {
    mkdirSync(join(scene.folder, 'ice', 'metadata'), { recursive: true });
    const outside = join(scene.folder, 'outside.parquet');
    const [table] = (await scene.bench.tables.list(scene.team.viewer, 'lake')).tables;
    for (const [location, says, format = 'parquet'] of [
      [`file://${outside}`, /outside the folders/],
      [`file://${scene.folder}/none.parquet`, /outside the folders/],
      [`file://${scene.folder}/*.parquet`, /outside the folders/],
      [`file://${scene.folder}/`, /outside the folders/],
      [`file://${root('in')}/../../outside.parquet`, /not acceptable \(climbs\)/],
      [`file://${root('in')}/a.parquet'); SELECT * FROM read_text('/etc/passwd`, /not acceptable \(character\)/],
      [`file://${root('in')}/a.parquet') UNION SELECT 'x`, /not acceptable \(character\)/],
      [`${outside}`, /not acceptable \(scheme\)/],
      ['https://example.org/x.parquet', /not acceptable \(scheme\)/],
      [`file:${outside}`, /not acceptable \(path\)/],
      [`s3://BUCKET/x`, /not acceptable \(bucket\)/],
      [`file://${'x'.repeat(2100)}`, /not acceptable \(length\)/],
      [`file://${join(scene.folder, 'ice')}`, /outside the folders/, 'iceberg'],
      [`file://${join(scene.folder, 'none')}`, /outside the folders/, 'iceberg'],
      [`file://${join(scene.folder, 'ice', 'metadata', 'v1.metadata.json')}`, /outside the folders/, 'iceberg'],
    ] as const) {
      await scene.db.database.execute('UPDATE lake_tables SET location = $1, format = $2', [location, format]);
      const fresh = await scene.another();
      const outcome = await fresh.read('lake', 'SELECT * FROM sales.a').then((rows) => ({ rows }), (error: unknown) => error);
      expect([location, outcome]).toMatchObject([location, {
        code: 'datasource.lake.table_unavailable',
        details: { table: 'sales.a', last_error: expect.stringMatching(says) },
      }]);
      await fresh.stop();
    }
    await scene.db.database.execute('UPDATE lake_tables SET location = $1, format = $2', [table?.location, 'parquet']);
    expect(await (await scene.another()).read('lake', 'SELECT * FROM sales.a')).toEqual([[1]]);
  }, 20_000); // prettier-ignore
});
