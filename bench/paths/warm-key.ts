import { Authenticator } from '#libs/identity';
import { Database } from '#libs/persistence';
import { identityInstance, requestFacts } from '../../test/fixtures/identity.js';
import { repeat } from '../load/repeat.js';
import { median, percentile } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const REQUESTS = 5000;

export const warmKey: BenchPath = {
  name: 'auth-warm-key',
  about: 'what a request with a known API key spends on being let in, without HTTP',
  async measure({ metadataUrl, keys: [key = ''] }, options) {
    const database = await Database.open({ url: metadataUrl });
    const instance = await identityInstance({ database });
    let queries = 0;
    const query = database.query.bind(database);
    database.query = (...asked) => ((queries += 1), query(...asked));
    try {
      const authenticator = instance.get(Authenticator);
      const facts = requestFacts({ surface: 'api_key', path: '/api/v1/pipelines' });
      const turns = await repeat(options.runs, async () => {
        queries = 0;
        const spent: number[] = [];
        for (let request = 0; request < REQUESTS; request++) {
          const begun = performance.now();
          await authenticator.authenticateKey(key, facts);
          spent.push(performance.now() - begun);
        }
        return { spent, queries };
      });
      const p50 = median(turns.map(({ spent }) => median(spent)));
      const p99 = median(turns.map(({ spent }) => percentile(spent, 0.99)));
      const mean = median(turns.map(({ spent }) => spent.reduce((sum, each) => sum + each, 0) / REQUESTS));
      return [
        {
          path: 'request with a warm key, authentication, mean',
          unit: 'ms',
          better: 'lower',
          value: mean,
          asked: { of: 'value', good: 0.3, great: 0.1 },
          note: `p50 ${(p50 * 1000).toFixed(0)} µs, p99 ${p99.toFixed(2)} ms, ${median(turns.map((turn) => turn.queries))} reads of the database in ${REQUESTS} requests; 1 request in 100 writes an audit row`,
        },
      ];
    } finally {
      await instance.close();
      await database.close();
    }
  },
};
