import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverFailure } from '../drivers/driver-failure.js';
import type { DriverConnection } from '../drivers/driver.js';
import { NEVER } from '../drivers/driver.fixture.js';
import { DuckdbConnection } from '../drivers/duckdb/connection.js';
import { DuckdbInstances, type DuckdbShare } from '../drivers/duckdb/instances.js';
import { NativeCallGate } from '../drivers/duckdb/native-call-gate.js';
import { PostgresBench } from '../drivers/postgres/postgres.fixture.js';
import { readBounded } from './bounded-read.js';

const read = async (connection: DriverConnection, sql: string) =>
  await readBounded(
    connection,
    { sql, values: [] },
    { maxRows: 5, maxBytes: 10_000, timeoutMs: 10_000, signal: NEVER },
  );

/** Rows, large objects and what the sequence stands at. */
const STATE = `SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM pg_largeobject_metadata),
  (SELECT convert_from(lo_get(oid), 'UTF8') FROM pg_largeobject_metadata), (SELECT last_value FROM s)`;

describe('PostgreSQL behind a classifier that was fooled', () => {
  let bench: PostgresBench;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    const owner = await bench.connect();
    await owner.control(`
      CREATE TABLE t (a int); CREATE SEQUENCE s; SELECT lo_from_bytea(0, 'kept');
      CREATE FUNCTION sneaky() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (1); RETURN 1; END $$`);
  });

  afterAll(async () => await bench.close());

  it.each([
    'SELECT sneaky()',
    "SELECT nextval('s')",
    'WITH x AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM x',
    'SELECT a INTO t2 FROM t',
    'DO $$ BEGIN INSERT INTO t VALUES (1); END $$',
    'SELECT 1; INSERT INTO t VALUES (1)',
    'COMMIT; INSERT INTO t VALUES (1)',
    'SELECT lo_create(4711)',
    "SELECT lo_from_bytea(0, 'x')",
    'SELECT lo_unlink(oid) FROM pg_largeobject_metadata',
    "SELECT lo_put(oid, 0, 'overwritten') FROM pg_largeobject_metadata",
    "SELECT set_config('transaction_read_only', 'off', true), sneaky()",
    "WITH open AS MATERIALIZED (SELECT set_config('transaction_read_only', 'off', false)) SELECT sneaky() FROM open",
    "SELECT setval('s', 100)",
    'SELECT a FROM t FOR UPDATE',
  ])('writes nothing: %s', async (sql) => {
    const connection = await bench.connect();
    await expect(read(connection, sql)).rejects.toBeInstanceOf(DriverFailure);
    expect(await read(await bench.connect(), STATE)).toMatchObject({ rows: ['["0","1","kept","1"]'] });
  });
});

describe('DuckDB behind a classifier that was fooled', () => {
  let folder: string;
  let instances: DuckdbInstances;
  let share: DuckdbShare;

  /** A refused read leaves its connection behind, as a pool would. */
  const connect = async () =>
    new DuckdbConnection(await share.instance.connect(), new NativeCallGate(1), () => Promise.resolve());

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-probe-'));
    instances = new DuckdbInstances(
      { memoryMb: 256, threads: 1, temporaryDirectory: join(folder, 'spill') },
      new NativeCallGate(4),
    );
    share = await instances.share('gate', null, false);
    const connection = await connect();
    await connection.execute({ sql: 'CREATE TABLE t (a INTEGER)', values: [] }, { signal: NEVER });
    await connection.close();
  });

  afterAll(async () => {
    share.release();
    rmSync(folder, { recursive: true });
  });

  it.each([
    'INSERT INTO t VALUES (1)',
    'INSERT INTO t VALUES (1) RETURNING a',
    'SELECT 1; INSERT INTO t VALUES (1)',
    'DROP TABLE t',
    "COPY t TO 'x.csv'",
    "ATTACH 'x.db' AS x",
    'SET threads = 2',
  ])('writes nothing: %s', async (sql) => {
    const connection = await connect();
    await expect(read(connection, sql)).rejects.toBeInstanceOf(DriverFailure);
    connection.destroy();
    const fresh = await connect();
    expect(await read(fresh, 'SELECT count(*) AS n FROM t')).toMatchObject({ rows: ['["0"]'] });
    await fresh.close();
  });
});
