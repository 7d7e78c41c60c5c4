import { describe, expect, it } from '@jest/globals';

import { bindStatement, type Column } from '#libs/typesystem';

import { batchOf, collect, NEVER, rowsOf } from '../driver.fixture.js';
import { mssqlIntrospection } from './introspection.js';
import { scripted, serverError, type Answer } from './mssql.fixture.js';

const NUMBERS: Answer['columns'] = [{ colName: 'n', type: { name: 'IntN' }, dataLength: 4 }];

function* counting(count: number): Iterable<unknown[]> {
  for (let n = 1; n <= count; n += 1) yield [n];
}

/** Answers the author's statement; everything of the driver's own succeeds. */
const onSelect =
  (answer: Answer) =>
  (sql: string): Answer =>
    sql.startsWith('SELECT') ? answer : {};

describe('reading SQL Server', () => {
  it('reads in a transaction that is rolled back, before the end is called clean', async () => {
    const { raw, connection } = await scripted(onSelect({ columns: NUMBERS, rows: counting(3) }));
    expect((await rowsOf(connection, 'SELECT n FROM t')).rows).toEqual(['[1]', '[2]', '[3]']);
    expect(raw.asked.map(({ sql }) => sql)).toEqual([
      'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION',
      'SELECT n FROM t',
      'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION',
    ]);
  });

  it('holds the server back while nobody takes the rows', async () => {
    const { raw, connection } = await scripted(onSelect({ columns: NUMBERS, rows: counting(10_000) }));
    const cursor = await connection.openCursor(
      { sql: 'SELECT n FROM t', values: [] },
      { fetchSize: 100, signal: NEVER },
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(raw.sent).toBe(100);
    expect((await cursor.next(NEVER))?.rowCount).toBe(100);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(raw.sent).toBe(200);
    const { rows, batches } = await collect(cursor);
    expect(rows).toHaveLength(9_900);
    expect(Math.max(...batches)).toBe(100);
  });

  it.each<[string, Answer, Record<string, unknown>]>([
    [
      'an error behind the first rows',
      { columns: NUMBERS, rows: counting(3), error: serverError(8134) },
      { driverCode: '8134', kind: 'other' },
    ],
    ['a connection that is lost midway', { columns: NUMBERS, rows: counting(3), drops: true }, { kind: 'connection' }],
    ['fewer values than promised', { columns: NUMBERS, rows: [[]] }, { kind: 'other' }],
    ['a table that is not there', { error: serverError(208) }, { kind: 'missing_table' }],
    ['a table that is forbidden', { error: serverError(229) }, { kind: 'permission' }],
    ['a statement without rows', {}, { reason: 'statement_refused' }],
    ['a lock that is not given', { error: serverError(1222) }, { kind: 'timeout' }],
    ['an error that ends the connection', { error: serverError(21, 'fatal', 21) }, { kind: 'connection' }],
  ])('%s is told, and never taken for the end', async (_name, answer, failure) => {
    const { connection } = await scripted(onSelect(answer));
    await expect(rowsOf(connection, 'SELECT n FROM t')).rejects.toMatchObject({ name: 'DriverFailure', ...failure });
  });

  it('asks the server to stop when the caller gives up, and is not used again', async () => {
    const { raw, connection } = await scripted(onSelect({ columns: NUMBERS, rows: counting(3), hangs: true }));
    const caller = new AbortController();
    const cursor = await connection.openCursor(
      { sql: 'SELECT n FROM t', values: [] },
      { fetchSize: 2, signal: caller.signal },
    );
    expect((await cursor.next(caller.signal))?.rowCount).toBe(2);
    const waiting = expect(cursor.next(caller.signal)).rejects.toMatchObject({ kind: 'cancelled' });
    caller.abort();
    await waiting;
    expect(raw).toMatchObject({ cancels: 1, closed: true });
    expect(connection.usable).toBe(false);
  });

  it('lets go of a read that is closed before its end', async () => {
    const { raw, connection } = await scripted(onSelect({ columns: NUMBERS, rows: counting(10_000) }));
    const cursor = await connection.openCursor(
      { sql: 'SELECT n FROM t', values: [] },
      { fetchSize: 10, signal: NEVER },
    );
    await cursor.close();
    await cursor.close();
    expect(raw).toMatchObject({ cancels: 1, closed: true });
    expect(await cursor.next(NEVER)).toBeNull();
  });

  it.each([
    ['SELECT 1 DELETE FROM t', 'statement_refused'],
    ['SELECT 1 COMMIT DELETE FROM t', 'statement_refused'],
    ['SELECT 1.DELETE FROM t', 'statement_refused'],
    ["SELECT 1 /* x */ EXEC xp_cmdshell N'dir'", 'statement_refused'],
    ['SELECT * INTO copy FROM t', 'statement_refused'],
    ["SELECT * FROM OPENQUERY(other, 'DELETE t')", 'statement_refused'],
    ["SELECT * FROM OPENROWSET(BULK '/etc/passwd', SINGLE_CLOB) x", 'statement_refused'],
    ['SELECT NEXT VALUE FOR s', 'statement_refused'],
    ['SELECT 1 REVERT', 'statement_refused'],
    ["SELECT 1 SETUSER 'sa'", 'statement_refused'],
    ['SELECT 1 RECEIVE TOP (1) * FROM q', 'statement_refused'],
    ["SELECT 1 SEND ON CONVERSATION @h ('x')", 'statement_refused'],
    ['SELECT 1 END CONVERSATION @h', 'statement_refused'],
    ['SELECT 1 ADD SIGNATURE TO p BY CERTIFICATE c', 'statement_refused'],
    ['SELECT 1 DISABLE TRIGGER ALL ON t', 'statement_refused'],
    ["SELECT 1 WRITETEXT t.c @p N'x'", 'statement_refused'],
    ['WITH x AS (SELECT 1 a) DELETE FROM x', 'statement_refused'],
    ['SELECT 1; SELECT 2', 'multiple_statements'],
  ])('%s is never sent as a read', async (sql, reason) => {
    const { raw, connection } = await scripted(onSelect({ columns: NUMBERS }));
    await expect(rowsOf(connection, sql)).rejects.toMatchObject({ reason });
    expect(raw.asked).toEqual([]);
  });

  it.each([
    'SELECT CASE WHEN send = 1 THEN 2 END AS conversation, disable, [receive] FROM t ORDER BY a OFFSET 1 ROW FETCH NEXT 5 ROWS ONLY',
    "SELECT [delete], 'COMMIT' FROM [update] -- exec",
    'SELECT a FROM t WITH (UPDLOCK) OPTION (MAXDOP 1)',
  ])('%s is a read like any other', async (sql) => {
    const { connection } = await scripted(onSelect({ columns: NUMBERS, rows: [] }));
    expect((await rowsOf(connection, sql)).rows).toEqual([]);
  });

  it('binds typed parameters by their names', async () => {
    const { raw, connection } = await scripted(onSelect({ columns: NUMBERS, rows: [] }));
    const bound = bindStatement(
      'MSSQL',
      'SELECT :a, :b, :c, :a',
      new Map([
        ['a', { type: { type: 'BIGINTEGER' as const }, value: 2n ** 63n - 1n }],
        ['b', { type: { type: 'BIGDECIMAL' as const }, value: { unscaled: -15n, scale: 1 } }],
        ['c', { type: { type: 'BINARY' as const }, value: new Uint8Array([0, 255]) }],
      ]),
    );
    await collect(await connection.openCursor(bound, { fetchSize: 10, signal: NEVER }));
    expect(raw.asked[1]?.sql).toBe('SELECT @dp_1, CAST(@dp_2 AS decimal(38,1)), @dp_3, @dp_1');
    expect(raw.asked[1]?.parameters.map(({ name, type, value }) => [name, type.name, value])).toEqual([
      ['dp_1', 'BigInt', '9223372036854775807'],
      ['dp_2', 'NVarChar', '-1.5'],
      ['dp_3', 'VarBinary', Buffer.from([0, 255])],
    ]);
  });

  it('gives a session back by a reset, and a lost one not at all', async () => {
    const { raw, connection } = await scripted(() => ({}));
    expect(await connection.reset()).toBe(true);
    expect(raw.resets).toBe(1);
    raw.emit('error', Object.assign(new Error('gone'), { code: 'ESOCKET' }));
    expect(connection.usable).toBe(false);
    expect(await connection.reset()).toBe(false);
    await expect(connection.ping(50)).rejects.toMatchObject({ kind: 'connection', driverCode: 'ESOCKET' });
  });

  it('a ping that nobody answers ends with its time', async () => {
    const { connection } = await scripted(() => ({ hangs: true }));
    await expect(connection.ping(30)).rejects.toMatchObject({ kind: 'cancelled' });
  });
});

describe('writing to SQL Server', () => {
  const N: Column = { name: 'n', type: 'INTEGER' };
  const target = { table: 'dbo.target', mode: 'append' as const, columns: [N], batchRows: 1000 };

  it('counts what a DML touched, and nothing for a DDL', async () => {
    const { connection } = await scripted(() => ({ affected: 3 }));
    expect(await connection.execute({ sql: 'DELETE FROM t', values: [] }, { signal: NEVER })).toBe(3);
    expect(await connection.execute({ sql: 'DROP TABLE t', values: [] }, { signal: NEVER })).toBe(0);
    await expect(
      connection.execute({ sql: 'DELETE FROM t; DELETE FROM u', values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({ reason: 'multiple_statements' });
  });

  it('asks for the columns first, then inserts within the limits, then commits', async () => {
    const { raw, connection } = await scripted(() => ({}));
    const writer = await connection.beginWrite({ ...target, batchRows: 5000 }, { signal: NEVER });
    await writer.write(
      batchOf(
        [N],
        Array.from({ length: 2000 }, (_, index) => [index]),
      ),
    );
    await writer.commit();
    const statements = raw.asked.map(({ sql }) => sql);
    expect(statements.slice(0, 3)).toEqual([
      'SET XACT_ABORT OFF; BEGIN TRANSACTION',
      'SELECT [n] FROM [dbo].[target] WHERE 1 = 0',
      'SET XACT_ABORT ON',
    ]);
    expect(statements.at(-1)).toBe('COMMIT TRANSACTION');
    expect(raw.asked.slice(3, -1).map(({ parameters }) => parameters.length)).toEqual([1000, 1000]);
  });

  it('empties by TRUNCATE, or by DELETE where the table does not take one', async () => {
    const easy = await scripted(() => ({}));
    await easy.connection.beginWrite({ ...target, mode: 'replace' }, { signal: NEVER });
    expect(easy.raw.asked.map(({ sql }) => sql)).toContain('TRUNCATE TABLE [dbo].[target]');
    const referenced = await scripted((sql) => (sql.startsWith('TRUNCATE') ? { error: serverError(4712) } : {}));
    await referenced.connection.beginWrite({ ...target, mode: 'replace' }, { signal: NEVER });
    expect(referenced.raw.asked.map(({ sql }) => sql)).toContain(
      'ROLLBACK TRANSACTION dp_empty; DELETE FROM [dbo].[target]',
    );
  });

  it('binds every type in a form that loses nothing', async () => {
    const columns: Column[] = [
      { name: 'bo', type: 'BOOLEAN' },
      { name: 'big', type: 'BIGINTEGER' },
      { name: 'd', type: 'BIGDECIMAL', precision: 38, scale: 10 },
      { name: 'r', type: 'DECIMAL', precision: 7 },
      { name: 'b', type: 'BINARY' },
      { name: 'dt', type: 'DATE' },
      { name: 'tm', type: 'TIME' },
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 's]', type: 'STRING' },
      { name: 'no', type: 'NULL' },
    ];
    const { raw, connection } = await scripted(() => ({}));
    const writer = await connection.beginWrite({ ...target, columns }, { signal: NEVER });
    const row = [1, 2n ** 63n - 1n, '9999999999999999999999999999.9999999999', Math.fround(1.1), new Uint8Array([255])];
    await writer.write(batchOf(columns, [[...row, -719162, 86_399_999_999n, 253402300799999999n, 'é😀', null]]));
    const insert = raw.asked.at(-1);
    expect(insert?.sql).toBe(
      'INSERT INTO [dbo].[target] ([bo], [big], [d], [r], [b], [dt], [tm], [ts], [s]]], [no]) VALUES ' +
        '(@dp_1,@dp_2,@dp_3,@dp_4,@dp_5,CAST(@dp_6 AS date),CAST(@dp_7 AS time(6)),CAST(@dp_8 AS datetime2(6)),@dp_9,@dp_10)',
    );
    expect(insert?.parameters.map(({ type, value }) => [type.name, value])).toEqual([
      ['Bit', true],
      ['BigInt', 2n ** 63n - 1n],
      ['NVarChar', '9999999999999999999999999999.9999999999'],
      ['Float', 1.1],
      ['VarBinary', Buffer.from([255])],
      ['NVarChar', '0001-01-01'],
      ['NVarChar', '23:59:59.999999'],
      ['NVarChar', '9999-12-31 23:59:59.999999'],
      ['NVarChar', 'é😀'],
      ['NVarChar', null],
    ]);
    await expect(
      writer.write(batchOf(columns, [[...row.slice(0, 3), Number.NaN, new Uint8Array(), 0, 0n, 0n, '', null]])),
    ).rejects.toMatchObject({ reason: 'value_unrepresentable' });
  });

  it('a COMMIT whose answer is lost is neither written nor not written', async () => {
    const { connection } = await scripted((sql) => (sql.startsWith('COMMIT') ? { drops: true } : {}));
    const writer = await connection.beginWrite(target, { signal: NEVER });
    await expect(writer.commit()).rejects.toMatchObject({ kind: 'connection', commitUnknown: true });
  });

  it('a COMMIT that was cancelled may have been done all the same', async () => {
    const caller = new AbortController();
    const { connection } = await scripted((sql) => (sql.startsWith('COMMIT') ? { hangs: true } : {}));
    const writer = await connection.beginWrite(target, { signal: caller.signal });
    const committing = expect(writer.commit()).rejects.toMatchObject({ kind: 'cancelled', commitUnknown: true });
    caller.abort();
    await committing;
    await writer.rollback();
  });
});

describe('the catalogue of SQL Server', () => {
  it('binds every name, compares letter by letter, and reads columns in one query', async () => {
    const row = ['n', 'decimal', 12, 2, 9, false, 'net', 1, 'dbo', 'parents', 'id'];
    const { raw, connection } = await scripted((sql) =>
      sql.includes('sys.columns')
        ? { columns: NUMBERS, rows: [row] }
        : { columns: NUMBERS, rows: [['dbo', 'Ünï', 'TABLE', null]] },
    );
    const query = (sql: string, values: readonly unknown[]) => connection.catalog({ sql, values }, NEVER);
    const tables = await mssqlIntrospection.tables(query, { namespace: ['dbo'], include: ['sys'] }, 5);
    expect(tables).toEqual([{ namespace: ['dbo'], name: 'Ünï', type: 'TABLE', remarks: null }]);
    const listing = raw.asked.find(({ sql }) => sql.includes('sys.objects'));
    expect(listing?.sql).toContain('COLLATE Latin1_General_100_BIN2 = @dp_2');
    expect(listing?.parameters.map(({ value }) => value)).toEqual(
      expect.arrayContaining([5, 'dbo', 'guest', 'db_owner']),
    );
    expect(listing?.parameters.map(({ value }) => value)).not.toContain('sys');
    expect(await mssqlIntrospection.columns(query, tables[0]!)).toEqual([
      {
        name: 'n',
        sourceType: 'decimal(12,2)',
        mapped: { type: { type: 'DECIMAL', precision: 12, scale: 2 } },
        nullable: false,
        remarks: 'net',
        primaryKey: 1,
        references: { namespace: ['dbo'], table: 'parents', column: 'id' },
      },
    ]);
    expect(await mssqlIntrospection.tables(query, { namespace: ['a', 'b'], include: [] }, 5)).toEqual([]);
  });
});
