import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SilentLogger } from '#libs/kernel';
import { InvalidationBus, type Invalidation } from './invalidation-bus.js';
import { MemoryTransientStore } from './memory/memory-transient-store.js';
import { CHANNELS } from './transient-store.js';

class ListeningLogger extends SilentLogger {
  readonly warned: string[] = [];

  override warn(message?: string): void {
    this.warned.push(message ?? '');
  }
}

describe('the invalidation bus', () => {
  let store: MemoryTransientStore;
  let one: InvalidationBus;
  let two: InvalidationBus;
  let log: ListeningLogger;

  beforeEach(() => {
    store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    log = new ListeningLogger();
    one = new InvalidationBus(store, log);
    two = new InvalidationBus(store, log);
  });

  afterEach(async () => {
    await Promise.all([one.stop(), two.stop()]);
    await store.close();
  });

  const listen = (bus: InvalidationBus): Invalidation[] => {
    const heard: Invalidation[] = [];
    bus.subscribe((invalidation) => void heard.push(invalidation));
    return heard;
  };

  it('tells the other instances and not its own, which has dealt with the change already', async () => {
    const [own, other] = [listen(one), listen(two)];
    await Promise.all([one.start(), two.start()]);
    await one.publish({ kind: 'user', id: 'u1' });
    await delay(20);
    expect(own).toEqual([{ kind: 'all', id: '*' }]);
    expect(other).toEqual([
      { kind: 'all', id: '*' },
      { kind: 'user', id: 'u1' },
    ]);
  });

  it('speaks the agreed message, so that another version understands it', async () => {
    const messages: string[] = [];
    await store.subscribe(CHANNELS.invalidate, (message) => void messages.push(message));
    await one.publish({ kind: 'datasource', id: 'pg-prod' });
    await delay(20);
    expect(messages.map((message) => JSON.parse(message))).toEqual([
      { v: 1, origin: expect.any(String), kind: 'datasource', id: 'pg-prod' },
    ]);
  });

  it('passes over what it does not understand', async () => {
    const heard = listen(one);
    await one.start();
    for (const message of ['', 'nonsense', 'null', '[]', '{"v":2,"origin":"x","kind":"user","id":"1"}', '{"v":1}']) {
      await store.publish(CHANNELS.invalidate, message);
    }
    await delay(20);
    expect(heard).toEqual([{ kind: 'all', id: '*' }]);
  });

  it('does not fail the act whose message could not be sent: the row is right, others wait one cache lifetime', async () => {
    await store.close();
    await expect(one.publish({ kind: 'user', id: 'u1' })).resolves.toBeUndefined();
    expect(log.warned).toEqual(['An invalidation was not published.']);
  });

  it('is silent after its stop', async () => {
    const heard = listen(two);
    await two.start();
    await two.stop();
    await one.publish({ kind: 'user', id: 'u1' });
    await delay(20);
    expect(heard).toEqual([{ kind: 'all', id: '*' }]);
  });
});
