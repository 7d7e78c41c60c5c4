import pg from 'pg';
import type { ApiClient } from '../test/fixtures/api-client.js';
import { SOURCE } from './deployment.js';

export const TABLES = 5000;
/** A listing gives so many at most (06 §8). */
export const LISTED = 2000;

/** Schema `name` with 5,000 tables in the source for as long as `work` takes. */
export async function withManyTables<T>(sourceUrl: string, name: string, work: () => Promise<T>): Promise<T> {
  const table = `'${name}.t' || i`;
  await runSql(sourceUrl, `CREATE SCHEMA ${name}`);
  try {
    await runSql(
      sourceUrl,
      everyTable(`'CREATE TABLE ' || ${table} || ' (id int8, amount numeric(12,2), label text)'`),
    );
    await runSql(sourceUrl, 'ANALYZE pg_catalog.pg_class');
    return await work();
  } finally {
    await runSql(sourceUrl, everyTable(`'DROP TABLE IF EXISTS ' || ${table}`));
    await runSql(sourceUrl, `DROP SCHEMA ${name}`);
  }
}

/** A statement for each table, in transactions small enough for the server's table of locks. */
function everyTable(statement: string): string {
  return `DO $$ BEGIN FOR i IN 1..${TABLES} LOOP
            EXECUTE ${statement}; IF i % 500 = 0 THEN COMMIT; END IF; END LOOP; END $$`;
}

/**
 * How long one read of the source's catalog over REST takes until its last byte, in ms. The answer is not parsed: a
 * megabyte of it costs a client that keeps every digit more than it costs the server.
 */
export async function introspected(author: ApiClient, path: string): Promise<number> {
  const begun = performance.now();
  const answer = await author.fetch('GET', `/api/v1/datasources/${SOURCE}/${path}`);
  const text = await answer.text();
  const elapsed = performance.now() - begun;
  if (answer.status !== 200) throw new TypeError(`the catalog is refused: ${text.slice(0, 2000)}`);
  return elapsed;
}

export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
