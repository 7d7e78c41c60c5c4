import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { KeepAliveClient, type Exchange } from '../../bench/load/keep-alive-client.js';
import { DEBUGGED, heapAfterCollection } from '../fixtures/heap.js';
import { ACCEPT } from '../fixtures/mcp.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { describeWithProgram } from '../fixtures/programs.js';

const CALLS = 10_000;
const CLIENTS = 8;
/** Half a kilobyte kept of each call would be five. */
const MOST_MB = 4;

/** Tools that do their work; some of them look into the database, far apart. The last one refuses. */
const TOOLS = [
  ['sql_probe', { name: 'shop', sql: 'SELECT region, count(*) FROM orders WHERE id > :least GROUP BY region', parameters: { least: { type: 'INTEGER', value: 1 } } }],
  ['datasources_list', {}],
  ['semantics_list', { datasource: 'shop', table: 'orders' }],
  ['pipelines_list', { q: 'shop' }],
  ['docs_list', {}],
  ['datasources_preview_rows', { name: 'shop', table: 'orders', limit: 2 }],
  ['datasources_get', { name: 'shop' }],
  ['templates_get', { id: 'shop/orders.sql' }],
  ['executions_list', {}],
  ['datasources_get', { name: 'nowhere' }],
] as const; // prettier-ignore

/** A quarter of what is sent; between them calls that cost little, of every other kind. */
const MIXED = TOOLS.flatMap(([name, given], at) => [
  ['tools/call', { name, arguments: given }] as const,
  ['ping'] as const,
  [['tools/list', 'resources/templates/list', 'prompts/list', 'ping'][at % 4]!] as const,
  ['ping'] as const,
]);

describeWithProgram('redis-server', 'a server of tools', (redis) => {
  let scene: McpScene;

  beforeAll(async () => {
    scene = await McpScene.start({ redis, env: DEBUGGED });
    const template = {
      id: 'shop/orders.sql',
      display_name: 'x',
      description: '',
      dialect: 'POSTGRES',
      body: 'SELECT 1',
    };
    await scene.tool('templates_create', { ...template, confirm_new_root: true });
    const fact = {
      scope: 'DATASOURCE',
      datasource: 'shop',
      kind: 'grain',
      fact: 'one row per order',
      refs: [{ table: 'orders' }],
    };
    await scene.tool('semantics_record', fact);
  }, 90_000);

  afterAll(async () => await scene?.stop());

  it(`keeps nothing of ${CALLS} calls that stand for themselves, a quarter of them tools at work`, async () => {
    const { server } = scene.deployment;
    const client = new KeepAliveClient(server.baseUrl, CLIENTS);
    const exchanges = MIXED.map(([method, params]): Exchange => ({
      method: 'POST',
      path: '/mcp',
      headers: { 'DP-API-Key': scene.key, 'Content-Type': 'application/json', ...ACCEPT },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })); // prettier-ignore
    const done = new Map<string, number>();
    const soak = async (calls: number): Promise<void> => {
      let next = 0;
      const one = async (): Promise<void> => {
        while (next < calls) {
          const at = next++ % MIXED.length;
          const text = await client.send(exchanges[at]!);
          const name = MIXED[at]![1]?.name;
          if (name && /"isError":false/.test(text)) done.set(name, (done.get(name) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, one));
    };
    await soak(CALLS / 10);
    const before = await heapAfterCollection(server);
    done.clear();
    await soak(CALLS);
    const kept = (await heapAfterCollection(server)) - before;
    client.close();
    expect(kept).toBeLessThan(MOST_MB);
    // Nine kinds of tools, each with a result; the tenth call is refused each time.
    const share = CALLS / MIXED.length;
    expect([done.size, [...done].filter(([, times]) => times < share * 0.5)]).toEqual([9, []]);
  }, 120_000);
});
