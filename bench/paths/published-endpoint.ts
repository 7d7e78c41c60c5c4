import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { startBareHandler } from '../limits/bare-handler.js';
import { closedLoop, medianLoad } from '../load/closed-loop.js';
import { KeepAliveClient } from '../load/keep-alive-client.js';
import { repeat } from '../load/repeat.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 16;

export const publishedEndpoint: BenchPath = {
  name: 'endpoint',
  about:
    'a published endpoint returning 10 rows, against bare Fastify + pg with the same SELECT, 2 INSERTs and 1 UPDATE',
  async measure({ author, admin, server, sourceUrl }, options) {
    await benchRows(sourceUrl, 1000);
    const body = `SELECT ${COLUMNS} FROM bench_rows WHERE id BETWEEN 1 AND 10 ORDER BY id`;
    await releasedTemplate(author, 'bench/endpoint/rows.sql', 'POSTGRES', body);
    const template = { id: 'bench/endpoint/rows.sql', version: 1 };
    await releasedPipeline(author, 'bench/endpoint/run', [
      { id: 'read', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
    ]);
    await author.data('POST', '/api/v1/endpoints', { path: '/bench/rows', pipeline: 'bench/endpoint/run' });
    const { key } = await admin.data('POST', '/api/v1/auth/api-keys', {
      name: 'bench endpoint',
      kind: 'endpoint',
      bindings: ['/bench'],
    });
    const bare = await startBareHandler(sourceUrl);
    const client = new KeepAliveClient(server.baseUrl, CLIENTS);
    const handler = new KeepAliveClient(bare.baseUrl, CLIENTS);
    const call = { method: 'GET', path: '/api/x/bench/rows', headers: { 'DP-API-Key': key as string } };
    try {
      const turns = await repeat(options.runs, async () => ({
        product: await closedLoop(CLIENTS, options.seconds, () => client.send(call)),
        bare: await closedLoop(CLIENTS, options.seconds / 2, () => handler.send({ method: 'GET', path: '/rows' })),
      }));
      const product = medianLoad(turns.map((turn) => turn.product));
      return [
        {
          path: 'published endpoint, 10 rows, 16 clients',
          unit: 'calls/s',
          better: 'higher',
          value: product.perSecond,
          limit: {
            what: 'bare Fastify + pg, SELECT + 2 INSERT + UPDATE',
            value: medianLoad(turns.map((turn) => turn.bare)).perSecond,
          },
          asked: { of: 'ratio', good: 0.25, great: 0.6 },
          note: `p50 ${product.p50.toFixed(0)} ms, p99 ${product.p99.toFixed(0)} ms`,
        },
      ];
    } finally {
      client.close();
      handler.close();
      await bare.stop();
    }
  },
};
