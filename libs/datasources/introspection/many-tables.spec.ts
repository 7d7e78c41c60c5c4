import { afterAll, beforeAll, describe } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { NEVER } from '../drivers/driver.fixture.js';
import { DuckdbConnection } from '../drivers/duckdb/connection.js';
import { DuckdbInstances, type DuckdbShare } from '../drivers/duckdb/instances.js';
import { duckdbIntrospection } from '../drivers/duckdb/introspection.js';
import { NativeCallGate } from '../drivers/duckdb/native-call-gate.js';
import { duckdbStatistics } from '../drivers/duckdb/statistics.js';
import type { PostgresConnection } from '../drivers/postgres/connection.js';
import { postgresIntrospection } from '../drivers/postgres/introspection.js';
import { PostgresBench } from '../drivers/postgres/postgres.fixture.js';
import { postgresStatistics } from '../drivers/postgres/statistics.js';
import { SqliteConnection } from '../drivers/sqlite/connection.js';
import { sqliteIntrospection } from '../drivers/sqlite/introspection.js';
import { sqliteStatistics } from '../drivers/sqlite/statistics.js';
import { readsWideSchemas, tableName, TABLES } from './many-tables.fixture.js';

const CREATED = Array.from({ length: TABLES }, (_, at) => `CREATE TABLE ${tableName(at + 1)} (id int, customer text);`);

describe('PostgreSQL with a schema of 5,000 tables', () => {
  let bench: PostgresBench;
  let connection: PostgresConnection;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    connection = await bench.connect();
    // In parts: one transaction holds a lock per table.
    for (let from = 0; from < TABLES; from += 500) await connection.control(CREATED.slice(from, from + 500).join(''));
    await connection.control(`COMMENT ON TABLE ${tableName(TABLES)} IS 'the last'`);
  }, 90_000);

  afterAll(() => bench?.close());

  readsWideSchemas(() => ({
    introspection: postgresIntrospection,
    statistics: postgresStatistics,
    connection,
    namespace: ['public'],
    remarks: 'the last',
    queries: { columns: 1, statistics: 3 },
  }));
});

describe('files with 5,000 tables', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-wide-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  describe('SQLite', () => {
    let connection: SqliteConnection;

    beforeAll(async () => {
      const file = join(folder, 'wide.db');
      const database = new DatabaseSync(file);
      database.exec(`BEGIN; ${CREATED.join('')} COMMIT`);
      database.close();
      connection = await SqliteConnection.open({ file, access: 'read', busyTimeoutMs: 200, recover: false }, NEVER);
    });

    afterAll(() => connection.destroy());

    readsWideSchemas(() => ({
      introspection: sqliteIntrospection,
      statistics: sqliteStatistics,
      connection,
      namespace: [],
      remarks: null,
      queries: { columns: 1, statistics: 2 },
    }));
  });

  describe('DuckDB', () => {
    let share: DuckdbShare;
    let connection: DuckdbConnection;

    beforeAll(async () => {
      const calls = new NativeCallGate(4);
      const limits = { memoryMb: 256, threads: 1, temporaryDirectory: join(folder, 'spill') };
      share = await new DuckdbInstances(limits, calls).share('wide', null, false);
      const native = await share.instance.connect();
      await native.run(`BEGIN; ${CREATED.join('')} COMMENT ON TABLE ${tableName(TABLES)} IS 'the last'; COMMIT`);
      connection = new DuckdbConnection(native, calls, () => undefined);
    }, 60_000);

    afterAll(async () => {
      await connection.close();
      share.release();
    });

    readsWideSchemas(() => ({
      introspection: duckdbIntrospection,
      statistics: duckdbStatistics,
      connection,
      namespace: ['main'],
      remarks: 'the last',
      queries: { columns: 1, statistics: 3 },
    }));
  });
});
