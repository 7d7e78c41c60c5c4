import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { Column } from '#libs/typesystem';

import { describeWithProgram } from '../../../../test/fixtures/programs.js';
import { batchOf, eventually, NEVER, rowsOf } from '../driver.fixture.js';
import type { TableWriter } from '../driver.js';
import type { MysqlConnection } from './connection.js';
import { readsWideSchemas } from '../../introspection/many-tables.fixture.js';
import { mysqlIntrospection } from './introspection.js';
import { mysqlStatistics } from './statistics.js';
import { MariadbBench } from './mysql.fixture.js';

const N: Column = { name: 'n', type: 'INTEGER' };
const S: Column = { name: 's', type: 'STRING' };

describeWithProgram('mariadbd', 'writing to MariaDB', (program) => {
  let bench: MariadbBench;
  let connection: MysqlConnection;

  beforeAll(async () => {
    bench = await MariadbBench.start(program, ['--max-allowed-packet=1M']);
    await bench.server.sql('USE penstock');
  }, 60_000);

  beforeEach(async () => {
    connection = await bench.connect();
    await bench.server.sql('CREATE OR REPLACE TABLE penstock.target (n INT PRIMARY KEY, s LONGTEXT) ENGINE=InnoDB');
  });

  afterAll(async () => {
    await bench?.close();
  });

  const begin = (mode: 'append' | 'replace' = 'append', columns = [N, S], batchRows = 1000): Promise<TableWriter> =>
    connection.beginWrite({ table: 'target', mode, columns, batchRows }, { signal: NEVER });
  const stored = () => bench.server.sql('SELECT n, s FROM penstock.target ORDER BY n');

  it('writes all rows in one transaction that nobody sees before its end', async () => {
    const writer = await begin();
    const rows = Array.from({ length: 2500 }, (_, index) => [index, index % 7 === 0 ? null : `r${index}`]);
    await writer.write(batchOf([N, S], rows.slice(0, 2048)));
    await writer.write(batchOf([N, S], rows.slice(2048)));
    expect(await stored()).toEqual([]);
    await writer.commit();
    expect(await stored()).toEqual(rows);
  });

  it('replaces by deleting, so a failure gives the old rows back', async () => {
    await bench.server.sql(`INSERT INTO penstock.target VALUES (1, 'old')`);
    const failing = await begin('replace');
    await failing.write(batchOf([N, S], [[2, 'new']]));
    await failing.rollback();
    expect(await stored()).toEqual([[1, 'old']]);
    const writer = await begin('replace');
    await writer.write(batchOf([N, S], [[1, 'new']]));
    await writer.commit();
    expect(await stored()).toEqual([[1, 'new']]);
  });

  it('cuts statements to what a packet and the placeholders allow', async () => {
    const wide = 'w'.repeat(200_000);
    const rows = Array.from({ length: 20 }, (_, index) => [index, wide]);
    const writer = await begin();
    await writer.write(batchOf([N, S], rows));
    await writer.commit();
    expect(await bench.server.sql('SELECT count(*), sum(length(s)) FROM penstock.target')).toEqual([[20, '4000000']]);
    const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
    await bench.server.sql(`CREATE OR REPLACE TABLE penstock.target (${names.map((name) => `${name} INT`).join(',')})`);
    const columns = names.map((name): Column => ({ name, type: 'INTEGER' }));
    const broad = await begin('append', columns, 5000);
    await broad.write(
      batchOf(
        columns,
        Array.from({ length: 2048 }, (_, row) => names.map(() => row)),
      ),
    );
    await broad.commit();
    expect(await bench.server.sql('SELECT count(*), sum(c99) FROM penstock.target')).toEqual([[2048, '2096128']]);
  });

  it.each([
    ['a table that is missing', { table: 'nowhere', columns: [N] }, { kind: 'missing_table' }],
    [
      'a column that is missing',
      { table: 'target', columns: [{ ...N, name: 'x' }] },
      { driverCode: 'ER_BAD_FIELD_ERROR' },
    ],
    ['a right that is missing', { table: 'mysql.user', columns: [N] }, { kind: 'permission' }],
  ])('tells of %s before any row is asked for', async (_name, target, failure) => {
    const opening = connection.beginWrite({ mode: 'append', batchRows: 10, ...target }, { signal: NEVER });
    await expect(opening).rejects.toMatchObject(failure);
  });

  it('refuses what does not fit instead of cutting it, and what MySQL has no value for', async () => {
    await bench.server.sql('CREATE OR REPLACE TABLE penstock.target (n TINYINT, s VARCHAR(3), f DOUBLE, d DATE)');
    for (const [column, value, failure] of [
      [N, 300, { driverCode: 'ER_WARN_DATA_OUT_OF_RANGE' }],
      [S, 'four', { driverCode: 'ER_DATA_TOO_LONG' }],
      [{ name: 'f', type: 'DECIMAL', precision: 15 }, Number.NaN, { reason: 'value_unrepresentable' }],
      [{ name: 'f', type: 'DECIMAL', precision: 15 }, Infinity, { reason: 'value_unrepresentable' }],
      [{ name: 'd', type: 'DATE' }, 2_147_483_647, { reason: 'value_unrepresentable' }],
    ] as [Column, unknown, object][]) {
      const writer = await begin('append', [column]);
      await expect(writer.write(batchOf([column], [[value]]))).rejects.toMatchObject(failure);
      await writer.rollback();
    }
    expect(await bench.server.sql('SELECT count(*) FROM penstock.target')).toEqual([[0]]);
  });

  it('gives back every text it was given, whatever quotes, escapes and letters it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 20 }), async (texts) => {
        const writer = await begin('replace');
        await writer.write(
          batchOf(
            [N, S],
            texts.map((text, index) => [index, text]),
          ),
        );
        await writer.commit();
        expect((await stored()).map(([, text]) => text)).toEqual(texts);
      }),
      { numRuns: 30 },
    );
  });

  it('a cancel in the middle of a write leaves nothing, and the connection is not used again', async () => {
    await bench.server.sql(`INSERT INTO penstock.target VALUES (1, 'kept')`);
    const holder = await bench.connect();
    await holder.session.query('START TRANSACTION');
    await holder.session.query(`UPDATE target SET s = 'held' WHERE n = 1`);
    const stop = new AbortController();
    const writer = await connection.beginWrite(
      { table: 'target', mode: 'append', columns: [N, S], batchRows: 10 },
      { signal: stop.signal },
    );
    await writer.write(batchOf([N, S], [[7, 'x']]));
    const blocked = writer.write(batchOf([N, S], [[1, 'x']]));
    expect(await eventually(async () => (await bench.running()).some((sql) => sql.startsWith('INSERT')))).toBe(true);
    stop.abort();
    await expect(blocked).rejects.toMatchObject({ kind: 'cancelled' });
    await writer.rollback();
    expect(connection.usable).toBe(false);
    holder.destroy();
    expect(await eventually(async () => (await stored()).length === 1)).toBe(true);
    expect(await stored()).toEqual([[1, 'kept']]);
  });

  it('a COMMIT whose answer is lost is neither written nor not written', async () => {
    const writer = await begin();
    await writer.write(batchOf([N, S], [[1, 'x']]));
    const committing = writer.commit();
    connection.destroy();
    await expect(committing).rejects.toMatchObject({ commitUnknown: true });
  });

  it('runs DML and DDL, and counts rows', async () => {
    const run = (sql: string, values: unknown[] = []) => connection.execute({ sql, values }, { signal: NEVER });
    const prepared = async (): Promise<unknown> =>
      (await bench.server.sql(`SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'`))[0]?.[1];
    const before = await prepared();
    expect(await run(`INSERT INTO target VALUES (1, 'a'), (2, 'b')`)).toBe(2);
    // Rows that match count, as with the JDBC driver, changed or not.
    expect(await run(`UPDATE target SET s = 'a'`)).toBe(2);
    expect(await run('INSERT INTO target VALUES (3, NULL) RETURNING n')).toBe(0);
    expect(await run('CREATE TABLE other (i INT)')).toBe(0);
    expect(await run('DROP TABLE other')).toBe(0);
    expect(await run('DELETE FROM target WHERE n = 3')).toBe(1);
    await expect(run('SET @x = 1')).rejects.toMatchObject({ reason: 'statement_refused' });
    await expect(run('DELETE FROM target; DROP TABLE target')).rejects.toMatchObject({ reason: 'multiple_statements' });
    expect(await bench.server.sql('SELECT count(*) FROM penstock.target')).toEqual([[2]]);
    expect(await prepared()).toBe(before);
  });

  it('lists schemas, tables and columns with comments and keys', async () => {
    await bench.server.sql(
      'CREATE DATABASE IF NOT EXISTS penstock CHARACTER SET utf8mb4',
      `CREATE OR REPLACE TABLE penstock.parent (a INT, b VARCHAR(5), PRIMARY KEY (b, a)) COMMENT 'The parents'`,
      `CREATE OR REPLACE TABLE penstock.\`Kind ünï\` (id BIGINT UNSIGNED PRIMARY KEY COMMENT 'Its number',
         amount DECIMAL(12,2) NOT NULL, pa INT, pb VARCHAR(5), on1 TINYINT(1), g GEOMETRY, j JSON,
         FOREIGN KEY (pb, pa) REFERENCES penstock.parent (b, a))`,
      'CREATE OR REPLACE VIEW penstock.seen AS SELECT id FROM penstock.`Kind ünï`',
    );
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    expect(await mysqlIntrospection.schemas(query, [], 10)).toEqual([['penstock']]);
    expect(await mysqlIntrospection.schemas(query, ['information_schema'], 10)).toEqual([
      ['information_schema'],
      ['penstock'],
    ]);
    expect(await mysqlIntrospection.schemas(query, ['information_schema'], 1)).toHaveLength(1);
    const tables = await mysqlIntrospection.tables(query, { namespace: ['penstock'], include: [] }, 10);
    expect(tables.map(({ name, type, remarks }) => [name, type, remarks])).toEqual([
      ['Kind ünï', 'TABLE', null],
      ['parent', 'TABLE', 'The parents'],
      ['seen', 'VIEW', null],
      ['target', 'TABLE', null],
    ]);
    expect(await mysqlIntrospection.tables(query, { namespace: ['PENSTOCK'], include: [] }, 10)).toEqual([]);
    expect(await mysqlIntrospection.tables(query, { namespace: ['a', 'b'], include: [] }, 10)).toEqual([]);
    expect(await mysqlIntrospection.tables(query, { namespace: null, include: [] }, 2)).toHaveLength(2);
    const columns = await mysqlIntrospection.columns(query, tables[0]!);
    expect(
      columns.map(({ name, sourceType, mapped, nullable, remarks, primaryKey, references }) => [
        ...[name, sourceType, mapped.type.type, mapped.warning, nullable, remarks, primaryKey, references?.column],
      ]),
    ).toEqual([
      ['id', 'bigint(20) unsigned', 'BIGDECIMAL', undefined, false, 'Its number', 1, undefined],
      ['amount', 'decimal(12,2)', 'DECIMAL', undefined, false, null, null, undefined],
      ['pa', 'int(11)', 'INTEGER', undefined, true, null, null, 'a'],
      ['pb', 'varchar(5)', 'STRING', undefined, true, null, null, 'b'],
      ['on1', 'tinyint(1)', 'BOOLEAN', undefined, true, null, null, undefined],
      ['g', 'geometry', 'STRING', 'type_mapping.unknown_source_type', true, null, null, undefined],
      ['j', 'longtext', 'STRING', undefined, true, null, null, undefined],
    ]);
    const parent = await mysqlIntrospection.columns(query, tables[1]!);
    expect(parent.map(({ name, primaryKey }) => [name, primaryKey])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(await mysqlIntrospection.currentNamespace(query)).toEqual(['penstock']);
    // What the catalog says of a column is what a read says of it.
    const read = await rowsOf(connection, 'SELECT * FROM `Kind ünï`');
    expect(read.columns.map(({ type, precision, scale }) => [type, precision, scale])).toEqual(
      columns.map(({ mapped: { type } }) => [type.type, type.precision, type.scale]),
    );
  });

  describe('with a wide schema', () => {
    // The engine takes some milliseconds to make each.
    const count = 1000;

    beforeAll(async () => {
      await bench.server.sql(
        'CREATE DATABASE wide',
        `GRANT ALL ON wide.* TO 'author'@'%'`,
        `CREATE PROCEDURE wide.fill() BEGIN
           FOR i IN 1..${count} DO
             EXECUTE IMMEDIATE CONCAT('CREATE TABLE wide.t_', LPAD(i, 5, '0'), ' (id INT, customer VARCHAR(9)) ENGINE=MEMORY COMMENT=''number ', i, '''');
           END FOR;
         END`,
        'CALL wide.fill()',
      );
    }, 60_000);

    readsWideSchemas(
      () => ({
        introspection: mysqlIntrospection,
        statistics: mysqlStatistics,
        connection,
        namespace: ['wide'],
        remarks: `number ${count}`,
        queries: { columns: 2, statistics: 2 },
      }),
      count,
    );
  });
});
