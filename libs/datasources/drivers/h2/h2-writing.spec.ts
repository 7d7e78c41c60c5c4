import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import type { Column } from '#libs/typesystem';

import { describeWithProgram } from '../../../../test/fixtures/programs.js';
import { batchOf, NEVER, rowsOf } from '../driver.fixture.js';
import type { TableWriter } from '../driver.js';
import type { H2Connection } from './connection.js';
import { H2Bench } from './h2.fixture.js';
import { readsWideSchemas, tableName, TABLES } from '../../introspection/many-tables.fixture.js';
import { h2Introspection } from './introspection.js';
import { h2Statistics } from './statistics.js';

const N: Column = { name: 'n', type: 'INTEGER' };
const S: Column = { name: 's', type: 'STRING' };

describeWithProgram('h2.jar', 'writing to H2 and looking into it', (jar) => {
  let bench: H2Bench;
  let connection: H2Connection;

  beforeAll(async () => {
    bench = await H2Bench.start(jar);
  }, 60_000);

  beforeEach(async () => {
    connection = await bench.connect();
    await bench.server.sql('DROP TABLE IF EXISTS target', 'CREATE TABLE target (n INT PRIMARY KEY, s TEXT)');
  });

  afterAll(async () => {
    await bench?.close();
  });

  const begin = (mode: 'append' | 'replace' = 'append', columns = [N, S], batchRows = 1000): Promise<TableWriter> =>
    connection.beginWrite({ table: 'target', mode, columns, batchRows }, { signal: NEVER });
  const stored = () => bench.server.sql('SELECT n, s FROM target ORDER BY n');

  it('writes all rows in one transaction that nobody sees before its end', async () => {
    const writer = await begin();
    const rows = Array.from({ length: 2500 }, (_, index) => [index, index % 7 === 0 ? null : `r${index}`]);
    await writer.write(batchOf([N, S], rows.slice(0, 2048)));
    await writer.write(batchOf([N, S], rows.slice(2048)));
    expect(await stored()).toEqual([]);
    await writer.commit();
    expect(await stored()).toEqual(rows.map(([n, s]) => [String(n), s]));
  });

  it('replaces by deleting, so a failure gives the old rows back', async () => {
    await bench.server.sql(`INSERT INTO target VALUES (1, 'old')`);
    const failing = await begin('replace');
    await failing.write(batchOf([N, S], [[2, 'new']]));
    await failing.rollback();
    expect(await stored()).toEqual([['1', 'old']]);
    const writer = await begin('replace');
    await writer.write(batchOf([N, S], [[1, 'new']]));
    await writer.commit();
    expect(await stored()).toEqual([['1', 'new']]);
  });

  it('a row that the table refuses leaves nothing behind', async () => {
    const writer = await begin();
    await writer.write(batchOf([N, S], [[1, 'a']]));
    await expect(writer.write(batchOf([N, S], [[1, 'twice']]))).rejects.toMatchObject({ driverCode: '23505' });
    await writer.rollback();
    expect(connection.usable).toBe(false);
    connection.destroy();
    expect(await stored()).toEqual([]);
  });

  it('a table or a column that is missing is told before the first row', async () => {
    await expect(
      connection.beginWrite({ table: 'nowhere', mode: 'append', columns: [N], batchRows: 10 }, { signal: NEVER }),
    ).rejects.toMatchObject({ kind: 'missing_table' });
    connection = await bench.connect();
    await expect(begin('append', [{ name: 'nothing', type: 'INTEGER' }])).rejects.toMatchObject({
      driverCode: '42S22',
    });
  });

  it('every type arrives unchanged', async () => {
    const columns: Column[] = [
      { name: 'bo', type: 'BOOLEAN' },
      { name: 'i', type: 'INTEGER' },
      { name: 'big', type: 'BIGINTEGER' },
      { name: 'd', type: 'DECIMAL', precision: 10, scale: 2 },
      { name: 'd38', type: 'BIGDECIMAL', precision: 38, scale: 10 },
      { name: 'r', type: 'DECIMAL', precision: 7 },
      { name: 'db', type: 'DECIMAL', precision: 15 },
      { name: 'b', type: 'BINARY' },
      { name: 'dt', type: 'DATE' },
      { name: 'tm', type: 'TIME' },
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 'tsz', type: 'TIMESTAMP' },
      { name: 'nothing', type: 'NULL' },
    ];
    await bench.server.sql(
      'DROP TABLE target',
      `CREATE TABLE target (bo BOOLEAN, i INT, big BIGINT, d NUMERIC(10,2), d38 NUMERIC(38,10), r REAL, db DOUBLE PRECISION,
         b VARBINARY(10), dt DATE, tm TIME(6), ts TIMESTAMP(6), tsz TIMESTAMP(6) WITH TIME ZONE, nothing VARCHAR)`,
    );
    const writer = await connection.beginWrite(
      { table: 'public.target', mode: 'append', columns, batchRows: 7 },
      { signal: NEVER },
    );
    const row = [
      ...[1, -2147483648, 2n ** 63n - 1n, -123n, '9999999999999999999999999999.9999999999', Math.fround(1.1), 0.1],
      ...[new Uint8Array([0, 255, 39]), -719162, 86_399_999_999n, 253402300799999999n, -62135596800000000n, null],
    ];
    await writer.write(batchOf(columns, [row]));
    await writer.commit();
    const { rows } = await rowsOf(await bench.connect(), 'SELECT * FROM target');
    expect(rows).toEqual([
      '[true,-2147483648,"9223372036854775807","-1.23","9999999999999999999999999999.9999999999",1.1,0.1,"AP8n",' +
        '"0001-01-01","23:59:59.999999","9999-12-31T23:59:59.999999Z","0001-01-01T00:00:00.000000Z",null]',
    ]);
  });

  it('a lost connection during COMMIT leaves the outcome open', async () => {
    const writer = await begin();
    await writer.write(batchOf([N, S], [[1, 'a']]));
    await bench.server.freeze();
    const committing = expect(writer.commit()).rejects.toMatchObject({ commitUnknown: true });
    connection.destroy();
    bench.server.thaw();
    await committing;
  });

  it('lists schemas, tables and columns with comments, keys and references, whatever their names', async () => {
    await bench.server.sql(
      'CREATE SCHEMA IF NOT EXISTS "Größe"',
      `CREATE TABLE IF NOT EXISTS "Größe"."select" ("Id" INT PRIMARY KEY, "a""b" NUMERIC(12,2) NOT NULL)`,
      `COMMENT ON TABLE "Größe"."select" IS 'Käufe'`,
      `COMMENT ON COLUMN "Größe"."select"."a""b" IS 'net'`,
      `CREATE TABLE IF NOT EXISTS kid (a INT, b VARCHAR(5), parent INT REFERENCES "Größe"."select"("Id"), PRIMARY KEY (b, a))`,
      'CREATE VIEW IF NOT EXISTS seen AS SELECT a FROM kid',
    );
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    expect(await h2Introspection.schemas(query, [], 10)).toEqual([['Größe'], ['public']]);
    expect(await h2Introspection.schemas(query, ['information_schema'], 10)).toHaveLength(3);
    expect(await h2Introspection.currentNamespace(query)).toEqual(['public']);
    const tables = await h2Introspection.tables(query, { namespace: null, include: [] }, 10);
    expect(tables).toEqual([
      { namespace: ['Größe'], name: 'select', type: 'BASE TABLE', remarks: 'Käufe' },
      { namespace: ['public'], name: 'kid', type: 'BASE TABLE', remarks: null },
      { namespace: ['public'], name: 'seen', type: 'VIEW', remarks: null },
      { namespace: ['public'], name: 'target', type: 'BASE TABLE', remarks: null },
    ]);
    expect(await h2Introspection.tables(query, { namespace: ['größe'], include: [] }, 10)).toEqual([]);
    expect(await h2Introspection.tables(query, { namespace: null, include: [] }, 2)).toHaveLength(2);
    expect(await h2Introspection.columns(query, tables[0]!)).toMatchObject([
      { name: 'Id', sourceType: 'INTEGER', nullable: false, primaryKey: 1, references: null },
      {
        name: 'a"b',
        sourceType: 'NUMERIC(12, 2)',
        mapped: { type: { type: 'DECIMAL', precision: 12, scale: 2 } },
        remarks: 'net',
        nullable: false,
      },
    ]);
    expect(await h2Introspection.columns(query, tables[1]!)).toMatchObject([
      { name: 'a', primaryKey: 2 },
      { name: 'b', sourceType: 'CHARACTER VARYING(5)', primaryKey: 1 },
      { name: 'parent', primaryKey: null, references: { namespace: ['Größe'], table: 'select', column: 'Id' } },
    ]);
  });

  describe('with a schema of 5,000 tables', () => {
    beforeAll(async () => {
      const named = (number: number): string => `wide.${tableName(number)}`;
      const created = Array.from(
        { length: TABLES },
        (_, at) => `CREATE TABLE ${named(at + 1)} (id INT, customer VARCHAR(9))`,
      );
      await bench.server.sql('CREATE SCHEMA wide');
      for (let from = 0; from < TABLES; from += 500) await bench.server.sql(created.slice(from, from + 500).join(';'));
      await bench.server.sql(`COMMENT ON TABLE ${named(TABLES)} IS 'the last'`);
    }, 60_000);

    readsWideSchemas(() => ({
      introspection: h2Introspection,
      statistics: h2Statistics,
      connection,
      namespace: ['wide'],
      remarks: 'the last',
      queries: { columns: 2, statistics: 2 },
    }));
  });
});
