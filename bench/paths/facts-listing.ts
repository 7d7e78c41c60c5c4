import pg from 'pg';
import type { ApiClient } from '../../test/fixtures/api-client.js';
import { SOURCE } from '../deployment.js';
import { repeat } from '../load/repeat.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const TABLES = 5000;
/** A listing gives so many at most (06 §8). */
const LISTED = 2000;

export const factsListing: BenchPath = {
  name: 'facts-5000',
  about: 'listing the tables of a datasource that has 5,000 of them and a fact about each, facts inline',
  async measure({ author, postgres, redis, sourceUrl }, options) {
    // The facts are written straight into the metadata database: recording each would read the catalog 5,000 times.
    if (!redis)
      throw new TypeError('facts-5000 needs redis-server: without it the metadata database is the server’s own.');
    await run(sourceUrl, 'CREATE SCHEMA facts');
    await run(sourceUrl, everyTable(`format('CREATE TABLE facts.t%s (id int8, amount numeric(12,2), label text)', i)`));
    await run(sourceUrl, 'ANALYZE pg_catalog.pg_class');
    try {
      const times = (): Promise<number[]> => repeat(options.runs * 3, () => listing(author));
      const bare = median(await times());
      await run(
        postgres.url,
        `INSERT INTO learned_facts (id, scope, datasource_name, kind, fact, refs_json, evidence_summary, trust,
                                    schema_fingerprint, recorded_by, recorded_via, recorded_in)
         SELECT gen_random_uuid(), 'DATASOURCE', '${SOURCE}', 'grain',
                'one row of t' || i || ' is one delivery; amounts are in euro, and rows of one day come by noon of the next',
                jsonb_build_array(jsonb_build_object('schema', 'facts', 'table', 't' || i)), 'rows=' || i, 'observed',
                'facts.t' || i || '=' || repeat('0', 64), m.user_id, 'session', m.workspace_id
           FROM generate_series(1, ${TABLES}) i,
                (SELECT user_id, workspace_id FROM workspace_members WHERE workspace_id =
                   (SELECT id FROM workspaces WHERE name = 'default') LIMIT 1) m;
         ANALYZE learned_facts`,
      );
      const withFacts = median(await times());
      return [
        {
          path: `tables listing, ${LISTED.toLocaleString('en')} of ${TABLES.toLocaleString('en')} with facts inline, p50`,
          unit: 'ms',
          better: 'lower',
          value: withFacts,
          limit: { what: 'the same without facts', value: bare },
          asked: { of: 'value', good: 150, great: 75 },
        },
      ];
    } finally {
      await run(postgres.url, `DELETE FROM learned_facts WHERE datasource_name = '${SOURCE}'`);
      await run(sourceUrl, everyTable(`format('DROP TABLE facts.t%s', i)`));
      await run(sourceUrl, 'DROP SCHEMA facts');
    }
  },
};

/** A statement for each table, in transactions small enough for the server's table of locks. */
function everyTable(statement: string): string {
  return `DO $$ BEGIN FOR i IN 1..${TABLES} LOOP
            EXECUTE ${statement}; IF i % 500 = 0 THEN COMMIT; END IF; END LOOP; END $$`;
}

async function listing(author: ApiClient): Promise<number> {
  const begun = performance.now();
  const answer = await author.call('GET', `/api/v1/datasources/${SOURCE}/tables`);
  const elapsed = performance.now() - begun;
  if (answer.status !== 200) throw new TypeError(`the listing is refused: ${answer.text.slice(0, 2000)}`);
  return elapsed;
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
