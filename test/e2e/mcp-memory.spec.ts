import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { KeepAliveClient, type Exchange } from '../../bench/load/keep-alive-client.js';
import { DEBUGGED, heapAfterCollection } from '../fixtures/heap.js';
import { Deployment } from '../fixtures/deployment.js';
import { ACCEPT } from '../fixtures/mcp.js';
import { describeWithProgram } from '../fixtures/programs.js';

const CALLS = 10_000;
const CLIENTS = 8;
/** A kilobyte kept of each call would be ten. */
const MOST_MB = 8;

describeWithProgram('redis-server', 'a server of tools', (redis) => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, env: DEBUGGED });
  }, 90_000);

  afterAll(async () => await deployment?.stop());

  it(`keeps nothing of ${CALLS} calls that stand for themselves`, async () => {
    const { server, authorKey } = deployment;
    const client = new KeepAliveClient(server.baseUrl, CLIENTS);
    const call = (method: string, params?: object): Exchange => ({
      method: 'POST',
      path: '/mcp',
      headers: { 'DP-API-Key': authorKey, 'Content-Type': 'application/json', ...ACCEPT },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const tool = (name: string) => call('tools/call', { name, arguments: {} });
    // Mostly what costs nothing beside the protocol: what is kept of a call is kept of any.
    const mixed = [
      tool('docs_list'),
      tool('nope'),
      call('tools/list'),
      ...Array.from({ length: 37 }, () => call('ping')),
    ];
    const soak = async (calls: number): Promise<void> => {
      let next = 0;
      const one = async (): Promise<void> => {
        while (next < calls) await client.send(mixed[next++ % mixed.length]!);
      };
      await Promise.all(Array.from({ length: CLIENTS }, one));
    };
    await soak(CALLS / 10);
    const before = await heapAfterCollection(server);
    await soak(CALLS);
    const kept = (await heapAfterCollection(server)) - before;
    client.close();
    expect(kept).toBeLessThan(MOST_MB);
  }, 120_000);
});
