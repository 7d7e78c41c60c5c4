import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { heapAfterCollection } from '../../test/fixtures/heap.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE, type BenchDeployment } from '../deployment.js';
import { KeepAliveClient, type Exchange } from '../load/keep-alive-client.js';
import { soak } from '../load/soak.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 16;
const STREAMS_AT_A_TIME = 20;
/** Logs of ended runs and sealed streams are let go after half a minute. */
const REST_MS = 35_000;

export const memory: BenchPath = {
  name: 'memory',
  about: 'heap left behind by 100,000 requests of three kinds, and by 1,000 event streams that were dropped',
  async measure(deployment, { quick }) {
    const { server, author, keys } = deployment;
    const [requests, drops] = quick ? [10_000, 200] : [100_000, 1000];
    await releasedTemplate(author, 'bench/memory/sleep.sql', 'POSTGRES', 'SELECT 1 AS one FROM pg_sleep(600)');
    const sleeping = await releasedPipeline(author, 'bench/memory/sleep', [
      {
        id: 'read',
        type: 'DQL',
        source: SOURCE,
        template: { id: 'bench/memory/sleep.sql', version: 1 },
        output: { target: 'caller' },
        settings: { timeout_seconds: 600, query_timeout_seconds: 600 },
      },
    ]);
    const headers = { 'DP-API-Key': keys[0]!, 'Content-Type': 'application/json' };
    const graphql = JSON.stringify({ query: '{ pipelines(first: 10) { nodes { id name owner { id } } } }' });
    const kinds: Exchange[] = [
      { method: 'GET', path: '/api/v1/pipelines?limit=10', headers },
      { method: 'GET', path: '/api/v1/executions?limit=10', headers },
      { method: 'POST', path: '/graphql', headers, body: graphql },
    ];
    const client = new KeepAliveClient(server.baseUrl, CLIENTS);
    let turn = 0;
    const one = () => client.send(kinds[turn++ % kinds.length]!);
    try {
      await soak(CLIENTS, requests / 10, one);
      const before = await heapAfterCollection(server);
      await soak(CLIENTS, requests, one);
      const between = await heapAfterCollection(server);
      await dropStreams(deployment, sleeping, drops);
      const after = await heapAfterCollection(server);
      const asked = { of: 'value' as const, good: 32, great: 8 };
      const common = { unit: 'MB', better: 'lower' as const, asked };
      return [
        {
          ...common,
          path: `heap left behind by ${requests.toLocaleString('en')} requests`,
          value: between - before,
          note: `${before.toFixed(0)} MB before, ${between.toFixed(0)} MB after`,
        },
        {
          ...common,
          path: `heap left behind by ${drops.toLocaleString('en')} dropped streams`,
          value: after - between,
          note: `${between.toFixed(0)} MB before, ${after.toFixed(0)} MB after`,
        },
      ];
    } finally {
      client.close();
    }
  },
};

/** Watches one running execution again and again, breaking the connection at the first event. */
async function dropStreams({ server, author, keys }: BenchDeployment, pipeline: string, drops: number): Promise<void> {
  const headers = { Prefer: 'respond-async' };
  const started = await author.data('POST', `/api/v1/pipelines/${pipeline}/execute`, {}, { headers });
  const { execution_id: id } = started as { execution_id: string };
  const url = `${server.baseUrl}/api/v1/executions/${id}/events`;
  await soak(STREAMS_AT_A_TIME, drops, () => dropped(url, keys[0]!));
  await author.call('DELETE', `/api/v1/executions/${id}`);
  await delay(REST_MS);
}

function dropped(url: string, key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { 'DP-API-Key': key, Accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) return reject(new TypeError(`The stream answered ${response.statusCode}.`));
      response.once('data', () => response.destroy());
      response.once('close', () => resolve());
      response.on('error', () => undefined);
    });
    sent.on('error', reject);
    sent.end();
  });
}
