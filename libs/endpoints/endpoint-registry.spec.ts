import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { SilentLogger } from '#libs/kernel';
import type { Database } from '#libs/persistence';
import { InvalidationBus, MemoryTransientStore } from '#libs/transient';
import { EndpointRegistry } from './endpoint-registry.js';
import type { KeyBindingRepository } from './key-binding.repository.js';
import type { PublishedEndpointRow } from './published-endpoint.js';

const STARTED = Date.parse('2026-02-28T23:59:45.000Z');

let row: Partial<PublishedEndpointRow>;
let reads: number;
let database: { query: () => Promise<Partial<PublishedEndpointRow>[]> };
let passed: number;
let store: MemoryTransientStore;
let registry: EndpointRegistry;
let neighbour: InvalidationBus;

beforeEach(async () => {
  row = { id: 'e', workspace_id: 'w', workspace_active: true, path_pattern: '/rows', is_enabled: true };
  [reads, passed] = [0, 0];
  database = { query: () => Promise.resolve((reads++, [{ ...row }])) };
  store = new MemoryTransientStore({ maxBytes: 1 << 20 });
  neighbour = new InvalidationBus(store, new SilentLogger());
  const bus = new InvalidationBus(store, new SilentLogger());
  await bus.start();
  registry = new EndpointRegistry(
    database as unknown as Database,
    { all: () => Promise.resolve([]) } as unknown as KeyBindingRepository,
    bus,
    { now: () => new Date(STARTED + passed) },
  );
  registry.onApplicationBootstrap();
});

afterEach(async () => {
  registry.onApplicationShutdown();
  await store.close();
});

/** The message arrives in a turn of its own. */
async function tell(kind: string): Promise<void> {
  await neighbour.publish({ kind, id: '*' });
  await setImmediate();
}
const isServed = async () => (await registry.match('/rows')) !== undefined;

describe('what the registry remembers', () => {
  it('is read anew after half a minute, though nobody announced a change: a lost nudge is no leak for ever', async () => {
    expect(await isServed()).toBe(true);
    row.is_enabled = false;
    passed = 29_999;
    expect([await isServed(), reads]).toEqual([true, 1]);
    passed = 30_000;
    expect([await isServed(), reads]).toEqual([false, 2]);
    // Its age begins anew with that read.
    row.is_enabled = true;
    passed = 59_999;
    expect([await isServed(), reads]).toEqual([false, 2]);
    passed = 60_000;
    expect([await isServed(), reads]).toEqual([true, 3]);
  });

  it.each(['endpoint', 'workspace', 'all'] as const)(
    'is forgotten at a nudge about “%s”, not at others',
    async (kind) => {
      expect(await isServed()).toBe(true);
      row.workspace_active = false;
      await tell('datasource');
      expect([await isServed(), reads]).toEqual([true, 1]);
      await tell(kind);
      expect([await isServed(), reads]).toEqual([false, 2]);
    },
  );

  it('is not what was being read when the nudge came: those rows may be the old ones', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { query } = database;
    database.query = async () => {
      const rows = await query();
      await held;
      return rows;
    };
    const first = isServed();
    row.is_enabled = false;
    await tell('endpoint');
    release();
    await first;
    expect([await isServed(), reads]).toEqual([false, 2]);
  });

  it('is no failure: rows that could not be read are asked for again at the next call', async () => {
    const { query } = database;
    database.query = () => Promise.reject(new Error('the database is away'));
    await expect(isServed()).rejects.toThrow('the database is away');
    database.query = query;
    expect(await isServed()).toBe(true);
  });
});
