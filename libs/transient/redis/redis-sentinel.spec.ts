import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../../test/fixtures/eventually.js';
import { describeWithProgram } from '../../../test/fixtures/programs.js';
import { startGuardedRedis, type GuardedRedis } from '../../../test/fixtures/redis-sentinel.js';
import type { TestRedis } from '../../../test/fixtures/redis.js';
import { RedisTransientStore } from './redis-transient-store.js';

describeWithProgram('redis-server', 'the store behind Sentinels', (program) => {
  let guarded: GuardedRedis;
  const problems: string[] = [];
  const open = (url: string) => RedisTransientStore.open({ url, onProblem: (what) => void problems.push(what) });

  beforeAll(async () => {
    guarded = await startGuardedRedis(program);
  });

  afterAll(async () => {
    await guarded?.stop();
  });

  it('finds the Redis in charge although one Sentinel does not answer, and the next one when that is lost', async () => {
    const store = await open(guarded.url);
    const heard: string[] = [];
    const unsubscribe = await store.subscribe('dp:test', (text) => void heard.push(text));
    await store.requestCancel('before', 'cancelled', 600);
    expect(await guarded.first.client.dbsize()).toBe(1);
    expect(store.server).toEqual(addressOf(guarded.first));

    await guarded.first.kill();

    await eventually('the store writes to the one that followed', () =>
      done(store.requestCancel('after', 'cancelled', 600)),
    );
    expect(await guarded.second.client.keys('*after*')).toHaveLength(1);
    expect(store.server).toEqual(addressOf(guarded.second));
    await eventually('the subscription leads there too', async () => {
      await store.publish('dp:test', 'still heard');
      return heard.includes('still heard');
    });
    expect(problems.length).toBeLessThanOrEqual(2);
    await unsubscribe();
    await store.close();
  });

  it('refuses to boot, with the Sentinels and without a password, where they do not know the name', async () => {
    const url = guarded.url.replace('#penstock', '#other').replace('of-both', 'planted-secret');
    const failure = (await open(url).catch((error: unknown) => error)) as Error & { details: unknown };
    expect(failure).toMatchObject({ code: 'internal', details: { reason: 'redis_unreachable', master: 'other' } });
    expect(failure.message).toContain('127.0.0.1:1, 127.0.0.1:');
    expect(`${failure.message} ${JSON.stringify(failure.details)}`).not.toContain('planted-secret');
  });
});

/** A store without a connection refuses at once. */
function done(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  );
}

function addressOf({ url }: TestRedis): { host: string; port: number } {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}
