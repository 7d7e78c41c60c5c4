import { SOURCE } from '../deployment.js';
import { repeat } from '../load/repeat.js';
import { introspected, LISTED, runSql, TABLES, withManyTables } from '../many-tables.js';
import type { Measurement } from '../measurement.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

export const factsListing: BenchPath = {
  name: 'facts-5000',
  about: 'listing the tables of a datasource that has 5,000 of them and a fact about each, facts inline',
  async measure({ author, postgres, redis, sourceUrl }, options) {
    // The facts are written straight into the metadata database: recording each would read the catalog 5,000 times.
    if (!redis)
      throw new TypeError('facts-5000 needs redis-server: without it the metadata database is the server’s own.');
    const measured = withManyTables<Measurement[]>(sourceUrl, 'facts', async () => {
      const times = (): Promise<number[]> => repeat(options.runs * 3, () => introspected(author, 'tables'));
      const bare = median(await times());
      await runSql(
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
    });
    return await measured.finally(() =>
      runSql(postgres.url, `DELETE FROM learned_facts WHERE datasource_name = '${SOURCE}'`),
    );
  },
};
