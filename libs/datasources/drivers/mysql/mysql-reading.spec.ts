import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { bindStatement, type TypedValue } from '#libs/typesystem';

import { describeWithProgram } from '../../../../test/fixtures/programs.js';
import { stopsAtEveryMoment } from '../cancelling.fixture.js';
import { cellOf, collect, eventually, NEVER, rowsOf } from '../driver.fixture.js';
import type { MysqlConnection } from './connection.js';
import { MariadbBench } from './mysql.fixture.js';

describeWithProgram('mariadbd', 'reading MariaDB', (program) => {
  let bench: MariadbBench;
  let connection: MysqlConnection;

  beforeAll(async () => {
    bench = await MariadbBench.start(program);
    await bench.server.sql(
      'USE penstock',
      `CREATE TABLE kinds (
         tiny1 TINYINT(1), tiny TINYINT, utiny TINYINT UNSIGNED, small SMALLINT, medium MEDIUMINT, i INT,
         ui INT UNSIGNED, big BIGINT, ubig BIGINT UNSIGNED, y YEAR, d6 DECIMAL(6,2), d15 DECIMAL(15,0), d18 DECIMAL(18,4),
         d38 DECIMAL(38,10), d65 DECIMAL(65,30), ud DECIMAL(10,2) UNSIGNED, f FLOAT, db DOUBLE, bit1 BIT(1), bit12 BIT(12),
         dt DATE, tm TIME(6), dtm DATETIME(6), ts TIMESTAMP(6) NULL, c CHAR(10), v VARCHAR(100), t LONGTEXT, b VARBINARY(10),
         lb LONGBLOB, e ENUM('a','ü'), s SET('x','y'), j JSON, g GEOMETRY, u UUID) CHARACTER SET utf8mb4`,
      `SET @@sql_mode = ''`,
      `SET time_zone = '+00:00'`,
      `INSERT INTO kinds VALUES (1,-128,255,-32768,-8388608,-2147483648,4294967295,-9223372036854775808,18446744073709551615,
         2155,-9999.99,999999999999999,-99999999999999.9999,9999999999999999999999999999.9999999999,
         99999999999999999999999999999999999.999999999999999999999999999999,99999999.99,3.4028234e38,1.7976931348623157e308,
         b'1',b'101010101010','0001-01-01','23:59:59.999999','9999-12-31 23:59:59.999999','2038-01-19 03:14:07.999999',
         'é','日本😀',repeat('x',70000),x'00ff27',x'',
         'ü','x,y','{"a": 1.10}',ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 0))'),'123e4567-e89b-12d3-a456-426655440000')`,
      `INSERT INTO kinds (tiny1) VALUES (NULL)`,
      `INSERT INTO kinds (tiny1, f, dt, tm, dtm, ts, b) VALUES (0, 1.1, '0000-00-00', '-838:59:59', '0000-00-00 00:00:00',
         '1970-01-01 00:00:01', x'00')`,
      'CREATE TABLE many (n INT PRIMARY KEY, pad VARCHAR(200))',
      `INSERT INTO many SELECT seq, repeat('p', 100) FROM seq_1_to_50000`,
    );
  }, 60_000);

  beforeEach(async () => {
    connection = await bench.connect();
  });

  afterAll(async () => {
    await bench?.close();
  });

  it('gives every column type its canonical type', async () => {
    const { columns } = await rowsOf(connection, 'SELECT * FROM kinds LIMIT 0');
    expect(columns.map(({ name, type, precision, scale }) => [name, type, precision, scale])).toEqual([
      ['tiny1', 'BOOLEAN', undefined, undefined],
      ['tiny', 'INTEGER', undefined, undefined],
      ['utiny', 'INTEGER', undefined, undefined],
      ['small', 'INTEGER', undefined, undefined],
      ['medium', 'INTEGER', undefined, undefined],
      ['i', 'INTEGER', undefined, undefined],
      ['ui', 'BIGINTEGER', undefined, undefined],
      ['big', 'BIGINTEGER', undefined, undefined],
      ['ubig', 'BIGDECIMAL', 20, 0],
      ['y', 'INTEGER', undefined, undefined],
      ['d6', 'DECIMAL', 6, 2],
      ['d15', 'DECIMAL', 15, 0],
      ['d18', 'BIGDECIMAL', 18, 4],
      ['d38', 'BIGDECIMAL', 38, 10],
      ['d65', 'BIGDECIMAL', 65, 30],
      ['ud', 'DECIMAL', 10, 2],
      ['f', 'DECIMAL', 7, undefined],
      ['db', 'DECIMAL', 15, undefined],
      ['bit1', 'BOOLEAN', undefined, undefined],
      ['bit12', 'BINARY', undefined, undefined],
      ['dt', 'DATE', undefined, undefined],
      ['tm', 'TIME', undefined, undefined],
      ['dtm', 'TIMESTAMP', undefined, undefined],
      ['ts', 'TIMESTAMP', undefined, undefined],
      ['c', 'STRING', undefined, undefined],
      ['v', 'STRING', undefined, undefined],
      ['t', 'STRING', undefined, undefined],
      ['b', 'BINARY', undefined, undefined],
      ['lb', 'BINARY', undefined, undefined],
      ['e', 'STRING', undefined, undefined],
      ['s', 'STRING', undefined, undefined],
      ['j', 'STRING', undefined, undefined],
      ['g', 'STRING', undefined, undefined],
      ['u', 'STRING', undefined, undefined],
    ]);
  });

  it('keeps every digit, microsecond and character of the extremes', async () => {
    const { rows } = await rowsOf(
      connection,
      `SELECT tiny1, tiny, utiny, small, medium, i, ui, big, ubig, y, d6, d15, d18, d38, d65, ud, f, db, bit1, bit12, dt, tm,
              dtm, ts, c, v, length(t), b, lb, e, s, j, g, u FROM kinds WHERE tiny1 = 1`,
    );
    expect(rows).toEqual([
      '[true,-128,255,-32768,-8388608,-2147483648,"4294967295","-9223372036854775808","18446744073709551615",2155,' +
        '-9999.99,999999999999999,"-99999999999999.9999","9999999999999999999999999999.9999999999",' +
        '"99999999999999999999999999999999999.999999999999999999999999999999",99999999.99,3.4028235e+38,' +
        '1.7976931348623157e+308,true,"Cqo=","0001-01-01","23:59:59.999999","9999-12-31T23:59:59.999999Z",' +
        '"2038-01-19T03:14:07.999999Z","é","日本😀",70000,"AP8n","","ü","x,y","{\\"a\\": 1.10}",' +
        '"POLYGON((0 0,4 0,4 4,0 0))","123e4567-e89b-12d3-a456-426655440000"]',
    ]);
  });

  it('shows zero dates and times beyond a day as null, counted, and a float by its shortest text', async () => {
    const cursor = await connection.openCursor(
      { sql: 'SELECT f, dt, tm, dtm, ts, g FROM kinds WHERE tiny1 = 0', values: [] },
      { fetchSize: 10, signal: NEVER },
    );
    const { rows } = await collect(cursor);
    expect(rows).toEqual(['[1.1,null,null,null,"1970-01-01T00:00:01.000000Z",null]']);
    expect(cursor.warnings).toEqual([
      { code: 'type_mapping.value_unrepresentable', column: 'dt', count: 1 },
      { code: 'type_mapping.value_unrepresentable', column: 'tm', count: 1 },
      { code: 'type_mapping.value_unrepresentable', column: 'dtm', count: 1 },
      { code: 'type_mapping.unknown_source_type', column: 'g', source_type: 'GEOMETRY' },
    ]);
  });

  it('binds every canonical type so that the server reads the same value back', async () => {
    const binds = new Map<string, TypedValue>([
      ['b', { type: { type: 'BOOLEAN' }, value: true }],
      ['i', { type: { type: 'INTEGER' }, value: -2147483648 }],
      ['big', { type: { type: 'BIGINTEGER' }, value: 9223372036854775807n }],
      ['d', { type: { type: 'DECIMAL', precision: 10, scale: 2 }, value: { unscaled: -1n, scale: 2 } }],
      ['w', { type: { type: 'BIGDECIMAL' }, value: { unscaled: 12345678901234567890123456789012345678n, scale: 10 } }],
      ['f', { type: { type: 'DECIMAL', precision: 15 }, value: 0.1 }],
      ['s', { type: { type: 'STRING' }, value: `a'b"\\ :x 😀` }],
      ['bytes', { type: { type: 'BINARY' }, value: new Uint8Array([0, 255, 39]) }],
      ['dt', { type: { type: 'DATE' }, value: '0001-01-01' }],
      ['tm', { type: { type: 'TIME' }, value: 86_399_999_999 }],
      ['ts', { type: { type: 'TIMESTAMP' }, value: 253_402_300_799_999_999n }],
      ['none', { type: { type: 'DATE' }, value: null }],
    ]);
    const bound = bindStatement(
      'MYSQL',
      'SELECT :b, :i, :big, :d, :w, :f, :s, :bytes, :dt, :tm, :ts, :none, :i + 1, :s = :s, :none IS NULL',
      binds,
    );
    const cursor = await connection.openCursor(bound, { fetchSize: 10, signal: NEVER });
    const { rows, columns } = await collect(cursor);
    expect(rows).toEqual([
      `[1,-2147483648,"9223372036854775807",-0.01,"1234567890123456789012345678.9012345678",0.1,"a'b\\"\\\\ :x 😀",` +
        `"AP8n","0001-01-01","23:59:59.999999","9999-12-31T23:59:59.999999Z",null,"-2147483647",1,1]`,
    ]);
    expect(columns.map(({ type }) => type).slice(8, 12)).toEqual(['DATE', 'TIME', 'TIMESTAMP', 'DATE']);
  });

  it('reads a large result in batches, and the server waits while nobody takes them', async () => {
    const cursor = await connection.openCursor(
      { sql: 'SELECT a.n, a.pad FROM many a, seq_1_to_40 b', values: [] },
      { fetchSize: 1000, signal: NEVER },
    );
    let rows = (await cursor.next(NEVER))?.rowCount ?? 0;
    expect(rows).toBe(1000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    // The whole result is over 200 MB: it is still being sent.
    expect((await bench.running()).some((sql) => sql.includes('seq_1_to_40'))).toBe(true);
    for (let batch = await cursor.next(NEVER); batch; batch = await cursor.next(NEVER)) rows += batch.rowCount;
    expect(rows).toBe(2_000_000);
    await cursor.close();
    expect(await cellOf(connection, 'SELECT 1')).toBe('1');
  });

  it('makes smaller batches of wide rows', async () => {
    const { batches } = await rowsOf(connection, `SELECT repeat('w', 1000000) FROM seq_1_to_20`);
    expect(Math.max(...batches)).toBeLessThanOrEqual(5);
    expect(batches.reduce((sum, size) => sum + size)).toBe(20);
  });

  it('tells a failure halfway from an end', async () => {
    const cursor = await connection.openCursor(
      {
        sql: `SELECT n, (SELECT 1 FROM seq_1_to_2 s WHERE many.n < 40000 AND s.seq = 1 OR many.n >= 40000) FROM many`,
        values: [],
      },
      { fetchSize: 1000, signal: NEVER },
    );
    await expect(collect(cursor)).rejects.toMatchObject({ name: 'DriverFailure', driverCode: 'ER_SUBQUERY_NO_1_ROW' });
    await cursor.close();
  });

  it.each([
    ['a statement that sleeps', 'SELECT SLEEP(60)'],
    ['a statement that computes', 'SELECT count(*) FROM seq_1_to_100000000 a, seq_1_to_100000 b'],
  ])('a cancel stops %s in the server', async (_name, sql) => {
    const stop = new AbortController();
    const reading = connection
      .openCursor({ sql, values: [] }, { fetchSize: 10, signal: stop.signal })
      .then((cursor) => cursor.next(stop.signal));
    expect(await eventually(async () => (await bench.running()).includes(sql))).toBe(true);
    stop.abort();
    await expect(reading).rejects.toMatchObject({ kind: 'cancelled' });
    expect(connection.usable).toBe(false);
    expect(await eventually(async () => !(await bench.running()).includes(sql))).toBe(true);
  });

  it('a cancel in the middle of a result that streams ends it there', async () => {
    const sql = 'SELECT a.n, a.pad FROM many a, seq_1_to_1000 b';
    const cursor = await connection.openCursor({ sql, values: [] }, { fetchSize: 100, signal: NEVER });
    await cursor.next(NEVER);
    const stop = new AbortController();
    stop.abort();
    await expect(cursor.next(stop.signal)).rejects.toMatchObject({ kind: 'cancelled' });
    await cursor.close();
    expect(await eventually(async () => !(await bench.running()).includes(sql))).toBe(true);
  });

  it('a cursor closed before its end leaves nothing running', async () => {
    const sql = 'SELECT a.n, a.pad FROM many a, seq_1_to_999 b';
    const cursor = await connection.openCursor({ sql, values: [] }, { fetchSize: 100, signal: NEVER });
    await cursor.next(NEVER);
    await cursor.close();
    await cursor.close();
    expect(connection.usable).toBe(false);
    expect(await eventually(async () => !(await bench.running()).includes(sql))).toBe(true);
  });

  it('nothing is written through a cursor, whatever the text hides', async () => {
    await bench.server.sql(
      'CREATE OR REPLACE TABLE penstock.victim (i INT)',
      'DROP FUNCTION IF EXISTS penstock.sneak',
      `CREATE FUNCTION penstock.sneak() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO penstock.victim VALUES (1); RETURN 1; END`,
    );
    await expect(rowsOf(connection, 'SELECT sneak()')).rejects.toMatchObject({
      driverCode: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
    });
    for (const sql of [
      'INSERT INTO victim VALUES (1)',
      'SELECT 1; INSERT INTO victim VALUES (1)',
      'COMMIT',
      '/*!50000 INSERT INTO victim VALUES (1) */',
      "SELECT 1 INTO OUTFILE '/tmp/x'",
    ]) {
      await expect(rowsOf(await bench.connect(), sql)).rejects.toMatchObject({ name: 'DriverFailure' });
    }
    expect(await bench.server.sql('SELECT count(*) FROM penstock.victim')).toEqual([[0]]);
  });

  it('a server set to other quotes and escapes is read by the same rules', async () => {
    await bench.server.sql(`SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,ORACLE'`);
    try {
      const other = await bench.connect();
      expect(await cellOf(other, String.raw`SELECT CONCAT("a", 'b\'c')`)).toBe(`"ab'c"`);
      await other.reset();
      expect(await cellOf(other, String.raw`SELECT CONCAT("a", 'b\'c')`)).toBe(`"ab'c"`);
    } finally {
      await bench.server.sql('SET GLOBAL sql_mode = DEFAULT');
    }
  });

  it('a reset forgets what the last lease left: transaction, variables, temporary tables, time zone', async () => {
    await connection.execute({ sql: 'CREATE TEMPORARY TABLE mine (i INT)', values: [] }, { signal: NEVER });
    await connection.session.query(`SET @x = 1, time_zone = '+05:00', sql_select_limit = 1`);
    expect(await connection.reset()).toBe(true);
    expect(
      (await rowsOf(connection, 'SELECT @x, @@time_zone, @@character_set_results, n FROM many LIMIT 2')).rows,
    ).toEqual(['[null,"+00:00","utf8mb4",1]', '[null,"+00:00","utf8mb4",2]']);
    await expect(rowsOf(connection, 'SELECT * FROM mine')).rejects.toMatchObject({ kind: 'missing_table' });
  });

  it.each([
    ['SELECT * FROM nowhere', 'missing_table', 'ER_NO_SUCH_TABLE'],
    ['SELECT * FROM mysql.user', 'permission', 'ER_TABLEACCESS_DENIED_ERROR'],
    ['SELECT nope FROM many', 'other', 'ER_BAD_FIELD_ERROR'],
    ['SELECT', 'other', 'ER_PARSE_ERROR'],
  ])('%s is %s', async (sql, kind, driverCode) => {
    await expect(rowsOf(connection, sql)).rejects.toMatchObject({ kind, driverCode });
    expect(await connection.reset()).toBe(true);
    expect(await cellOf(connection, 'SELECT 1')).toBe('1');
  });

  stopsAtEveryMoment(() => ({
    connect: (signal) => bench.connect(undefined, signal),
    endless: 'SELECT count(*) FROM many a, many b, many c WHERE a.n * b.n % 7 = c.n % 11',
    stream: 'SELECT a.n FROM many a, many b, many c',
    works: async () => (await bench.running()).some((sql) => sql.includes('many')),
  }));

  it('an empty result has columns and no rows', async () => {
    const { columns, rows } = await rowsOf(connection, 'SELECT n, NULL AS none FROM many WHERE FALSE');
    expect([columns.map(({ name, type }) => [name, type]), rows]).toEqual([
      [
        ['n', 'INTEGER'],
        ['none', 'NULL'],
      ],
      [],
    ]);
  });

  it.each([
    'SHOW TABLES',
    'DESCRIBE many',
    'VALUES (1)',
    'WITH x AS (SELECT 1) SELECT * FROM x',
    '(SELECT 1) UNION (SELECT 2)',
  ])('%s gives rows', async (sql) => {
    expect((await rowsOf(connection, sql)).rows.length).toBeGreaterThan(0);
  });

  it('ends a statement by its own clock when nobody is left to cancel, and the next lease has no such limit', async () => {
    const sleeping = connection.openCursor(
      { sql: 'SELECT SLEEP(60)', values: [] },
      { fetchSize: 10, signal: NEVER, backstopMs: 200 },
    );
    await expect(sleeping.then((cursor) => collect(cursor))).rejects.toMatchObject({ kind: 'timeout' });
    expect(await connection.reset()).toBe(true);
    expect(await cellOf(connection, 'SELECT @@max_statement_time = 0')).toBe('1');
  });
});
