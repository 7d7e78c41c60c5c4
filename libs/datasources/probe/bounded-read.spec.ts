import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DriverFailure } from '../drivers/driver-failure.js';
import { NEVER } from '../drivers/driver.fixture.js';
import { SqliteConnection } from '../drivers/sqlite/connection.js';
import { readBounded } from './bounded-read.js';

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
const MANY = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n';

describe('a bounded read', () => {
  let folder: string;
  let connection: SqliteConnection;
  const bounds = { maxRows: 50, maxBytes: 100_000, timeoutMs: 10_000, signal: NEVER };
  const read = async (sql: string, changed: Partial<typeof bounds> = {}) =>
    await readBounded(connection, { sql, values: [] }, { ...bounds, ...changed });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-probe-'));
    const database = new DatabaseSync(join(folder, 'data.db'));
    database.exec('CREATE TABLE t (a INTEGER)');
    database.close();
  });

  beforeEach(async () => {
    const file = join(folder, 'data.db');
    connection = await SqliteConnection.open({ file, access: 'read', busyTimeoutMs: 200, recover: true }, NEVER);
  });

  afterEach(() => connection.destroy());
  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives no more rows than asked for, and says there were more', async () => {
    const { rows, truncated } = await read(MANY, { maxRows: 3 });
    expect({ rows, truncated }).toEqual({ rows: ['["1"]', '["2"]', '["3"]'], truncated: true });
  });

  it('does not claim more rows when the last one fills the bound exactly', async () => {
    expect(await read(MANY, { maxRows: 5000 })).toMatchObject({ truncated: false });
    expect(await read('SELECT a FROM t')).toMatchObject({ rows: [], truncated: false });
  });

  it('stops at the byte bound, even inside the first row', async () => {
    expect(await read("SELECT printf('%.*c', 500, 'x') AS wide", { maxBytes: 100 })).toMatchObject({
      rows: [],
      truncated: true,
    });
  });

  it('ends a query that would never end, and says how long it took', async () => {
    await expect(read(ENDLESS, { timeoutMs: 150 })).rejects.toMatchObject({
      code: 'pipeline.node.query_timeout',
      details: { wall_ms: expect.any(Number) },
    });
  });

  it("tells the caller's own stop from a spent budget", async () => {
    const stop = new AbortController();
    const reading = read(ENDLESS, { signal: stop.signal });
    stop.abort();
    await expect(reading).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it.each(['INSERT INTO t VALUES (1)', 'DELETE FROM t', 'PRAGMA user_version = 7', "ATTACH 'x.db' AS x"])(
    'is refused by the engine itself when the classifier is not asked: %s',
    async (sql) => {
      await expect(read(sql)).rejects.toBeInstanceOf(DriverFailure);
      expect(await read('SELECT count(*) AS n FROM t')).toMatchObject({ rows: ['["0"]'] });
    },
  );
});
