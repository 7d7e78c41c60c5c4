import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SilentLogger } from '#libs/kernel';
import { ContentBus, type ContentNotice } from './content-bus.js';
import { MemoryTransientStore } from './memory/memory-transient-store.js';
import { CHANNELS } from './transient-store.js';

const PIPELINE: ContentNotice = { kind: 'pipeline', workspaceId: 'w1', id: 'p1' };

/** A transaction whose commit the test makes. */
class OpenTransaction {
  readonly #work: (() => void | Promise<void>)[] = [];
  readonly afterCommit = (work: () => void | Promise<void>) => void this.#work.push(work);

  async commit(): Promise<void> {
    for (const work of this.#work) await work();
  }
}

class ListeningLogger extends SilentLogger {
  readonly warned: string[] = [];

  override warn(message?: string): void {
    this.warned.push(message ?? '');
  }
}

describe('the bus of content', () => {
  let store: MemoryTransientStore;
  let log: ListeningLogger;
  let one: ContentBus;
  let two: ContentBus;

  beforeEach(() => {
    store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    log = new ListeningLogger();
    one = new ContentBus(store, log);
    two = new ContentBus(store, log);
  });

  afterEach(() => store.close());

  async function heard(bus: ContentBus, notice: ContentNotice): Promise<{ count: number; leave: () => void }> {
    const listener = { count: 0, leave: () => undefined as void };
    listener.leave = await bus.subscribe(notice, () => (listener.count += 1));
    return listener;
  }

  async function announced(bus: ContentBus, notice: ContentNotice): Promise<void> {
    const tx = new OpenTransaction();
    bus.announce(tx, notice);
    await tx.commit();
    await delay(20);
  }

  it('wakes who watches the very thing, on this instance and on others', async () => {
    const [here, there] = [await heard(one, PIPELINE), await heard(two, PIPELINE)];
    await announced(one, PIPELINE);
    expect([here.count, there.count]).toEqual([1, 1]);
  });

  it('lets nobody hear of another workspace, another kind or another id: even that something happens is theirs', async () => {
    const others = [
      await heard(two, { ...PIPELINE, workspaceId: 'w2' }),
      await heard(two, { ...PIPELINE, kind: 'template' }),
      await heard(two, { ...PIPELINE, id: 'p2' }),
    ];
    await announced(one, PIPELINE);
    expect(others.map(({ count }) => count)).toEqual([0, 0, 0]);
  });

  it('says nothing before the commit, nor when there is none', async () => {
    const watcher = await heard(two, PIPELINE);
    one.announce(new OpenTransaction(), PIPELINE);
    await delay(20);
    expect(watcher.count).toBe(0);
  });

  it('carries no content, for whoever can listen to the store is no reader', async () => {
    const messages: string[] = [];
    await store.subscribe(CHANNELS.content, (message) => void messages.push(message));
    await announced(one, PIPELINE);
    expect(messages).toEqual(['{"v":1,"kind":"pipeline","workspace":"w1","id":"p1"}']);
  });

  it('does not wake who has left', async () => {
    const watcher = await heard(two, PIPELINE);
    watcher.leave();
    await announced(one, PIPELINE);
    expect(watcher.count).toBe(0);
  });

  it.each([
    'not json',
    'null',
    '{"v":2,"kind":"pipeline","workspace":"w1","id":"p1"}',
    '{"v":1,"kind":"user","workspace":"w1","id":"p1"}',
    '{"v":1,"kind":"pipeline","id":"p1"}',
  ])('passes over what another version or a stranger says: %s', async (message) => {
    const watcher = await heard(two, PIPELINE);
    await store.publish(CHANNELS.content, message);
    await delay(20);
    expect(watcher.count).toBe(0);
  });

  it('wakes everybody when the store comes back, for what was said meanwhile is lost', async () => {
    let ready = (): void => undefined;
    const subscribe = store.subscribe.bind(store);
    store.subscribe = (channel, onMessage, onReady) => {
      ready = onReady ?? ready;
      return subscribe(channel, onMessage, onReady);
    };
    const watchers = [await heard(two, PIPELINE), await heard(two, { ...PIPELINE, workspaceId: 'w2' })];
    const before = watchers.map(({ count }) => count);
    ready();
    expect(watchers.map(({ count }, index) => count - before[index]!)).toEqual([1, 1]);
  });

  it('fails no act when the store is away, and a watcher at once, so that he comes back later', async () => {
    const failing = new Error('store away');
    const subscribe = store.subscribe.bind(store);
    store.publish = () => Promise.reject(failing);
    await announced(one, PIPELINE);
    expect(log.warned).toEqual(['A change of content was not announced.']);
    store.subscribe = () => Promise.reject(failing);
    await expect(two.subscribe(PIPELINE, () => undefined)).rejects.toBe(failing);
    store.subscribe = subscribe;
    await expect(two.subscribe(PIPELINE, () => undefined)).resolves.toBeInstanceOf(Function);
  });
});
