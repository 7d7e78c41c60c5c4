import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock, newId } from '#libs/kernel';
import { storeContract } from '../../../test/fixtures/transient-store-contract.js';
import { MemoryTransientStore } from './memory-transient-store.js';

const OPEN = { ttlSeconds: 60, sealed: false };

class HandClock extends Clock {
  ms = Date.parse('2026-03-01T12:00:00Z');

  now(): Date {
    return new Date(this.ms);
  }
}

describe('the store in memory keeps the contract', () => {
  storeContract(async () => {
    const clock = new HandClock();
    const store = new MemoryTransientStore({ maxBytes: 10_000_000, clock });
    return {
      store,
      pass: async (milliseconds) => {
        clock.ms += milliseconds;
      },
      close: () => store.close(),
    };
  });
});

describe('the store in memory is bounded', () => {
  const MAX = 100_000;
  const clock = new HandClock();
  let store: MemoryTransientStore;

  beforeEach(() => {
    store = new MemoryTransientStore({ maxBytes: MAX, clock });
  });

  afterEach(() => store.close());

  const fill = async (id: string) => {
    await store.beginResult(id, 60);
    let index = 0;
    for (;;) {
      try {
        await store.putChunk(id, index, new Uint8Array(10_000));
        index += 1;
      } catch (error) {
        return { index, error };
      }
    }
  };

  it('refuses a write that does not fit instead of dropping what it holds', async () => {
    const id = newId();
    const { index, error } = await fill(id);
    expect(error).toMatchObject({ name: 'TransientUnavailable', reason: 'full' });
    expect(index).toBe(9);
    expect(store.bytes).toBeLessThanOrEqual(MAX);
    expect(await store.countChunks(id)).toBe(9);
    await expect(
      store.appendEvents([
        {
          executionId: newId(),
          events: [{ eventId: 1, type: 't', timestamp: 'x', payload: 'y'.repeat(20_000) }],
          ...OPEN,
        },
      ]),
    ).rejects.toMatchObject({ reason: 'full' });
    await store.publishResult(
      id,
      {
        schemaJson: '[]',
        totalRows: 0,
        bytes: 0,
        chunkStarts: Array.from({ length: 9 }, (_, i) => i),
        warningsJson: '[]',
        encoding: 'zstd',
      },
      60,
    );
  });

  it('has its room back after a discard and after an expiry', async () => {
    const id = newId();
    await fill(id);
    await store.discardResult(id);
    expect(store.bytes).toBe(0);
    await fill(newId());
    clock.ms += 61_000;
    expect((await fill(newId())).index).toBe(9);
  });

  it('counts a rewritten chunk once', async () => {
    const id = newId();
    await store.beginResult(id, 60);
    for (let time = 0; time < 50; time += 1) await store.putChunk(id, 0, new Uint8Array(10_000));
    expect(store.bytes).toBeLessThan(11_000);
  });

  it('returns to nothing when all that came went away', async () => {
    const id = newId();
    const key = { userId: newId(), key: 'k' };
    await store.claim(key, { executionId: id, requestHash: 'h' }, 60);
    await store.acquire('slots', 'u', id, 1, 60);
    await store.requestCancel(id, 'cancelled', 60);
    await store.appendEvents([
      { executionId: id, events: [{ eventId: 1, type: 't', timestamp: 'x', payload: '{}' }], ...OPEN },
    ]);
    expect(store.bytes).toBeGreaterThan(0);
    await store.release(key, id);
    await store.releaseLease('slots', 'u', id);
    await store.clearCancel(id);
    clock.ms += 61_000;
    expect(await store.readEvents(id, 0, 1)).toEqual([]);
    expect(store.bytes).toBe(0);
  });
});
