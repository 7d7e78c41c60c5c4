import { describe, expect, it } from '@jest/globals';

import { bindStatement, mapOracleCatalogType, mapOracleField, type Column } from '#libs/typesystem';

import { batchOf, cellOf, collect, NEVER, rowsOf } from '../driver.fixture.js';
import { plainNumber } from './columns.js';
import { oracleIntrospection } from './introspection.js';
import { openOracle } from './open.js';
import { oracleOptions } from './options.js';
import { networkError, oracleError, scripted, ScriptedOracle, type Answer } from './oracle.fixture.js';
import { projected } from './projection.js';
import { parseOracleUrl } from './url.js';

const column = (dbTypeName: string, precision?: number, scale?: number) => ({
  name: 'V',
  dbTypeName,
  ...(precision === undefined ? {} : { precision }),
  ...(scale === undefined ? {} : { scale }),
});

const onQuery =
  (answer: Answer) =>
  (sql: string): Answer =>
    /^(?:SELECT|WITH)/.test(sql) ? answer : {};

const numbers = (count: number): Answer => ({
  metaData: [column('NUMBER', 9, 0)],
  rows: Array.from({ length: count }, (_, index) => [String(index + 1)]),
});

describe('values of Oracle, from what its driver gives', () => {
  it.each<[string, ReturnType<typeof column>, unknown, string]>([
    ['NUMBER(9,0)', column('NUMBER', 9, 0), '-999999999', '-999999999'],
    ['NUMBER(18,0)', column('NUMBER', 18, 0), '999999999999999999', '"999999999999999999"'],
    ['NUMBER(38,0)', column('NUMBER', 38, 0), '9'.repeat(38), `"${'9'.repeat(38)}"`],
    ['NUMBER(1), which is no BOOLEAN', column('NUMBER', 1, 0), '1', '1'],
    ['NUMBER(12,2)', column('NUMBER', 12, 2), '.5', '0.50'],
    ['NUMBER(38,10)', column('NUMBER', 38, 10), '-.0000000015', '"-0.0000000015"'],
    ['NUMBER(5,-2)', column('NUMBER', 5, -2), '1234500', '1234500'],
    ['NUMBER(2,5)', column('NUMBER', 2, 5), '.00012', '0.00012'],
    ['NUMBER without a size, past 2^53', column('NUMBER', 0, -127), '9007199254740993', '"9007199254740993"'],
    ['NUMBER without a size, 10^40', column('NUMBER', 0, -127), '1e+40', `"1${'0'.repeat(40)}"`],
    ['FLOAT', column('NUMBER', 126, -127), '.1', '0.1'],
    ['BINARY_DOUBLE', column('BINARY_DOUBLE'), 0.1, '0.1'],
    ['BINARY_DOUBLE NaN', column('BINARY_DOUBLE'), Number.NaN, 'null'],
    ['BINARY_FLOAT', column('BINARY_FLOAT'), Math.fround(1.1), '1.1'],
    ['DATE, a moment always', column('DATE'), ' 2024-02-29T23:59:59', '"2024-02-29T23:59:59.000000Z"'],
    ['DATE before our calendar', column('DATE'), '-0044-03-15T00:00:00', 'null'],
    ['TIMESTAMP(9)', column('TIMESTAMP'), ' 9999-12-31T23:59:59.999999', '"9999-12-31T23:59:59.999999Z"'],
    [
      'TIMESTAMP WITH TIME ZONE',
      column('TIMESTAMP WITH TIME ZONE'),
      ' 2024-02-28T22:00:00.123456',
      '"2024-02-28T22:00:00.123456Z"',
    ],
    ['VARCHAR2', column('VARCHAR2'), 'é😀', '"é😀"'],
    ['CLOB', column('CLOB'), 'long', '"long"'],
    ['RAW', column('RAW'), Buffer.from([0, 255, 39]), '"AP8n"'],
    ['BOOLEAN', column('BOOLEAN'), true, 'true'],
    ['INTERVAL', column('INTERVAL DAY TO SECOND'), '+01 02:03:04.500000', '"+01 02:03:04.500000"'],
    ['NULL', column('NUMBER', 38, 10), null, 'null'],
  ])('%s', async (_name, metadata, value, shown) => {
    const { connection } = await scripted(onQuery({ metaData: [metadata], rows: [[value]] }));
    expect(await cellOf(connection, 'SELECT v FROM t')).toBe(shown);
  });

  it.each([
    ['OBJECT', 'STRING', 'type_mapping.unknown_source_type'],
    ['VECTOR', 'STRING', 'type_mapping.unknown_source_type'],
    ['ROWID', 'STRING', undefined],
    ['LONG RAW', 'BINARY', undefined],
  ])('%s is %s', (type, canonical, warning) => {
    expect(mapOracleField({ type })).toMatchObject({ type: { type: canonical }, ...(warning ? { warning } : {}) });
  });

  it.each([
    ['NUMBER', 10, 2, { type: 'DECIMAL', precision: 10, scale: 2 }],
    ['NUMBER', null, 0, { type: 'BIGDECIMAL', precision: 38, scale: 0 }],
    ['NUMBER', null, null, { type: 'BIGDECIMAL' }],
    ['TIMESTAMP(6) WITH LOCAL TIME ZONE', null, 6, { type: 'TIMESTAMP' }],
    ['FLOAT', 126, null, { type: 'DECIMAL', precision: 15 }],
  ])('the catalogue says of %s(%s,%s) what a reader will see', (type, precision, scale, canonical) => {
    expect(mapOracleCatalogType({ type, precision, scale }).type).toEqual(canonical);
  });

  it('numbers in every form the driver prints become plain digits', () => {
    expect(['.5', '-.5', '0', '12.30', '-1e126', '1e+3'].map(plainNumber)).toEqual([
      ...['0.5', '-0.5', '0', '12.30', `-1${'0'.repeat(126)}`, '1000'],
    ]);
  });
});

describe('the query around the author’s', () => {
  it('selects as text what the driver would cut, by position, whatever the names are', () => {
    const sql = 'SELECT a, b AS "x y", b AS "x y" FROM t -- last word;';
    expect(projected(sql, [column('NUMBER'), column('TIMESTAMP WITH TIME ZONE'), column('DATE')])).toBe(
      'WITH dp_query (c1, c2, c3) AS (\n' +
        sql +
        '\n) SELECT c1, TO_CHAR(SYS_EXTRACT_UTC(c2), \'SYYYY-MM-DD"T"HH24:MI:SS.FF6\'), ' +
        'TO_CHAR(c3, \'SYYYY-MM-DD"T"HH24:MI:SS\') FROM dp_query',
    );
  });

  it('leaves a query alone whose columns come whole, but for its semicolon', () => {
    expect(projected("SELECT ';' FROM dual ; -- end", [column('VARCHAR2')])).toBe("SELECT ';' FROM dual  -- end");
  });
});

describe('reading Oracle', () => {
  it('reads in a READ ONLY transaction that is rolled back, before the end is called clean', async () => {
    const { raw, connection } = await scripted(onQuery(numbers(3)));
    expect((await rowsOf(connection, 'SELECT v FROM t;')).rows).toEqual(['[1]', '[2]', '[3]']);
    expect(raw.asked.map(({ sql }) => sql)).toEqual(['SET TRANSACTION READ ONLY', 'SELECT v FROM t', 'ROLLBACK']);
  });

  it('asks for rows only as they are taken', async () => {
    const { raw, connection } = await scripted(onQuery(numbers(10_000)));
    const cursor = await connection.openCursor(
      { sql: 'SELECT v FROM t', values: [] },
      { fetchSize: 100, signal: NEVER },
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(raw.fetches).toEqual([100]);
    expect((await cursor.next(NEVER))?.rowCount).toBe(100);
    const { rows } = await collect(cursor);
    expect(rows).toHaveLength(9_900);
  });

  it.each<[string, Answer, Record<string, unknown>]>([
    [
      'an error behind the first rows',
      { ...numbers(3), breaksWith: oracleError(1476) },
      { driverCode: 'ORA-01476', kind: 'other', message: 'ORA-01476: refused' },
    ],
    [
      'a connection that is lost midway',
      { ...numbers(3), breaksWith: networkError() },
      { kind: 'connection', driverCode: 'NJS-500' },
    ],
    ['a snapshot that is too old', { ...numbers(1), breaksWith: oracleError(1555) }, { driverCode: 'ORA-01555' }],
    ['fewer values than promised', { ...numbers(0), rows: [[]] }, { kind: 'other' }],
    [
      'a value that its column does not declare',
      { metaData: [column('NUMBER', 3, 0)], rows: [['1.5']] },
      { reason: 'value_misfit' },
    ],
    ['a table that is not there', { error: oracleError(942) }, { kind: 'missing_table' }],
    ['a right that is missing', { error: oracleError(1031) }, { kind: 'permission' }],
    ['a statement without rows', {}, { reason: 'statement_refused' }],
    ['a write in a read', { metaData: [column('NUMBER')], error: oracleError(1456) }, { driverCode: 'ORA-01456' }],
  ])('%s is told, and never taken for the end', async (_name, answer, failure) => {
    const { connection } = await scripted(onQuery(answer));
    await expect(rowsOf(connection, 'SELECT v FROM t')).rejects.toMatchObject({ name: 'DriverFailure', ...failure });
  });

  it('breaks the statement in the server when the caller gives up, and cuts the connection', async () => {
    const { raw, connection } = await scripted(onQuery({ metaData: [column('NUMBER')], hangs: true }));
    const caller = new AbortController();
    const opening = expect(
      connection.openCursor({ sql: 'SELECT v FROM t', values: [] }, { fetchSize: 10, signal: caller.signal }),
    ).rejects.toMatchObject({ kind: 'cancelled' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    caller.abort();
    await opening;
    expect(raw).toMatchObject({ breaks: 1, cuts: 1 });
    expect(connection.usable).toBe(false);
  });

  it.each([
    ['SELECT 1 FROM dual; DELETE FROM t', 'multiple_statements'],
    ['DELETE FROM t', 'statement_refused'],
    ['BEGIN DELETE FROM t; END;', 'multiple_statements'],
  ])('%s is never sent as a read', async (sql, reason) => {
    const { raw, connection } = await scripted(() => ({}));
    await expect(rowsOf(connection, sql)).rejects.toMatchObject({ name: 'DriverFailure', reason });
    expect(raw.asked).toEqual([]);
  });

  it('binds typed values by their names', async () => {
    const { raw, connection, library } = await scripted(onQuery(numbers(0)));
    const bound = bindStatement(
      'ORACLE',
      'SELECT :a, :b, :c FROM dual',
      new Map([
        ['a', { type: { type: 'BIGINTEGER' as const }, value: 2n ** 63n - 1n }],
        ['b', { type: { type: 'INTEGER' as const }, value: 7 }],
        ['c', { type: { type: 'BINARY' as const }, value: new Uint8Array([255]) }],
      ]),
    );
    await collect(await connection.openCursor(bound, { fetchSize: 10, signal: NEVER }));
    const { types } = library;
    expect(raw.asked[1]).toMatchObject({
      sql: 'SELECT TO_NUMBER(:dp_1), :dp_2, :dp_3 FROM dual',
      binds: {
        dp_1: { type: types['DB_TYPE_VARCHAR'], val: '9223372036854775807' },
        dp_2: { type: types['DB_TYPE_NUMBER'], val: 7 },
        dp_3: { type: types['DB_TYPE_RAW'], val: Buffer.from([255]) },
      },
    });
  });

  it('a session is handed on after a read or a DML, not after a DDL, and not once it is lost', async () => {
    const { connection } = await scripted(() => ({ affected: 2 }));
    expect(await connection.execute({ sql: 'DELETE FROM t', values: [] }, { signal: NEVER })).toBe(2);
    expect(await connection.reset()).toBe(true);
    expect(await connection.execute({ sql: `ALTER SESSION SET NLS_SORT = 'x'`, values: [] }, { signal: NEVER })).toBe(
      0,
    );
    expect(await connection.reset()).toBe(false);
    const lost = await scripted((sql) => (sql === 'PING' ? { error: networkError() } : {}));
    await expect(lost.connection.ping(50)).rejects.toMatchObject({ kind: 'connection' });
    expect(lost.connection.usable).toBe(false);
    expect(await lost.connection.reset()).toBe(false);
  });

  it('a ping that nobody answers ends with its time', async () => {
    const { connection } = await scripted(() => ({ hangs: true }));
    await expect(connection.ping(30)).rejects.toMatchObject({ kind: 'cancelled' });
  });
});

describe('logging in to Oracle', () => {
  const options = (url: string) => oracleOptions(parseOracleUrl(url), new Map());
  const as = { username: 'scott', secret: 'tiger' };

  it('dials the address that was checked, host by host, and sets the session', async () => {
    const raw = new ScriptedOracle(() => ({}));
    const { library } = await scripted(() => ({}));
    const strings: unknown[] = [];
    const tries = {
      ...library,
      getConnection: (given: Readonly<Record<string, unknown>>) => {
        strings.push(given['connectString']);
        return strings.length === 1 ? Promise.reject(networkError()) : Promise.resolve(raw);
      },
    };
    const url =
      'thin:@(DESCRIPTION=(ADDRESS_LIST=(ADDRESS=(PROTOCOL=tcp)(HOST=a)(PORT=1))(ADDRESS=(PROTOCOL=tcp)(HOST=b)(PORT=2)))(CONNECT_DATA=(SERVICE_NAME=s)))';
    const check = (host: string) => Promise.resolve({ address: host === 'a' ? '10.0.0.1' : '10.0.0.2' });
    await openOracle(tries, options(url), as, check, NEVER);
    expect(strings).toEqual([
      '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=10.0.0.1)(PORT=1))(CONNECT_DATA=(SERVICE_NAME=s)))',
      '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=10.0.0.2)(PORT=2))(CONNECT_DATA=(SERVICE_NAME=s)))',
    ]);
    expect(raw.asked.map(({ sql }) => sql)).toContain(`ALTER SESSION SET TIME_ZONE = 'UTC'`);
  });

  it('a login that comes too late is cut, and a refused one is a connection that was not made', async () => {
    const { library } = await scripted(() => ({}));
    const check = () => Promise.resolve({ address: '10.0.0.1' });
    let cuts = 0;
    let late!: (raw: ScriptedOracle) => void;
    const slow = {
      ...library,
      cut: () => void (cuts += 1),
      getConnection: () => new Promise<ScriptedOracle>((resolve) => (late = resolve)),
    };
    await expect(
      openOracle(slow, options('thin:@//h/s?oracle.net.CONNECT_TIMEOUT=20'), as, check, NEVER),
    ).rejects.toMatchObject({ kind: 'connection', driverCode: 'ETIMEDOUT' });
    late(new ScriptedOracle(() => ({})));
    await new Promise((resolve) => setImmediate(resolve));
    expect(cuts).toBe(1);
    const refusing = { ...library, getConnection: () => Promise.reject(oracleError(1017)) };
    await expect(openOracle(refusing, options('thin:@//h/s'), as, check, NEVER)).rejects.toMatchObject({
      kind: 'connection',
      driverCode: 'ORA-01017',
    });
  });
});

describe('writing to Oracle', () => {
  const columns: Column[] = [
    { name: 'bo', type: 'BOOLEAN' },
    { name: 'big', type: 'BIGINTEGER' },
    { name: 'd', type: 'BIGDECIMAL', precision: 38, scale: 10 },
    { name: 'dt', type: 'DATE' },
    { name: 'ts', type: 'TIMESTAMP' },
    { name: 's', type: 'STRING' },
    { name: 'b', type: 'BINARY' },
    { name: 'r', type: 'DECIMAL', precision: 7 },
  ];
  const target = { table: 'APP.T', mode: 'replace' as const, columns, batchRows: 1000 };
  const row = [
    1,
    2n ** 63n - 1n,
    '9999999999999999999999999999.9999999999',
    -719162,
    253402300799999999n,
    'é',
    new Uint8Array([255]),
    Math.fround(1.1),
  ];

  it('deletes, inserts in arrays of typed values, and commits', async () => {
    const { raw, connection, library } = await scripted(() => ({ metaData: [column('NUMBER')] }));
    const writer = await connection.beginWrite(target, { signal: NEVER });
    await writer.write(batchOf(columns, [row, row.map(() => null)]));
    await writer.commit();
    const { types } = library;
    expect(raw.asked.map(({ sql }) => sql)).toEqual([
      'DELETE FROM "APP"."T"',
      'INSERT INTO "APP"."T" ("bo", "big", "d", "dt", "ts", "s", "b", "r") VALUES (:1, TO_NUMBER(:2), TO_NUMBER(:3), ' +
        `TO_DATE(:4, 'YYYY-MM-DD'), TO_TIMESTAMP(:5, 'YYYY-MM-DD HH24:MI:SS.FF6'), :6, :7, :8)`,
      'COMMIT',
    ]);
    expect(raw.asked[1]?.binds).toEqual([
      [
        1,
        '9223372036854775807',
        '9999999999999999999999999999.9999999999',
        '0001-01-01',
        '9999-12-31 23:59:59.999999',
        'é',
        Buffer.from([255]),
        1.1,
      ],
      row.map(() => null),
    ]);
    expect(raw.asked[1]?.options).toMatchObject({
      autoCommit: false,
      bindDefs: expect.arrayContaining([
        { type: types['DB_TYPE_VARCHAR'], maxSize: 39 },
        { type: types['DB_TYPE_RAW'], maxSize: 1 },
      ]),
    });
  });

  it('long texts and bytes go as large objects, and what has no form is refused', async () => {
    const { raw, connection, library } = await scripted(() => ({ metaData: [column('NUMBER')] }));
    const writer = await connection.beginWrite({ ...target, mode: 'append' }, { signal: NEVER });
    await writer.write(batchOf(columns, [[...row.slice(0, 5), 'x'.repeat(40_000), new Uint8Array(40_000), 1]]));
    expect(raw.asked.at(-1)?.options['bindDefs']).toEqual(
      expect.arrayContaining([{ type: library.types['DB_TYPE_CLOB'] }, { type: library.types['DB_TYPE_BLOB'] }]),
    );
    await expect(writer.write(batchOf(columns, [[...row.slice(0, 2), 'NaN', ...row.slice(3)]]))).rejects.toMatchObject({
      reason: 'value_unrepresentable',
    });
  });

  it('a missing table is told before anything is deleted', async () => {
    const { raw, connection } = await scripted((sql) => (sql.startsWith('SELECT') ? { error: oracleError(942) } : {}));
    await expect(connection.beginWrite(target, { signal: NEVER })).rejects.toMatchObject({ kind: 'missing_table' });
    expect(raw.asked).toEqual([]);
  });

  it('a COMMIT whose answer is lost, or that was broken, is neither written nor not written', async () => {
    for (const error of [networkError(), oracleError(1013)]) {
      const { connection } = await scripted((sql) => (sql === 'COMMIT' ? { error } : { metaData: [column('NUMBER')] }));
      const writer = await connection.beginWrite(target, { signal: NEVER });
      await expect(writer.commit()).rejects.toMatchObject({ commitUnknown: true });
    }
  });
});

describe('the catalogue of Oracle', () => {
  it('binds every name and reads columns and keys in two queries', async () => {
    const { raw, connection } = await scripted((sql) => {
      if (sql.includes('all_tab_columns')) return { rows: [['N', 'NUMBER', '12', '2', '0', 'N', 'net']] };
      if (sql.includes('all_constraints'))
        return {
          rows: [
            ['N', 'P', '1', null, null, null],
            ['N', 'R', '1', 'APP', 'PARENTS', 'ID'],
          ],
        };
      return { rows: [['APP', 'Ünï', 'TABLE', null]] };
    });
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    const tables = await oracleIntrospection.tables(query, { namespace: ['APP'], include: ['sys'] }, 5);
    expect(tables).toEqual([{ namespace: ['APP'], name: 'Ünï', type: 'TABLE', remarks: null }]);
    const bound = Object.values(raw.asked[1]?.binds as Record<string, { val: unknown }>).map(({ val }) => val);
    expect(bound).toEqual(expect.arrayContaining([5, 'APP', 'SYSTEM', 'XS$NULL']));
    expect(bound).not.toContain('SYS');
    expect(await oracleIntrospection.columns(query, tables[0]!)).toEqual([
      {
        name: 'N',
        sourceType: 'NUMBER(12,2)',
        mapped: { type: { type: 'DECIMAL', precision: 12, scale: 2 } },
        nullable: false,
        remarks: 'net',
        primaryKey: 1,
        references: { namespace: ['APP'], table: 'PARENTS', column: 'ID' },
      },
    ]);
    expect(raw.asked.filter(({ sql }) => sql === 'SET TRANSACTION READ ONLY')).toHaveLength(3);
  });

  it('shows the accounts of APEX that are named, and no others', async () => {
    const { raw, connection } = await scripted(() => ({ rows: [['APEX_230100']] }));
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    await oracleIntrospection.schemas(query, ['apex_230100'], 5);
    const { sql, binds } = raw.asked.find((asked) => asked.sql.includes('all_users')) ?? {};
    const last = Object.keys(binds as Record<string, unknown>).length;
    expect(sql).toContain(`NOT LIKE 'APEX\\_%' ESCAPE '\\' OR UPPER(u.username) IN (:dp_${last})`);
    expect((binds as Record<string, { val: unknown }>)[`dp_${last}`]?.val).toBe('APEX_230100');
  });
});
