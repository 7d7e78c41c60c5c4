import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { startBareHandler } from '../limits/bare-handler.js';
import { besideLimit, type Asked } from '../load/beside-limit.js';
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
    const product: Asked = {
      baseUrl: server.baseUrl,
      call: { method: 'GET', path: '/api/x/bench/rows', headers: { 'DP-API-Key': key as string } },
    };
    const limit: Asked = { baseUrl: bare.baseUrl, call: { method: 'GET', path: '/rows' } };
    try {
      const full = await besideLimit({ clients: CLIENTS, product, limit }, options);
      const half = await besideLimit({ clients: CLIENTS / 2, product, limit }, options);
      const share = (100 * half.product.perSecond) / full.product.perSecond;
      const p99 = { unit: 'ms', better: 'lower' as const, asked: { of: 'value' as const, good: 60, great: 60 } };
      return [
        {
          path: `published endpoint, 10 rows, ${CLIENTS} clients`,
          unit: 'calls/s',
          better: 'higher',
          value: full.product.perSecond,
          limit: { what: 'bare Fastify + pg, SELECT + 2 INSERT + UPDATE', value: full.limit.perSecond },
          asked: { of: 'ratio', good: 0.25, great: 0.6 },
          note: `p50 ${full.product.p50.toFixed(0)} ms`,
        },
        {
          ...p99,
          path: `the same, p99 with ${CLIENTS} clients`,
          value: full.product.p99,
          limit: { what: 'bare Fastify + pg', value: full.limit.p99 },
        },
        {
          ...p99,
          path: `the same, p99 with ${CLIENTS / 2} clients`,
          value: half.product.p99,
          limit: { what: 'bare Fastify + pg', value: half.limit.p99 },
          note: `${share.toFixed(0)} % of the calls that ${CLIENTS} clients make`,
        },
      ];
    } finally {
      await bare.stop();
    }
  },
};
