import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { csvLine, type Column } from '#libs/typesystem';

import { describeWithProgram } from '../../../test/fixtures/programs.js';
import { batchOf, NEVER, rowsOf } from './driver.fixture.js';
import type { DriverConnection } from './driver.js';
import { DuckdbConnection } from './duckdb/connection.js';
import { DuckdbInstances } from './duckdb/instances.js';
import { NativeCallGate } from './duckdb/native-call-gate.js';
import { H2Bench } from './h2/h2.fixture.js';
import { MariadbBench } from './mysql/mysql.fixture.js';
import { PostgresBench } from './postgres/postgres.fixture.js';
import { SqliteConnection } from './sqlite/connection.js';

/** The values that such systems round somewhere (09 §3), and what every encoder must show of them. */
const COLUMNS: readonly Column[] = [
  { name: 'past_double', type: 'BIGINTEGER' },
  { name: 'greatest', type: 'BIGINTEGER' },
  { name: 'least', type: 'BIGINTEGER' },
  { name: 'exact', type: 'BIGDECIMAL', precision: 38, scale: 10 },
  { name: 'moment', type: 'TIMESTAMP' },
  { name: 'before_1970', type: 'TIMESTAMP' },
  { name: 'first_day', type: 'DATE' },
  { name: 'leap_day', type: 'DATE' },
  { name: 'last_tick', type: 'TIME' },
  { name: 'tiny', type: 'DECIMAL', precision: 15 },
  { name: 'words', type: 'STRING' },
  { name: 'bytes', type: 'BINARY' },
];
const VALUES = [
  ...[2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), '-9999999999999999999999999999.9999999999'],
  ...[
    253402300799999999n,
    -1n,
    -719162,
    19782,
    86_399_999_999n,
    5e-324,
    `=1+1 "quoted", é😀`,
    new Uint8Array([0, 255, 39]),
  ],
];
const WIRE =
  '["9007199254740993","9223372036854775807","-9223372036854775808","-9999999999999999999999999999.9999999999",' +
  '"9999-12-31T23:59:59.999999Z","1969-12-31T23:59:59.999999Z","0001-01-01","2024-02-29","23:59:59.999999",5e-324,' +
  '"=1+1 \\"quoted\\", é😀","AP8n"]';
const CSV =
  '9007199254740993,9223372036854775807,-9223372036854775808,-9999999999999999999999999999.9999999999,' +
  '9999-12-31T23:59:59.999999Z,1969-12-31T23:59:59.999999Z,0001-01-01,2024-02-29,23:59:59.999999,5e-324,' +
  `"'=1+1 ""quoted"", é😀",AP8n\r\n`;

/** Column types of a target, in the order of {@link COLUMNS}. */
const TARGETS = {
  POSTGRES: 'int8,int8,int8,numeric(38,10),timestamptz,timestamp,date,date,time,float8,text,bytea',
  MYSQL: 'BIGINT,BIGINT,BIGINT,DECIMAL(38,10),DATETIME(6),DATETIME(6),DATE,DATE,TIME(6),DOUBLE,LONGTEXT,VARBINARY(10)',
  H2: 'BIGINT,BIGINT,BIGINT,NUMERIC(38,10),TIMESTAMP(6) WITH TIME ZONE,TIMESTAMP(6),DATE,DATE,TIME(6),DOUBLE PRECISION,TEXT,VARBINARY(10)',
  DUCKDB: 'BIGINT,BIGINT,BIGINT,DECIMAL(38,10),TIMESTAMPTZ,TIMESTAMP,DATE,DATE,TIME,DOUBLE,VARCHAR,BLOB',
} as const;

/** Written by the engine's writer, read by its reader, shown as stored rows and as CSV. */
function carriesExtremes(dialect: keyof typeof TARGETS, open: () => Promise<DriverConnection>): void {
  it('extreme values go in and come out without a digit changed', async () => {
    const quote = dialect === 'MYSQL' ? '`' : '"';
    const types = TARGETS[dialect].split(/,(?!\d)/);
    const columns = COLUMNS.map(({ name }, index) => `${quote}${name}${quote} ${types[index]}`).join(', ');
    const create = await open();
    await create.execute({ sql: `CREATE TABLE extremes (${columns})`, values: [] }, { signal: NEVER });
    const connection = await open();
    const writer = await connection.beginWrite(
      { table: 'extremes', mode: 'replace', columns: COLUMNS, batchRows: 10 },
      { signal: NEVER },
    );
    await writer.write(batchOf(COLUMNS, [VALUES, COLUMNS.map(() => null)]));
    await writer.commit();
    const { columns: read, rows } = await rowsOf(await open(), 'SELECT * FROM extremes ORDER BY tiny IS NULL, tiny');
    expect(rows).toEqual([WIRE, `[${COLUMNS.map(() => 'null').join(',')}]`]);
    expect(rows.map((row) => csvLine(read, row))[0]).toBe(CSV);
  });
}

/** Values that have no wire form: null, and told by count. */
function tellsUnrepresentable(open: () => Promise<DriverConnection>, sql: string): void {
  it('what has no wire form is null everywhere, and counted', async () => {
    const { rows, unrepresentable, columns } = await rowsOf(await open(), sql);
    expect(rows).toEqual(['[null,null,null]']);
    expect(csvLine(columns, rows[0]!)).toBe(',,\r\n');
    expect(Object.values(unrepresentable)).toEqual([1, 1, 1]);
  });
}

describe('PostgreSQL', () => {
  let bench: PostgresBench;
  beforeAll(async () => {
    bench = await PostgresBench.create();
  });
  afterAll(() => bench?.close());
  carriesExtremes('POSTGRES', () => bench.connect());
  tellsUnrepresentable(
    () => bench.connect(),
    `SELECT 'NaN'::float8 a, 'Infinity'::float4 b, 'infinity'::timestamptz c`,
  );
});

describeWithProgram('mariadbd', 'MariaDB', (program) => {
  let bench: MariadbBench;
  beforeAll(async () => {
    bench = await MariadbBench.start(program);
  }, 60_000);
  afterAll(() => bench?.close());
  carriesExtremes('MYSQL', () => bench.connect());
});

describeWithProgram('h2.jar', 'H2', (jar) => {
  let bench: H2Bench;
  beforeAll(async () => {
    bench = await H2Bench.start(jar);
  }, 60_000);
  afterAll(() => bench?.close());
  carriesExtremes('H2', () => bench.connect());
  tellsUnrepresentable(
    () => bench.connect(),
    `SELECT CAST('NaN' AS DOUBLE PRECISION) a, CAST('-Infinity' AS REAL) b, TIMESTAMP '10000-01-01 00:00:00' c`,
  );
});

describe('DuckDB and SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'penstock-extremes-'));
  const instances = new DuckdbInstances(
    { memoryMb: 128, threads: 1, temporaryDirectory: join(folder, 'spill') },
    new NativeCallGate(4),
  );
  const calls = new NativeCallGate(2);
  const open = async (): Promise<DuckdbConnection> => {
    const share = await instances.share('extremes', join(folder, 'a.duckdb'), false);
    return new DuckdbConnection(await share.instance.connect(), calls, () => share.release());
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  carriesExtremes('DUCKDB', open);
  tellsUnrepresentable(open, `SELECT 'NaN'::DOUBLE a, 'Infinity'::FLOAT b, 'infinity'::TIMESTAMPTZ c`);

  it('SQLite keeps every whole number of 64 bits, and its infinite float is null', async () => {
    const file = join(folder, 'a.sqlite');
    new DatabaseSync(file).close();
    const connection = await SqliteConnection.open({ file, access: 'read', busyTimeoutMs: 200, recover: true }, NEVER);
    const { rows } = await rowsOf(
      connection,
      'SELECT 9007199254740993 a, 9223372036854775807 b, -9223372036854775808 c, 5e-324 d, 9e999 e',
    );
    expect(rows).toEqual(['["9007199254740993","9223372036854775807","-9223372036854775808",5e-324,null]']);
    connection.destroy();
  });
});
