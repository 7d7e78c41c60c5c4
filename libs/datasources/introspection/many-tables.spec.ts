import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { NEVER } from '../drivers/driver.fixture.js';
import type { PostgresConnection } from '../drivers/postgres/connection.js';
import { postgresIntrospection } from '../drivers/postgres/introspection.js';
import { PostgresBench } from '../drivers/postgres/postgres.fixture.js';

const TABLES = 5000;

describe('a schema of 5,000 tables', () => {
  let bench: PostgresBench;
  let connection: PostgresConnection;
  let queries: number;

  const query = async (sql: string, values: readonly unknown[]): Promise<(string | null)[][]> => {
    queries += 1;
    return await connection.catalog({ sql, values }, NEVER);
  };

  beforeAll(async () => {
    bench = await PostgresBench.create();
    connection = await bench.connect();
    // In parts: one transaction holds a lock per table.
    for (let from = 1; from <= TABLES; from += 500) {
      await connection.control(`DO $$ BEGIN FOR i IN ${from}..${from + 499} LOOP
        EXECUTE format('CREATE TABLE t_%s (id int, customer text)', lpad(i::text, 5, '0')); END LOOP; END $$`);
    }
  }, 90_000);

  afterAll(() => bench?.close());

  it('is listed in one query however many tables it has, cut at what was asked for', async () => {
    queries = 0;
    const all = await postgresIntrospection.tables(query, { namespace: ['public'], include: [] }, TABLES + 1);
    expect([all.length, all[0]?.name, all.at(-1)?.name, queries]).toEqual([TABLES, 't_00001', 't_05000', 1]);
    queries = 0;
    const some = await postgresIntrospection.tables(query, { namespace: null, include: [] }, 2001);
    expect([some.length, queries]).toEqual([2001, 1]);
  });

  it('finds one table among them by its name, without reading the others: also one behind the last that a list would hold', async () => {
    queries = 0;
    const place = { namespace: ['public'], include: [] };
    for (const name of ['t_00001', 't_05000']) {
      const found = await postgresIntrospection.tables(query, { ...place, name }, 1);
      expect(found.map((table) => table.name)).toEqual([name]);
    }
    for (const name of ['T_00001', 't_0000_', 't%', '', 't_05001']) {
      expect(await postgresIntrospection.tables(query, { ...place, name }, 1)).toEqual([]);
    }
    expect(queries).toBe(7);
  });

  it('tells the columns of one table in one query, without a look at the others', async () => {
    queries = 0;
    const table = { namespace: ['public'], name: 't_04999', type: 'TABLE', remarks: null };
    const columns = await postgresIntrospection.columns(query, table);
    expect([columns.map(({ name }) => name), queries]).toEqual([['id', 'customer'], 1]);
  });
});
