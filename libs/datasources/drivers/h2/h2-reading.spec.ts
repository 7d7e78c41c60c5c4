import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';

import { bindStatement, type TypedValue } from '#libs/typesystem';

import { CertificateAuthority } from '../../../../test/fixtures/certificates.js';
import { describeWithProgram, findProgram } from '../../../../test/fixtures/programs.js';
import { stopsAtEveryMoment } from '../cancelling.fixture.js';
import { cellOf, collect, eventually, NEVER, rowsOf } from '../driver.fixture.js';
import { TlsFront } from '../tls-front.fixture.js';
import type { H2Connection } from './connection.js';
import { H2Bench } from './h2.fixture.js';
import { h2Options } from './options.js';
import { parseH2Url } from './url.js';

/** Busy for minutes. */
const LONG = 'SELECT count(*) FROM SYSTEM_RANGE(1, 1000000) a(x), SYSTEM_RANGE(1, 1000000) b(x) WHERE a.x * b.x = 7';

describeWithProgram('h2.jar', 'reading H2', (jar) => {
  let bench: H2Bench;
  let connection: H2Connection;

  beforeAll(async () => {
    bench = await H2Bench.start(jar);
    await bench.server.sql(
      `CREATE TABLE kinds (
         c CHAR(3), v VARCHAR(10), t TEXT, b VARBINARY(10), bo BOOLEAN, small SMALLINT, i INT, big BIGINT,
         d10 NUMERIC(10,2), d38 NUMERIC(38,10), r REAL, db DOUBLE PRECISION, df DECFLOAT, dt DATE, tm TIME(9),
         tmz TIME(9) WITH TIME ZONE, ts TIMESTAMP(9), tsz TIMESTAMP(9) WITH TIME ZONE, u UUID, j JSON, e ENUM('a', 'ü'),
         iv INTERVAL DAY TO SECOND, arr INT ARRAY)`,
      `INSERT INTO kinds VALUES ('ab', 'é', '日本😀', X'00FF27', TRUE, -32768, -2147483648, 9223372036854775807,
         -12345678.90, 9999999999999999999999999999.9999999999, 1.1, 1.7976931348623157E308, 1.25E20, DATE '0001-01-01',
         TIME '23:59:59.123456789', TIME WITH TIME ZONE '10:11:12.5+03:00', TIMESTAMP '9999-12-31 23:59:59.999999',
         TIMESTAMP WITH TIME ZONE '2024-02-29 01:30:00.123456789+03:30', UUID '00112233-4455-6677-8899-aabbccddeeff',
         JSON '{"a": 1.10}', 'ü', INTERVAL '1 2:3:4.5' DAY TO SECOND, ARRAY[1,3])`,
      `INSERT INTO kinds (i) VALUES (NULL)`,
      "CREATE TABLE many AS SELECT x AS n, repeat('p', 100) AS pad FROM SYSTEM_RANGE(1, 20000) t(x)",
      `CREATE USER reader PASSWORD 'reader-pw'`,
      'CREATE TABLE secret (n INT)',
    );
  }, 60_000);

  beforeEach(async () => {
    connection = await bench.connect();
  });

  afterAll(async () => {
    await bench?.close();
  });

  it('maps what the server says of its types, and warns of what it has no number for', async () => {
    const cursor = await connection.openCursor(
      { sql: 'SELECT * FROM kinds', values: [] },
      { fetchSize: 10, signal: NEVER },
    );
    const { columns, rows } = await collect(cursor);
    expect(columns.map(({ name, type, precision }) => [name, type, precision])).toEqual([
      ['c', 'STRING', undefined],
      ['v', 'STRING', undefined],
      ['t', 'STRING', undefined],
      ['b', 'BINARY', undefined],
      ['bo', 'BOOLEAN', undefined],
      ['small', 'INTEGER', undefined],
      ['i', 'INTEGER', undefined],
      ['big', 'BIGINTEGER', undefined],
      ['d10', 'BIGDECIMAL', undefined],
      ['d38', 'BIGDECIMAL', undefined],
      ['r', 'DECIMAL', 7],
      ['db', 'DECIMAL', 15],
      ['df', 'BIGDECIMAL', undefined],
      ['dt', 'DATE', undefined],
      ['tm', 'TIME', undefined],
      ['tmz', 'TIME', undefined],
      ['ts', 'TIMESTAMP', undefined],
      ['tsz', 'TIMESTAMP', undefined],
      ['u', 'STRING', undefined],
      ['j', 'STRING', undefined],
      ['e', 'STRING', undefined],
      ['iv', 'STRING', undefined],
      ['arr', 'STRING', undefined],
    ]);
    expect(cursor.warnings.map(({ column }) => column)).toEqual(['u', 'j', 'e', 'iv']);
    expect(rows).toEqual([
      '["ab ","é","日本😀","AP8n",true,-32768,-2147483648,"9223372036854775807","-12345678.90",' +
        '"9999999999999999999999999999.9999999999",1.1,1.7976931348623157e+308,"125000000000000000000","0001-01-01",' +
        '"23:59:59.123456","10:11:12.500000","9999-12-31T23:59:59.999999Z","2024-02-28T22:00:00.123456Z",' +
        '"00112233-4455-6677-8899-aabbccddeeff","{\\"a\\":1.10}","ü","INTERVAL \'1 02:03:04.5\' DAY TO SECOND","{1,3}"]',
      `[${new Array(23).fill('null').join(',')}]`,
    ]);
  });

  it.each<[string, string, string]>([
    ['a decimal with an exponent', 'CAST(1E-7 AS DECFLOAT)', '"0.0000001"'],
    ['an exponent behind a fraction', 'CAST(-1.5E3 AS DECFLOAT)', '"-1500"'],
    ['a year before the calendar the doors show', "DATE '-0044-03-15'", 'null'],
    ['a year behind it', "TIMESTAMP '10000-01-01 00:00:00'", 'null'],
    ['no number', "CAST('NaN' AS DOUBLE PRECISION)", 'null'],
    ['an infinite DECFLOAT', "CAST('-Infinity' AS DECFLOAT)", 'null'],
    [
      'an offset that crosses the date line',
      "TIMESTAMP WITH TIME ZONE '2024-01-01 00:00:00+14:00'",
      '"2023-12-31T10:00:00.000000Z"',
    ],
    ['2^53 + 1', 'CAST(9007199254740993 AS BIGINT)', '"9007199254740993"'],
  ])('reads %s exactly', async (_name, sql, shown) => {
    expect(await cellOf(connection, `SELECT ${sql}`)).toBe(shown);
  });

  it('refuses bytes that the server sends as broken characters, and says what to write instead', async () => {
    await bench.server.sql('CREATE TABLE IF NOT EXISTS blobs (v JAVA_OBJECT)');
    const invalid = `SELECT CAST(X'C3' AS VARCHAR) v, UUID '00112233-4455-6677-8899-aabbccddeeff' u`;
    expect((await rowsOf(connection, invalid)).rows).toHaveLength(1);
    const json = `SELECT JSON '"\uFFFD"' v`;
    await expect(rowsOf(connection, json)).rejects.toMatchObject({ reason: 'value_unrepresentable' });
    expect(connection.usable).toBe(false);
  });

  it.each<[string, TypedValue]>([
    ['BOOLEAN', { type: { type: 'BOOLEAN' }, value: true }],
    ['INTEGER', { type: { type: 'INTEGER' }, value: -2147483648 }],
    ['BIGINTEGER', { type: { type: 'BIGINTEGER' }, value: 2n ** 63n - 1n }],
    ['BIGDECIMAL', { type: { type: 'BIGDECIMAL' }, value: { unscaled: 10n ** 38n - 1n, scale: 10 } }],
    ['DECIMAL', { type: { type: 'DECIMAL', precision: 4, scale: 2 }, value: { unscaled: -1n, scale: 2 } }],
    ['float', { type: { type: 'DECIMAL', precision: 15 }, value: 5e-324 }],
    ['STRING', { type: { type: 'STRING' }, value: `'; DROP TABLE kinds; -- $1 \\ " é 😀` }],
    ['BINARY', { type: { type: 'BINARY' }, value: new Uint8Array([0, 255, 254, 39]) }],
    ['DATE', { type: { type: 'DATE' }, value: '9999-12-31' }],
    ['TIME', { type: { type: 'TIME' }, value: 86_399_999_999 }],
    ['TIMESTAMP', { type: { type: 'TIMESTAMP' }, value: 253402300799999999n }],
  ])('gives back a bound %s unchanged', async (_name, typed) => {
    const shown: Record<string, string> = {
      BOOLEAN: 'true',
      INTEGER: '-2147483648',
      BIGINTEGER: '"9223372036854775807"',
      BIGDECIMAL: '"9999999999999999999999999999.9999999999"',
      DECIMAL: '"-0.01"',
      float: '5e-324',
      STRING: JSON.stringify(`'; DROP TABLE kinds; -- $1 \\ " é 😀`),
      BINARY: '"AP/+Jw=="',
      DATE: '"9999-12-31"',
      TIME: '"23:59:59.999999"',
      TIMESTAMP: '"9999-12-31T23:59:59.999999Z"',
    };
    const bound = bindStatement('H2', 'SELECT :v', new Map([['v', typed]]));
    expect(await cellOf(connection, bound.sql, bound.values)).toBe(shown[_name]);
    const nothing = bindStatement('H2', 'SELECT :v', new Map([['v', { ...typed, value: null }]]));
    expect(await cellOf(connection, nothing.sql, nothing.values)).toBe('null');
  });

  it('streams in batches, and a slow taker holds the server back', async () => {
    const { rows, batches } = await rowsOf(connection, 'SELECT n, pad FROM many ORDER BY n');
    expect(rows).toHaveLength(20_000);
    expect(rows.at(-1)).toMatch(/^\["20000",/);
    expect(Math.max(...batches)).toBeLessThanOrEqual(1000);
  });

  it('tells a stream that breaks midway from its end', async () => {
    await expect(rowsOf(connection, 'SELECT 10 / (19000 - n) FROM many')).rejects.toMatchObject({
      driverCode: '22012',
    });
    expect(connection.usable).toBe(false);
  });

  it('stops the statement in the server when the caller gives up', async () => {
    const caller = new AbortController();
    const reading = connection.openCursor({ sql: LONG, values: [] }, { fetchSize: 10, signal: caller.signal });
    const told = expect(reading.then((cursor) => collect(cursor, caller.signal))).rejects.toMatchObject({
      kind: 'cancelled',
    });
    expect(await eventually(async () => (await bench.running()).length > 0)).toBe(true);
    caller.abort();
    await told;
    expect(connection.usable).toBe(false);
    expect(await eventually(async () => (await bench.running()).length === 0)).toBe(true);
  });

  stopsAtEveryMoment(() => ({
    connect: (signal) => bench.connect(undefined, signal),
    endless: LONG,
    stream: 'SELECT a.n FROM many a, many b, many c',
    works: async () => (await bench.running()).some((sql) => sql.includes('many') || sql === LONG),
  }));

  it('ends a statement by its own clock when nobody is left to cancel', async () => {
    const reading = connection.openCursor({ sql: LONG, values: [] }, { fetchSize: 10, signal: NEVER, backstopMs: 200 });
    await expect(reading.then((cursor) => collect(cursor))).rejects.toMatchObject({ driverCode: '57014' });
  });

  it('lets go of a read that is closed before its end', async () => {
    const cursor = await connection.openCursor(
      { sql: 'SELECT n FROM many', values: [] },
      { fetchSize: 10, signal: NEVER },
    );
    await cursor.next(NEVER);
    await cursor.close();
    expect(await eventually(async () => (await bench.running()).length === 0)).toBe(true);
    expect(await connection.reset()).toBe(connection.usable);
  });

  it.each([
    ['two statements', 'SELECT 1; DROP TABLE secret', 'multiple_statements'],
    ['a DML', 'DELETE FROM secret', 'statement_refused'],
    ['rows of an insert', 'SELECT * FROM FINAL TABLE (INSERT INTO secret VALUES (1))', 'statement_refused'],
    ['a sequence', 'SELECT NEXT VALUE FOR s', 'statement_refused'],
    ['a file', `SELECT "CSVWRITE" ('/tmp/x', 'SELECT 1')`, 'statement_refused'],
    ['a variable', 'SELECT SET(@a, 1)', 'statement_refused'],
  ])('a read with %s is never sent', async (_name, sql, reason) => {
    await expect(rowsOf(connection, sql)).rejects.toMatchObject({ reason });
    expect(connection.usable).toBe(true);
    expect(await cellOf(connection, 'SELECT count(*) FROM secret')).toBe('"0"');
  });

  it('a failed parse is the end of the session: H2 would run the statement before again', async () => {
    expect(await connection.execute({ sql: 'INSERT INTO secret VALUES (7)', values: [] }, { signal: NEVER })).toBe(1);
    await expect(
      connection.execute({ sql: 'INSERT INTO secret VALUES (', values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({ driverCode: '42001' });
    expect(connection.usable).toBe(false);
    expect(await bench.server.sql('SELECT count(*) FROM secret')).toEqual([['1']]);
    await bench.server.sql('DELETE FROM secret');
  });

  it('a session that was written with, or that saw variables, is not handed on', async () => {
    expect(await connection.reset()).toBe(true);
    await cellOf(connection, 'SELECT @x');
    expect(await connection.reset()).toBe(false);
    const other = await bench.connect();
    await other.execute({ sql: 'CREATE LOCAL TEMPORARY TABLE tmp (n INT)', values: [] }, { signal: NEVER });
    expect(await other.reset()).toBe(false);
  });

  it('says who may not read, and what is not there', async () => {
    const reader = await bench.connect(undefined, NEVER, { username: 'reader', secret: 'reader-pw' });
    await expect(rowsOf(reader, 'SELECT * FROM secret')).rejects.toMatchObject({
      kind: 'permission',
      driverCode: '90096',
    });
    await expect(rowsOf(connection, 'SELECT * FROM nowhere')).rejects.toMatchObject({ kind: 'missing_table' });
  });

  it('opens a database read-only when the datasource is', async () => {
    const writer = await bench.connect(bench.options('', 'apart'));
    await writer.execute({ sql: 'CREATE TABLE t (n INT)', values: [] }, { signal: NEVER });
    await writer.close();
    await eventually(async () => {
      const readonly = await bench.connect(bench.options('', 'apart'), NEVER, { isReadonly: true });
      const answer = await cellOf(readonly, 'SELECT READONLY()');
      if (answer !== 'true') readonly.destroy();
      return answer === 'true';
    });
    const readonly = await bench.connect(bench.options('', 'apart'), NEVER, { isReadonly: true });
    await expect(
      readonly.execute({ sql: 'INSERT INTO t VALUES (1)', values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({ driverCode: '90097' });
  });

  it.each([
    ['a wrong password', { secret: 'wrong' }, 'LOGIN_REFUSED'],
    ['an unknown user', { username: 'nobody' }, 'LOGIN_REFUSED'],
  ])('%s is told as such: the server only closes the socket', async (_name, as, driverCode) => {
    await expect(bench.connect(undefined, NEVER, as)).rejects.toMatchObject({ kind: 'connection', driverCode });
  });

  it('is reached over TLS that ends in front of it, as its URL asks, and without where it has none', async () => {
    const ours = new CertificateAuthority(findProgram('openssl') ?? 'openssl');
    const fronts: TlsFront[] = [];
    const { host, port, database } = bench.server;
    const frontWith = async (certificate: ReturnType<typeof ours.issue>): Promise<number> => {
      fronts.push(new TlsFront(certificate, { host, port }));
      return await fronts.at(-1)!.listen();
    };
    const ports = {
      right: await frontWith(ours.issue('localhost')),
      over: await frontWith(ours.issue('localhost', -1)),
    };
    const attempt = async (to: string, parameters: string): Promise<string> => {
      const options = h2Options(
        parseH2Url(`pg://${to}/${database}${parameters.replace('OURS', ours.root)}`),
        new Map(),
      );
      const opened = bench.connect(options, NEVER, {}, () => Promise.resolve({ address: host }));
      return await opened.then(
        (given) => cellOf(given, 'SELECT 1'),
        ({ driverCode }: { driverCode: string }) => driverCode,
      );
    };
    try {
      for (const [to, parameters, outcome] of [
        [`localhost:${ports.right}`, '?sslmode=verify-full&sslrootcert=OURS', '1'],
        [`localhost:${ports.right}`, '?ssl=true&sslrootcert=OURS', '1'],
        [`other.example:${ports.right}`, '?sslmode=verify-full&sslrootcert=OURS', 'ERR_TLS_CERT_ALTNAME_INVALID'],
        [`other.example:${ports.right}`, '?sslmode=verify-ca&sslrootcert=OURS', '1'],
        [`localhost:${ports.right}`, '?sslmode=verify-full', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
        [`localhost:${ports.over}`, '?sslmode=verify-ca&sslrootcert=OURS', 'CERT_HAS_EXPIRED'],
        [`localhost:${ports.over}`, '?sslmode=require', '1'],
        [`localhost:${port}`, '?sslmode=require', 'TLS_NOT_OFFERED'],
        [`localhost:${port}`, '?sslmode=verify-full&sslrootcert=OURS', 'TLS_NOT_OFFERED'],
        [`localhost:${port}`, '?sslmode=prefer', '1'],
        [`localhost:${port}`, '?sslmode=disable', '1'],
      ] as const) {
        expect([to, parameters, await attempt(to, parameters)]).toEqual([to, parameters, outcome]);
      }
      expect(fronts.map(({ plain }) => plain)).toEqual([0, 0]);
    } finally {
      for (const front of fronts) front.close();
      ours.remove();
    }
  });

  it('a server that falls silent is given up after socketTimeout', async () => {
    const patient = await bench.connect(bench.options('?socketTimeout=1'));
    await bench.server.freeze();
    try {
      await expect(cellOf(patient, 'SELECT 1')).rejects.toMatchObject({ kind: 'connection', driverCode: 'ETIMEDOUT' });
      await expect(connection.ping(100)).rejects.toMatchObject({ kind: 'cancelled' });
    } finally {
      bench.server.thaw();
    }
  });
});
