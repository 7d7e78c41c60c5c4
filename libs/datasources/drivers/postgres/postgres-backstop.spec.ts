import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { cellOf, collect, eventually, NEVER } from '../driver.fixture.js';
import { PostgresBench } from './postgres.fixture.js';

describe('what PostgreSQL does when nobody is left to cancel', () => {
  let bench: PostgresBench;

  beforeAll(async () => {
    bench = await PostgresBench.create();
  });

  afterAll(async () => {
    await bench?.close();
  });

  const SLEEP = { sql: 'SELECT pg_sleep(60)', values: [] };

  it.each<[string, (connection: Awaited<ReturnType<PostgresBench['connect']>>) => Promise<unknown>]>([
    [
      'a read',
      async (connection) =>
        await collect(await connection.openCursor(SLEEP, { fetchSize: 10, signal: NEVER, backstopMs: 100 })),
    ],
    [
      'a DML',
      (connection) =>
        connection.execute(
          { sql: 'CREATE TABLE IF NOT EXISTS slow AS SELECT 1 AS n FROM pg_sleep(60)', values: [] },
          { signal: NEVER, backstopMs: 100 },
        ),
    ],
  ])('%s ends by the server’s own clock once the node’s budget and grace have passed', async (_name, work) => {
    const connection = await bench.connect();
    await expect(work(connection)).rejects.toMatchObject({ driverCode: '57014' });
    expect(await connection.reset()).toBe(true);
    expect(await cellOf(connection, `SELECT current_setting('statement_timeout')`)).toBe('"0"');
  });

  it('a write-back is bounded as a whole', async () => {
    const connection = await bench.connect();
    await connection.control('CREATE TABLE IF NOT EXISTS target (n int)');
    const columns = [{ name: 'n', type: 'INTEGER' as const }];
    const writer = await connection.beginWrite(
      { table: 'target', mode: 'append', columns, batchRows: 10 },
      { signal: NEVER, backstopMs: 100 },
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(writer.commit()).rejects.toMatchObject({ driverCode: '57014' });
  });

  it('a client that vanishes takes its statement with it, also after a session was handed on', async () => {
    const watcher = await bench.connect();
    const connection = await bench.connect();
    expect(await connection.reset()).toBe(true);
    expect(await cellOf(connection, `SELECT current_setting('client_connection_check_interval')`)).toBe('"2s"');
    const reading = connection.openCursor(SLEEP, { fetchSize: 10, signal: NEVER });
    const told = expect(reading.then((cursor) => collect(cursor))).rejects.toMatchObject({ kind: 'connection' });
    expect(await eventually(async () => (await bench.running(watcher)).length > 0)).toBe(true);
    connection.destroy();
    await told;
    expect(await eventually(async () => (await bench.running(watcher)).length === 0)).toBe(true);
  });
});
