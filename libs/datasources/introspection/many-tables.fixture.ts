import { expect, it } from '@jest/globals';

import { NEVER } from '../drivers/driver.fixture.js';
import type { DriverConnection } from '../drivers/driver.js';
import type { StatisticsReading } from '../statistics/statistics.js';
import type { Introspection } from './introspection.js';

export const TABLES = 5000;

/** Names as they are padded: `t_00001` to `t_05000`, each `(id …, customer …)`. */
export const tableName = (number: number): string => `t_${String(number).padStart(5, '0')}`;

export interface WideSchema {
  introspection: Introspection;
  statistics: StatisticsReading;
  connection: DriverConnection;
  /** Where the 5,000 are, and nothing else. */
  namespace: readonly string[];
  /** Of the last one, where the engine keeps comments. */
  remarks: string | null;
  /** Catalog queries for the columns of a table, and for what is known of its sizes: no more for 5,000 than for one. */
  queries: { columns: number; statistics: number };
}

/** The size of a schema is no reason to ask more often, or to look at tables that nobody asked for. */
export function readsWideSchemas(schema: () => WideSchema, count = TABLES): void {
  const shown = count.toLocaleString('en');
  let queries = 0;
  const query = async (sql: string, values: readonly unknown[]): Promise<(string | null)[][]> => {
    queries += 1;
    return await schema().connection.catalog({ sql, values }, NEVER);
  };
  const counted = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    queries = 0;
    return [await work(), queries];
  };

  it(`${shown} tables are listed in one query, with their comments, cut at what was asked for`, async () => {
    const { introspection, namespace, remarks } = schema();
    const [all, asked] = await counted(() => introspection.tables(query, { namespace, include: [] }, count + 1));
    expect([all.length, all[0]?.name, all.at(-1)?.name, asked]).toEqual([count, tableName(1), tableName(count), 1]);
    expect(all.at(-1)?.remarks).toBe(remarks);
    const [some, again] = await counted(() => introspection.tables(query, { namespace: null, include: [] }, count / 2));
    expect([some.length, again]).toEqual([count / 2, 1]);
  });

  it(`one of ${shown} tables is found by its exact name in one query, wherever a list would end`, async () => {
    const { introspection, namespace } = schema();
    for (const name of [tableName(1), tableName(count)]) {
      const [found, asked] = await counted(() => introspection.tables(query, { namespace, include: [], name }, 1));
      expect([found.map((table) => table.name), asked]).toEqual([[name], 1]);
    }
    for (const name of ['T_00001', 't_0000_', 't%', '', 't_05001']) {
      expect(await introspection.tables(query, { namespace, include: [], name }, 1)).toEqual([]);
    }
  });

  it(`columns, keys and sizes of one of ${shown} tables take as many queries as those of any`, async () => {
    const { introspection, statistics, namespace, queries: few } = schema();
    const table = { namespace, name: tableName(count - 1), type: 'TABLE', remarks: null };
    const [columns, asked] = await counted(() => introspection.columns(query, table));
    expect([columns.map(({ name }) => name), asked]).toEqual([['id', 'customer'], few.columns]);
    const [known, more] = await counted(() => statistics(query, table, columns));
    expect([known.columns.map(({ name }) => name), more]).toEqual([['id', 'customer'], few.statistics]);
  });
}
