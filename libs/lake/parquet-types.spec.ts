import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { parquetWriteBuffer } from 'hyparquet-writer';

import { RowEncoder, splitRow } from '#libs/typesystem';

import { lakeScene } from './lake.fixture.js';
import { referenceRows } from './parquet-reference.fixture.js';

type Written = Parameters<typeof parquetWriteBuffer>[0];
type Element = NonNullable<Written['schema']>[number];

const scene = lakeScene();
const root = (name: string): string => join(scene.folder, 'roots', `${name}.parquet`);

/** The rows of a registered table as a node reads them and the wire has them, each token unquoted. */
async function wireRows(sql: string): Promise<(string | null)[][]> {
  const { signal } = new AbortController();
  const lease = await scene.bench.datasources.pools.lease('lake', 'read', signal);
  const cursor = await lease.openCursor({ sql, values: [] }, { fetchSize: 1000, signal });
  const encoder = new RowEncoder(cursor.columns);
  const rows: (string | null)[][] = [];
  for (let batch = await cursor.next(signal); batch; batch = await cursor.next(signal)) {
    const text = Buffer.from(encoder.encode(batch).bytes).toString('utf8');
    for (const line of batch.rowCount === 0 ? [] : text.split('\n')) {
      rows.push(
        splitRow(line).map((token) =>
          token === 'null' ? null : token.startsWith('"') ? (JSON.parse(token) as string) : token,
        ),
      );
    }
  }
  await cursor.close();
  await lease.release('ok');
  return rows;
}

async function register(name: string): Promise<void> {
  await scene.bench.tables.register(scene.team.author, 'lake', {
    namespace: 'types',
    name,
    format: 'parquet',
    location: `file://${root(name)}`,
  });
}

/** Numbers are compared as numbers: a double has several texts. */
function comparable(rows: (string | null)[][]): (string | null)[][] {
  const plain = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i;
  return rows.map((row) =>
    row.map((cell) => (cell !== null && plain.test(cell) && cell.length < 16 ? String(Number(cell)) : cell)),
  );
}

/** The lake's reading of a file and the reference's are the same. */
async function expectSame(name: string, rowCount: number): Promise<void> {
  await register(name);
  const read = comparable(await wireRows(`SELECT * FROM types.${name}`));
  const reference = comparable(await referenceRows(root(name)));
  expect(read).toHaveLength(rowCount);
  // The first that differs says more than thousands of rows.
  const differs = reference.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(read[index]));
  expect([differs, read[differs]]).toEqual([-1, reference[differs]]);
}

describe('the values of a Parquet file', () => {
  let instance: DuckDBInstance;
  let engine: DuckDBConnection;

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    engine = await instance.connect();
    await engine.run(`SET TimeZone = 'UTC'`);
  });
  afterAll(() => {
    engine.disconnectSync();
    instance.closeSync();
  });
  beforeEach(() => scene.registered('lake'));

  /** Every type the engine writes: extremes, NULL, what has no wire form, and enough rows for several pages. */
  const EVERY = `
    SELECT i % 3 = 0 AS bool, i::TINYINT AS i8, (i * 257)::SMALLINT AS i16, (i * 16909060)::INT AS i32,
           i * 72340172838076673 AS i64, i::UTINYINT AS u8, (i * 500)::USMALLINT AS u16, (i * 33686018)::UINTEGER AS u32,
           (i::HUGEINT * 145249953336295424)::UBIGINT AS u64, (i / 7)::FLOAT AS f32, i / 7 AS f64,
           (i / 4)::DECIMAL(4, 2) AS d4, (i / 4)::DECIMAL(9, 3) AS d9, (i / 4)::DECIMAL(18, 4) AS d18,
           (i::HUGEINT * 900719925474099312345678901)::DECIMAL(38, 0) AS d38,
           'Zürich 💾 ' || i AS text, ('\\x00\\xFF' || i)::BLOB AS bytes, DATE '2024-02-29' + i::INT * 17 AS day,
           TIME '00:00:00.000001' + to_microseconds(i * 679999999) AS clock,
           TIMESTAMP '1969-12-31 23:59:59.999999' + to_microseconds(i * 86400000001) AS moment,
           (TIMESTAMP '1969-12-31 23:59:59' + to_seconds(i * 3601))::TIMESTAMP_S AS at_s,
           (TIMESTAMP '1969-12-31 23:59:59.999' + to_milliseconds(i * 3601))::TIMESTAMP_MS AS at_ms,
           (TIMESTAMP '1969-12-31 23:59:59.999999' + to_microseconds(i))::TIMESTAMP_NS AS at_ns,
           TIMESTAMPTZ '2024-03-31 00:59:59.5+00' + to_seconds(i) AS at_tz,
           md5(i::VARCHAR)::UUID AS id, ['a', 'b', 'c'][1 + i % 3]::ENUM('a', 'b', 'c') AS word, '{"i": ' || i || '}' AS doc
      FROM range(0, 127) t(i)`;
  const EXTREMES = `
    SELECT * FROM (VALUES
      ((-128)::TINYINT, 255::UTINYINT, (-32768)::SMALLINT, 65535::USMALLINT, (-2147483648)::INT, 4294967295::UINTEGER,
       (-9223372036854775808)::BIGINT, 18446744073709551615::UBIGINT, 'NaN'::FLOAT, 'Infinity'::DOUBLE, '-Infinity'::FLOAT,
       (-0.0)::DOUBLE, 99.99::DECIMAL(4,2), (-99999999999999999999999999999999999999)::DECIMAL(38,0), ''::VARCHAR, ''::BLOB,
       DATE '0001-01-01', TIME '23:59:59.999999', TIMESTAMP '9999-12-31 23:59:59.999999', 1.7976931348623157e308::DOUBLE),
      (127, 0, 32767, 0, 2147483647, 0, 9223372036854775807, 0, 3.4028235e38, 5e-324, 1.4e-45, 0.1, -99.99,
       99999999999999999999999999999999999999, chr(0) || 'after', '\\x00'::BLOB, DATE '9999-12-31', TIME '00:00:00',
       TIMESTAMP '0001-01-01 00:00:00', 2.2250738585072014e-308)
      ) t(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, g32, g64, d4, d38, text, bytes, day, clock, moment, big)`;
  const nulled = (sql: string): string =>
    `SELECT CASE WHEN n % 5 = 0 THEN NULL ELSE COLUMNS(* EXCLUDE n) END FROM (SELECT *, row_number() OVER () AS n FROM (${sql}))`;

  it.each(['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli'])(
    'are those of a reference reader for every type the engine writes (%s, both versions of the format)',
    async (codec) => {
      for (const version of ['v1', 'v2']) {
        const name = `${codec}_${version}`;
        await engine.run(
          `COPY (${nulled(EVERY)}) TO '${root(name)}' (COMPRESSION ${codec}, PARQUET_VERSION ${version})`,
        );
        await expectSame(name, 127);
      }
    },
  );

  it('are exact at their ends, and NULL where the wire has no form', async () => {
    await engine.run(
      `COPY (${EXTREMES} UNION ALL SELECT * FROM (${nulled(EXTREMES)}) WHERE i8 IS NULL) TO '${root('ends')}'`,
    );
    await expectSame('ends', 2);
    await engine.run(`COPY (SELECT NULL::INT AS a, NULL::VARCHAR AS b FROM range(5000)) TO '${root('nulls')}'`);
    await expectSame('nulls', 5000);
  });

  it('come from many row groups in the order they are stored, and an empty file has its columns', async () => {
    const many = `SELECT i AS id, 'v' || (i % 100) AS text, i::DECIMAL(18,3) AS d FROM range(20000) t(i)`;
    await engine.run(`COPY (${many}) TO '${root('groups')}' (ROW_GROUP_SIZE 2048)`);
    await expectSame('groups', 20_000);
    await engine.run(`COPY (${EVERY} LIMIT 0) TO '${root('empty')}'`);
    await expectSame('empty', 0);
    const columns = await scene.bench.datasources.introspection.columns(scene.team.author, 'lake', { namespace: ['types'], table: 'empty' });
    expect(columns).toHaveLength(27);
  }); // prettier-ignore

  const leaf = (name: string, type: string, more: object = {}) =>
    ({ name, type, repetition_type: 'OPTIONAL', ...more }) as Element;
  const decimal = (name: string, type: string, precision: number, scale: number, length?: number) =>
    leaf(name, type, {
      converted_type: 'DECIMAL',
      precision,
      scale,
      ...(length === undefined ? {} : { type_length: length }),
    });
  const stamp = (name: string, unit: string, isAdjustedToUTC: boolean) =>
    leaf(name, 'INT64', { logical_type: { type: 'TIMESTAMP', unit, isAdjustedToUTC } });
  const integer = (name: string, type: string, converted: string) => leaf(name, type, { converted_type: converted });
  const clock = (name: string, type: string, unit: string) =>
    leaf(name, type, { logical_type: { type: 'TIME', unit, isAdjustedToUTC: false } });

  function written(name: string, columns: [Element, unknown[]][], more: Partial<Written> = {}): void {
    const bytes = parquetWriteBuffer({
      schema: [{ name: 'root', num_children: columns.length }, ...columns.map(([element]) => element)],
      columnData: columns.map(([element, data]) => ({ name: element.name, data })) as Written['columnData'],
      ...more,
    });
    writeFileSync(root(name), Buffer.from(bytes));
  }

  it('are those of a reference reader for the physical and logical types that other writers choose', async () => {
    const amounts = [1n, -1n, 0n, null, 123456n, -99999n];
    const micros = [0n, -1n, 1709164800000001n, null, -62135596800000000n, 253402300799999999n];
    const nanos = [0n, -1000n, 1709164800000001001n, null, -6795364578871345000n, 6795364578871345152n];
    const text = ['a', 'Zürich 💾', '', null, '\u0000', 'z'.repeat(300)];
    const bytes = text.map((each) => (each === null ? null : Buffer.from(each)));
    written('others', [
      [decimal('d_i32', 'INT32', 9, 2), amounts.map((each) => (each === null ? null : each))],
      [decimal('d_i64', 'INT64', 18, 6), amounts],
      [decimal('d_fixed5', 'FIXED_LEN_BYTE_ARRAY', 11, 3, 5), amounts],
      [decimal('d_fixed16', 'FIXED_LEN_BYTE_ARRAY', 38, 10, 16), [10n ** 37n, -(10n ** 37n), 1n, null, 0n, -1n]],
      [decimal('d_bytes', 'BYTE_ARRAY', 20, 2), amounts],
      [stamp('ms_utc', 'MILLIS', true), [0n, -1n, 1709164800001n, null, -62135596800000n, 253402300799999n]],
      [stamp('ms', 'MILLIS', false), [0n, -1n, 1709164800001n, null, -62135596800000n, 253402300799999n]],
      [stamp('us_utc', 'MICROS', true), micros],
      [stamp('us', 'MICROS', false), micros],
      [stamp('ns_utc', 'NANOS', true), nanos],
      [stamp('ns', 'NANOS', false), nanos],
      [integer('u8', 'INT32', 'UINT_8'), [0, 255, 1, null, 128, 127]],
      [integer('i8', 'INT32', 'INT_8'), [0, -128, 1, null, 127, -1]],
      [integer('u16', 'INT32', 'UINT_16'), [0, 65535, 1, null, 32768, 7]],
      [integer('i16', 'INT32', 'INT_16'), [0, -32768, 1, null, 32767, -1]],
      [integer('u32', 'INT32', 'UINT_32'), [0, 4294967295, 1, null, 2147483648, 7]],
      [integer('u64', 'INT64', 'UINT_64'), [0n, 18446744073709551615n, 1n, null, 9223372036854775808n, 7n]],
      [leaf('f16', 'FIXED_LEN_BYTE_ARRAY', { type_length: 2, logical_type: { type: 'FLOAT16' } }), [0, -2.5, 65504, null, Number.NaN, Number.POSITIVE_INFINITY]],
      [leaf('uuid', 'FIXED_LEN_BYTE_ARRAY', { type_length: 16, logical_type: { type: 'UUID' } }), text.map((each) => each === null ? null : 'f79c3e09-677c-4bbd-a479-3f349cb785e7')],
      [leaf('json', 'BYTE_ARRAY', { converted_type: 'JSON' }), [{ a: 1 }, [1, 'x'], 'text', null, true, { n: 9007199254740991 }]],
      [leaf('enum', 'BYTE_ARRAY', { converted_type: 'ENUM' }), bytes],
      [leaf('utf8', 'BYTE_ARRAY', { converted_type: 'UTF8' }), text],
      [leaf('string', 'BYTE_ARRAY', { converted_type: 'UTF8', logical_type: { type: 'STRING' } }), text],
      [leaf('raw', 'BYTE_ARRAY'), bytes],
      [leaf('fixed', 'FIXED_LEN_BYTE_ARRAY', { type_length: 3 }), text.map((each) => (each === null ? null : Buffer.from('abc')))],
      [leaf('day', 'INT32', { converted_type: 'DATE' }), [0, -1, 19782, null, -719162, 2932896]],
      [clock('t_ms', 'INT32', 'MILLIS'), [0, 1, 86399999, null, 5, 43200000]],
      [clock('t_us', 'INT64', 'MICROS'), [0n, 1n, 86399999999n, null, 5n, 43200000000n]],
      [clock('t_ns', 'INT64', 'NANOS'), [0n, 999n, 86399999999999n, null, 5000n, 43200000000000n]],
    ], { codec: 'UNCOMPRESSED' }); // prettier-ignore
    await expectSame('others', 6);
  });

  it('are those of a reference reader for every encoding of every type that has it', async () => {
    const count = 3000;
    const of = <T>(make: (index: number) => T): (T | null)[] =>
      Array.from({ length: count }, (_, index) => (index % 7 === 3 ? null : make(index)));
    const columns: Record<string, [Partial<Element>, unknown[]]> = {
      bool: [{ type: 'BOOLEAN' }, of((i) => i % 3 === 0)],
      i32: [{ type: 'INT32' }, of((i) => (i * 7919) % 100_003 - 50_000)],
      i64: [{ type: 'INT64' }, of((i) => BigInt(i) * 4_294_967_311n - 9n)],
      f32: [{ type: 'FLOAT' }, of((i) => Math.fround(i / 7))],
      f64: [{ type: 'DOUBLE' }, of((i) => i / 7)],
      text: [{ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, of((i) => `prefix ${i % 50} é`)],
      fixed: [{ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 4 }, of((i) => Buffer.from(String(1000 + (i % 9000))))],
    };
    const encodings: Record<string, string[]> = {
      PLAIN: ['bool', 'i32', 'i64', 'f32', 'f64', 'text', 'fixed'],
      RLE: ['bool'],
      RLE_DICTIONARY: ['i32', 'i64', 'f32', 'f64', 'text', 'fixed'],
      DELTA_BINARY_PACKED: ['i32', 'i64'],
      DELTA_LENGTH_BYTE_ARRAY: ['text'],
      DELTA_BYTE_ARRAY: ['text'],
      BYTE_STREAM_SPLIT: ['f32', 'f64'],
    };
    const data = Object.entries(encodings).flatMap(([encoding, names]) =>
      names.map((column) => ({ name: `${encoding}_${column}`.toLowerCase(), column, encoding })),
    );
    const bytes = parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: data.length },
        ...data.map(({ name, column }) => leaf(name, '', columns[column]?.[0])),
      ],
      columnData: data.map(({ name, column, encoding }) => ({ name, data: columns[column]?.[1], encoding })) as Written['columnData'],
      codec: 'UNCOMPRESSED',
      pageSize: 2000,
      rowGroupSize: 1300,
    });
    writeFileSync(root('encodings'), Buffer.from(bytes));
    await expectSame('encodings', count);
  }); // prettier-ignore

  it('are those of a reference reader for the old 96 bit timestamps', async () => {
    const moment = (day: number, nanos: bigint): Buffer => {
      const buffer = Buffer.alloc(12);
      buffer.writeBigUInt64LE(nanos);
      buffer.writeInt32LE(day, 8);
      return buffer;
    };
    const days = [moment(2440588, 0n), moment(2440587, 86_399_999_999_000n), null, moment(2460370, 1000n)];
    written('int96', [[leaf('at', 'FIXED_LEN_BYTE_ARRAY', { type_length: 12 }), days]], { statistics: false });
    // The writer knows no INT96, which is stored as twelve bytes: only its name in the footer differs.
    const file = readFileSync(root('int96'));
    const footer = file.length - 8 - file.readUInt32LE(file.length - 8);
    let renamed = 0;
    for (let at = file.indexOf('150e', footer, 'hex'); at >= 0; at = file.indexOf('150e', at + 1, 'hex')) {
      file[at + 1] = 0x06;
      renamed += 1;
    }
    expect(renamed).toBe(2);
    writeFileSync(root('int96'), file);
    await expectSame('int96', 4);
  });

  it.each([
    [{ type: 'BYTE_ARRAY', logical_type: { type: 'STRING' } }, Buffer.from('a'), 'String'],
    [{ type: 'BYTE_ARRAY', logical_type: { type: 'ENUM' } }, Buffer.from('a'), 'Enum'],
    [{ type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } }, Buffer.from('{}'), 'Json'],
    [{ type: 'INT64', logical_type: { type: 'DECIMAL', precision: 9, scale: 2 } }, 1n, 'Decimal'],
    [{ type: 'INT32', logical_type: { type: 'DATE' } }, 1, 'Date'],
  ])('are not read as what is merely stored where only the newer of two type names is there: %j', async (type, value, named) => {
    written('newer', [[leaf('fine', 'INT32'), [1]], [leaf('odd', '', type), [value]]], { codec: 'UNCOMPRESSED' });
    await expect(register('newer')).rejects.toThrow(new RegExp(`"odd" is a ${named} by its logical type alone`));
  }); // prettier-ignore

  it.each(['several/*.parquet', 'several/'])('are judged by every file of %s, because each has a footer of its own, and again when one is added', async (location) => {
    mkdirSync(join(scene.folder, 'roots', 'several', 'year=2024'), { recursive: true });
    const amount = { type: 'INT64', logical_type: { type: 'DECIMAL', precision: 9, scale: 2 } };
    const place = location.endsWith('/') ? 'several/year=2024/' : 'several/';
    written(`${place}a`, [[leaf('amount', '', { ...amount, converted_type: 'DECIMAL', precision: 9, scale: 2 }), [12345n]]]);
    const table = { namespace: 'types', name: 'several', format: 'parquet', location: `file://${join(scene.folder, 'roots')}/${location}` };
    await scene.bench.tables.register(scene.team.author, 'lake', table);
    expect(await wireRows('SELECT amount FROM types.several')).toEqual([['123.45']]);
    written(`${place}b`, [[leaf('amount', '', amount), [12345n]]]);
    const reason = new RegExp(`In the file "${location.endsWith('/') ? 'year=2024/' : ''}b.parquet" the column "amount" is a Decimal by its logical type alone`);
    await expect(scene.bench.tables.register(scene.team.author, 'lake', { ...table, name: 'again' })).rejects.toThrow(reason);
    await expect((await scene.another()).read('lake', 'SELECT amount FROM types.several')).rejects.toThrow(reason);
    const { tables } = await scene.bench.tables.list(scene.team.viewer, 'lake');
    expect(tables.map(({ name, last_error }) => [name, last_error])).toEqual([['several', expect.stringMatching(reason)]]);
  }); // prettier-ignore

  it('of types without an equal on the wire are text, and NULL columns are NULL', async () => {
    await engine.run(
      `COPY (SELECT INTERVAL '14 months 3 days 4.5 seconds' AS span, TIMETZ '12:00:00.5+02' AS clock, 42::VARIANT AS any,
                    'POINT(1 2)'::GEOMETRY AS place UNION ALL SELECT NULL, NULL, NULL, NULL) TO '${root('odd')}'`,
    );
    await register('odd');
    expect(await wireRows('SELECT * FROM types.odd')).toEqual([['1 year 2 months 3 days 00:00:04.5', '10:00:00.500000', '42', 'POINT (1 2)'], [null, null, null, null]]);
    written('others_odd', [
      [leaf('micros', 'INT64', { logical_type: { type: 'TIME', unit: 'MICROS', isAdjustedToUTC: true } }), [86399999999n, null]],
      [leaf('millis', 'INT32', { logical_type: { type: 'TIME', unit: 'MILLIS', isAdjustedToUTC: true } }), [1001, null]],
      [leaf('span', 'FIXED_LEN_BYTE_ARRAY', { type_length: 12, converted_type: 'INTERVAL' }), [Buffer.from('0100000002000000b80b0000', 'hex'), null]],
      [leaf('nothing', 'INT32', { logical_type: { type: 'NULL' } }), [null, null]],
      [leaf('bson', 'BYTE_ARRAY', { logical_type: { type: 'BSON' } }), [Buffer.from([5, 0, 0, 0, 0]), null]],
    ], { codec: 'UNCOMPRESSED' });
    await register('others_odd');
    expect(await wireRows('SELECT * FROM types.others_odd')).toEqual([['23:59:59.999999', '00:00:01.001000', '1 month 2 days 00:00:03', null, 'BQAAAAA='], [null, null, null, null, null]]);
    const columns = await scene.bench.datasources.introspection.columns(scene.team.author, 'lake', { namespace: ['types'], table: 'others_odd' });
    expect(columns.map(({ name, type }) => [name, type])).toEqual([['micros', 'TIME'], ['millis', 'TIME'], ['span', 'STRING'], ['nothing', 'INTEGER'], ['bson', 'BINARY']]);
    const more = await scene.bench.datasources.introspection.columns(scene.team.author, 'lake', { namespace: ['types'], table: 'odd' });
    expect(more.map(({ name, type }) => [name, type])).toEqual([['span', 'STRING'], ['clock', 'TIME'], ['any', 'STRING'], ['place', 'STRING']]);
  }); // prettier-ignore

  it('of a converted type that the engine does not know are refused', async () => {
    written('bson', [[leaf('doc', 'BYTE_ARRAY', { converted_type: 'BSON' }), [Buffer.from([5, 0, 0, 0, 0])]]]);
    await expect(register('bson')).rejects.toThrow(/Unsupported converted type/);
  });

  it('are not read with a sign where only the newer type name says that there is none', async () => {
    written('unsigned', [[leaf('big', 'INT32', { logical_type: { type: 'INTEGER', bitWidth: 32, isSigned: false } }), [4294967295]]], { codec: 'UNCOMPRESSED', statistics: false });
    // The writer gives the width as a whole number of four bytes, and the format has one of a single byte.
    const file = readFileSync(root('unsigned'));
    const at = file.indexOf('15401200', 0, 'hex');
    expect(at).toBeGreaterThan(0);
    file.set(Buffer.from('13201200', 'hex'), at);
    writeFileSync(root('unsigned'), file);
    await expect(register('unsigned')).rejects.toThrow('the column "big" is a Int by its logical type alone and would be read as INTEGER');
  }); // prettier-ignore

  it('of nested types are JSON on the wire and reachable by their members', async () => {
    await engine.run(
      `COPY (SELECT * FROM (VALUES
         (1, {'a': 9007199254740993, 'b': ['x', NULL]}, MAP {'k': 1.50::DECIMAL(4,2)}, [[1], [], NULL]),
         (2, NULL, NULL, NULL), (3, {'a': NULL, 'b': []}, MAP {}, [])) t(id, s, m, l)) TO '${root('nested')}'`,
    );
    await register('nested');
    expect(await wireRows('SELECT * FROM types.nested ORDER BY id')).toEqual([
      ['1', '{"a":9007199254740993,"b":["x",null]}', '{"k":1.5}', '[[1],[],null]'],
      ['2', null, null, null],
      ['3', '{"a":null,"b":[]}', '{}', '[]'],
    ]);
    expect(await wireRows(`SELECT s.a, s.b[1], m['k'], l[1][1] FROM types.nested WHERE id = 1`)).toEqual([
      ['9007199254740993', 'x', '1.50', '1'],
    ]);
  });
});

describe('the names of partitions', () => {
  beforeEach(() => scene.registered('lake'));

  it.each([
    ['a leap day', ['2024-02-29', '2024-03-01']],
    ['leading zeros', ['007', '100']],
    ['plain numbers', ['100', '200']],
    ['an exponent', ['1e5', '5']],
    ['a percent sign and a slash', ['a/b', '%2F', 'a%b']],
    ['none', [null, 'x']],
    ['spaces, plus and another alphabet', ['a b', 'x+y', 'Zürich']],
    ['words of SQL', ['true', "O'Brien", 'SELECT', 'null', 'NULL', 'Null', null]],
    ['escapes of escapes', ['a%41', '%', '', 'a=b', '__HIVE', '%25']],
  ])('keep their text, whatever it could be read as: %s', async (_what, names) => {
    const values = names.map((name) => (name === null ? 'NULL' : `'${name.replaceAll("'", "''")}'`));
    const folder = join(scene.folder, 'roots', 'parts');
    mkdirSync(folder);
    await scene.make(`COPY (SELECT unnest([${values.join(', ')}]) AS part, 1 AS v) TO '${folder}' (FORMAT parquet, PARTITION_BY (part), OVERWRITE_OR_IGNORE)`);
    await scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'types', name: 'parts', format: 'parquet', location: `file://${folder}/` });
    const read = await scene.bench.read('lake', 'SELECT part FROM parts');
    const sorted = (texts: readonly unknown[]) => texts.map((text) => JSON.stringify(text)).sort();
    expect(sorted(read.flat())).toEqual(sorted(names));
  }); // prettier-ignore

  it('are NULL in the one folder that writers give it, and decoded where they are escaped, because writers mean that', async () => {
    const names = ['null', 'Null', 'NULL', '__HIVE_DEFAULT_PARTITION__', 'nulls', 'a%41', 'a%2Fb', 'a%zz', '%', ''];
    const folder = join(scene.folder, 'roots', 'words');
    for (const [index, name] of names.entries()) {
      mkdirSync(join(folder, `part=${name}`), { recursive: true });
      await scene.make(`COPY (SELECT ${index} AS v) TO '${join(folder, `part=${name}`)}/x.parquet'`);
    }
    await scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'types', name: 'words', format: 'parquet', location: `file://${folder}/` });
    const read = await scene.bench.read('lake', 'SELECT part FROM words ORDER BY v');
    expect(read.flat()).toEqual(['null', 'Null', 'NULL', null, 'nulls', 'aA', 'a/b', 'a%zz', '%', '']);
  }); // prettier-ignore

  it('are the word null at any depth and under any name, beside files that have a column of that name or of ours', async () => {
    const folder = join(scene.folder, 'roots', 'deep');
    const parts = ['a.b=NULL/größe=null', 'a.b=x/größe=null', 'a.b=null/größe=__HIVE_DEFAULT_PARTITION__'];
    for (const [index, part] of parts.entries()) {
      mkdirSync(join(folder, part), { recursive: true });
      await scene.make(`COPY (SELECT ${index} AS v, 'in the file' AS "größe", 'kept' AS __path) TO '${join(folder, part)}/x=null.parquet'`);
    }
    await scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'types', name: 'deep', format: 'parquet', location: `file://${folder}/` });
    const rows = await scene.bench.read('lake', 'SELECT v, "a.b", "größe", __path FROM deep ORDER BY v');
    expect(rows).toEqual([[0, 'NULL', 'null', 'kept'], [1, 'x', 'null', 'kept'], [2, 'null', null, 'kept']]);
    expect(await scene.bench.read('lake', `SELECT v FROM deep WHERE "größe" IS NULL`)).toEqual([[2]]);
    expect(await scene.bench.read('lake', `SELECT v FROM deep WHERE "a.b" = 'null'`)).toEqual([[2]]);
  }); // prettier-ignore
});
