import pg from 'pg';
import { repeat } from '../load/repeat.js';
import { introspected, LISTED, TABLES, withManyTables } from '../many-tables.js';
import type { Measurement } from '../measurement.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const SCHEMA = 'wide';
/** What a listing has to ask of the catalog, and no more. */
const BARE_TABLES = `
  SELECT n.nspname, c.relname, c.relkind, obj_description(c.oid, 'pg_class')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = '${SCHEMA}' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1, 2 LIMIT ${LISTED + 1}`;
const BARE_COLUMNS = `
  SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, col_description(a.attrelid, a.attnum)
    FROM pg_attribute a WHERE a.attrelid = '${SCHEMA}.t${TABLES}'::regclass AND a.attnum > 0 ORDER BY a.attnum`;

export const introspection: BenchPath = {
  name: 'introspect-5000',
  about: 'tables of a schema that has 5,000 of them, and the columns of one, live from the catalog',
  async measure({ author, sourceUrl }, options) {
    return await withManyTables(sourceUrl, SCHEMA, async () => {
      const timed = (work: () => Promise<number>): Promise<number> => repeat(options.runs * 3, work).then(median);
      const client = new pg.Client({ connectionString: sourceUrl });
      await client.connect();
      try {
        const bare = (sql: string) => async (): Promise<number> => {
          const begun = performance.now();
          await client.query(sql);
          return performance.now() - begun;
        };
        const row = (path: string, value: number, limit: number, good: number): Measurement => {
          const limits = { what: 'the same question with bare pg', value: limit };
          return {
            path,
            unit: 'ms',
            better: 'lower',
            value,
            limit: limits,
            asked: { of: 'value', good, great: good / 2 },
          };
        };
        const tables = await timed(() => introspected(author, `tables?namespace=${SCHEMA}`));
        const columns = await timed(() => introspected(author, `tables/t${TABLES}/columns?namespace=${SCHEMA}`));
        return [
          row(
            `tables of a schema, ${LISTED.toLocaleString('en')} of ${TABLES.toLocaleString('en')}, p50`,
            tables,
            await timed(bare(BARE_TABLES)),
            150,
          ),
          row('columns of one of them, p50', columns, await timed(bare(BARE_COLUMNS)), 40),
        ];
      } finally {
        await client.end();
      }
    });
  },
};
