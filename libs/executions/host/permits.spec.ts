import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { NodePermits } from '../scheduling/permit-board.js';
import { RemotePermits } from './remote-permits.js';
import { ServedPermits } from './serve-permits.js';

const never = new AbortController().signal;

describe('permits kept for threads', () => {
  let served: ServedPermits;
  let ports: MessagePort[];

  beforeEach(() => {
    served = new ServedPermits();
    ports = [];
  });

  afterEach(() => ports.forEach((port) => port.close()));

  const thread = (poolSize = 1, connectionTimeoutMs = 10_000) => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    served.serve(port1);
    const permits = new RemotePermits(port2);
    permits.judgeBy({ poolSize: () => poolSize, connectionTimeoutMs: () => connectionTimeoutMs });
    return { permits, port: port2 };
  };

  const state = (promise: Promise<unknown>) => Promise.race([promise.then(() => 'granted'), delay(50, 'waits')]);

  it('count a datasource over all threads, and give a freed one to whoever waits', async () => {
    const [one, other] = [thread(), thread()];
    const held = await one.permits.take(new NodePermits(4), ['pg'], never);
    const waiting = other.permits.take(new NodePermits(4), ['pg'], never);
    expect(await state(waiting)).toBe('waits');
    held.release();
    held.release();
    (await waiting).release();
    (await one.permits.take(new NodePermits(4), ['pg'], never)).release();
    expect(served.waiting).toBe(0);
  });

  it('bound the nodes of a run, each set by itself', async () => {
    const { permits } = thread(9);
    const mine = new NodePermits(1);
    const held = await permits.take(mine, [], never);
    const next = permits.take(mine, [], never);
    expect(await state(next)).toBe('waits');
    (await permits.take(new NodePermits(1), [], never)).release();
    held.release();
    (await next).release();
  });

  it('refuse with the code of the contract, and let go who gives up', async () => {
    const { permits } = thread(1, 30);
    const held = await permits.take(new NodePermits(4), ['pg'], never);
    await expect(permits.take(new NodePermits(4), ['pg'], never)).rejects.toMatchObject({
      code: 'pipeline.node.datasource_connection_failed',
      details: { datasource: 'pg', reason: 'pool_exhausted' },
    });
    const stop = new AbortController();
    const given = thread(1, 10_000).permits.take(new NodePermits(4), ['pg'], stop.signal);
    stop.abort(new Error('stop'));
    await expect(given).rejects.toThrow('stop');
    held.release();
    await delay(20);
    expect(served.waiting).toBe(0);
  });

  it('are free again when the thread that held them is gone', async () => {
    const [dying, living] = [thread(), thread()];
    await dying.permits.take(new NodePermits(4), ['pg'], never);
    const waiting = living.permits.take(new NodePermits(4), ['pg'], never);
    dying.port.close();
    (await waiting).release();
  });

  it('are not used while the thread does not know whether its runs are still its own', async () => {
    const { permits } = thread();
    permits.pause();
    const waiting = permits.take(new NodePermits(1), ['pg'], never);
    expect(await state(waiting)).toBe('waits');
    permits.resume();
    (await waiting).release();
  });
});
