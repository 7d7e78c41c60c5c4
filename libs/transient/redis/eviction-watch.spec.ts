import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { describeWithProgram } from '../../../test/fixtures/programs.js';
import { startRedis, type TestRedis } from '../../../test/fixtures/redis.js';
import { EvictionWatch } from './eviction-watch.js';

describeWithProgram('redis-server', 'the watch over the eviction policy', (program) => {
  let redis: TestRedis;
  let problems: string[];
  let watch: EvictionWatch;

  beforeEach(async () => {
    redis = await startRedis(program);
    problems = [];
    watch = await EvictionWatch.start(redis.client, (what) => void problems.push(what));
  });

  afterEach(async () => {
    watch.stop();
    await redis.stop();
  });

  it('is content with a Redis that keeps its keys', async () => {
    await watch.check();
    expect([watch.keepsKeys, problems]).toEqual([true, []]);
  });

  it('notices a policy that was changed under a running server, and its repair', async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'volatile-ttl');
    await watch.check();
    expect([watch.keepsKeys, problems]).toEqual([false, [expect.stringMatching(/may evict/)]]);
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await watch.check();
    expect([watch.keepsKeys, problems.length]).toEqual([true, 1]);
  });

  it('notices keys evicted between two looks, even when the policy is right again', async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-random');
    // What it holds by itself differs; with less room than that it would refuse, having nothing to evict.
    const held = Number(/^used_memory:(\d+)/m.exec(await redis.client.info('memory'))?.[1]);
    await redis.client.config('SET', 'maxmemory', String(held + 1_500_000));
    for (let index = 0; index < 30; index += 1) await redis.client.set(`k${index}`, Buffer.alloc(100_000));
    await redis.client.config('SET', 'maxmemory', '0');
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await watch.check();
    expect([watch.keepsKeys, problems]).toEqual([false, [expect.stringMatching(/evicts keys/)]]);
    await watch.check();
    expect([watch.keepsKeys, problems.length]).toEqual([true, 1]);
  });

  it('leaves an outage to the connection that reports it', async () => {
    await redis.kill();
    await watch.check();
    expect([watch.keepsKeys, problems]).toEqual([true, []]);
  });
});
