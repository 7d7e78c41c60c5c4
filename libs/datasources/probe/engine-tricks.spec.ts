import { beforeAll, describe, expect, it } from '@jest/globals';

import { DriverFailure } from '../drivers/driver-failure.js';
import { NEVER } from '../drivers/driver.fixture.js';
import { ENGINES, engineScene, type Engine } from '../engines.fixture.js';
import { readBounded } from './bounded-read.js';
import { WRITING_TRICKS } from '../../../test/fixtures/probe-tricks.js';

const DIALECT_OF = { pg: 'POSTGRES', lite: 'SQLITE', duck: 'DUCKDB' } as const;
const TABLES: Readonly<Record<Engine, string>> = {
  pg: `SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relkind IN ('r', 'S') AND relnamespace = 'public'::regnamespace`,
  lite: 'SELECT group_concat(name) FROM sqlite_schema',
  duck: `SELECT string_agg(table_name, ',' ORDER BY table_name) FROM duckdb_tables()`,
};

/* The second gate: the words are not looked at here. */
describe('an engine that is asked to write where it is leased for reading', () => {
  const scene = engineScene();
  const bounds = { maxRows: 5, maxBytes: 10_000, timeoutMs: 10_000, signal: NEVER };

  beforeAll(async () => {
    await scene.onPostgres('CREATE SEQUENCE IF NOT EXISTS numbers');
  });

  const read = async (name: Engine, sql: string): Promise<{ rows: string[] }> => {
    const lease = await scene.bench.pools.lease(name, 'read', NEVER);
    let outcome: 'ok' | 'destroy' = 'destroy';
    try {
      const rows = await readBounded(lease, { sql, values: [] }, bounds);
      outcome = 'ok';
      return rows;
    } finally {
      await lease.release(outcome);
    }
  };

  it.each(ENGINES)('refuses it on %s, and everything stays as it is', async (name) => {
    const state = async () => [
      (await read(name, 'SELECT count(*), sum(id) FROM orders')).rows,
      (await read(name, TABLES[name])).rows,
      name === 'pg' ? await scene.onPostgres('SELECT last_value::text, is_called::text FROM numbers') : [],
    ];
    const before = await state();
    const taken: string[] = [];
    for (const sql of WRITING_TRICKS[DIALECT_OF[name]]) {
      const refused = await read(name, sql).then(
        () => false,
        (error: unknown) => error instanceof DriverFailure,
      );
      if (!refused) taken.push(sql);
      expect([sql, await state()]).toEqual([sql, before]);
    }
    expect(taken).toEqual([]);
  });
});
