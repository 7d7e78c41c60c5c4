import { heapAfterCollection } from '../../test/fixtures/heap.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { KeepAliveClient, type Exchange } from '../load/keep-alive-client.js';
import { median } from '../statistics.js';
import { soak } from '../load/soak.js';
import type { BenchPath } from './bench-path.js';

const READS = 200;
const CLIENTS = 8;
const SOAK_CALLS = 10_000;

export const mcp: BenchPath = {
  name: 'mcp',
  about:
    'tools/list, a reading tool beside the same read over REST, and memory over 10,000 stateless calls; --quick: 2,000',
  async measure({ author, server, keys }, options) {
    await releasedTemplate(author, 'bench/mcp/one.sql', 'POSTGRES', 'SELECT 1 AS one');
    const template = { id: 'bench/mcp/one.sql', version: 1 };
    const id = await releasedPipeline(author, 'bench/mcp/run', [{ id: 'read', type: 'DQL', source: SOURCE, template }]);
    const key = keys[0]!;
    const list = call(key, 'tools/list');
    const tool = call(key, 'tools/call', { name: 'pipelines_get', arguments: { id } });
    const rest: Exchange = { method: 'GET', path: `/api/v1/pipelines/${id}`, headers: { 'DP-API-Key': key } };
    const client = new KeepAliveClient(server.baseUrl, CLIENTS);
    try {
      const times = { list: [] as number[], tool: [] as number[], rest: [] as number[] };
      for (let read = -30; read < READS; read += 1) {
        for (const [name, exchange] of [['list', list], ['tool', tool], ['rest', rest]] as const) {
          const begun = performance.now();
          await client.send(exchange);
          if (read >= 0) times[name].push(performance.now() - begun);
        }
      } // prettier-ignore
      const p50 = { list: median(times.list), tool: median(times.tool), rest: median(times.rest) };
      const calls = options.quick ? SOAK_CALLS / 5 : SOAK_CALLS;
      await soak(CLIENTS, calls / 5, () => client.send(tool));
      const before = await heapAfterCollection(server);
      await soak(CLIENTS, calls, () => client.send(tool));
      const after = await heapAfterCollection(server);
      return [
        {
          path: 'MCP tools/list, p50',
          unit: 'ms',
          better: 'lower',
          value: p50.list,
          asked: { of: 'value', good: 10, great: 3 },
        },
        {
          path: 'MCP reading tool over the same REST call, p50',
          unit: 'ms',
          better: 'lower',
          value: p50.tool - p50.rest,
          asked: { of: 'value', good: 15, great: 3 },
          note: `pipelines_get ${p50.tool.toFixed(1)}, GET ${p50.rest.toFixed(1)} ms`,
        },
        {
          path: `heap left behind by ${calls.toLocaleString('en')} stateless MCP calls`,
          unit: 'MB',
          better: 'lower',
          value: Math.max(0, after - before),
          asked: { of: 'value', good: 32, great: 8 },
          note: `${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`,
        },
      ];
    } finally {
      client.close();
    }
  },
};

function call(key: string, method: string, params?: object): Exchange {
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      'DP-API-Key': key,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  };
}
