import { describe, expect, it } from '@jest/globals';
import { MessageChannel } from 'node:worker_threads';
import { Clock } from '#libs/kernel';
import { storeContract } from '../../../test/fixtures/transient-store-contract.js';
import { MemoryTransientStore } from '../memory/memory-transient-store.js';
import { transientStoreOver } from './port-transient-store.js';
import { serveTransientStore } from './serve-transient-store.js';

class HandClock extends Clock {
  ms = Date.parse('2026-03-01T12:00:00Z');

  now(): Date {
    return new Date(this.ms);
  }
}

describe('the store of another thread keeps the contract', () => {
  storeContract(() => {
    const { port1, port2 } = new MessageChannel();
    const clock = new HandClock();
    const memory = new MemoryTransientStore({ maxBytes: 1 << 26, clock });
    const end = serveTransientStore(port1, memory);
    const store = transientStoreOver(port2);
    return Promise.resolve({
      store,
      pass: (milliseconds: number) => Promise.resolve(void (clock.ms += milliseconds)),
      close: async () => {
        await store.close();
        await end();
        await memory.close();
      },
    });
  });
});

describe('the store of a thread that is gone', () => {
  it('is unavailable, for what waits and for what comes later', async () => {
    const { port1, port2 } = new MessageChannel();
    const store = transientStoreOver(port2);
    const waiting = store.hasWatcher('e');
    port1.close();
    await expect(waiting).rejects.toMatchObject({ name: 'TransientUnavailable', reason: 'down' });
    await expect(store.hasWatcher('e')).rejects.toMatchObject({ reason: 'down' });
  });
});
