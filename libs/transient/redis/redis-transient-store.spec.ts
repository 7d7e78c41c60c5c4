import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '#libs/kernel';
import { describeWithProgram } from '../../../test/fixtures/programs.js';
import { passTime } from '../../../test/fixtures/redis-time.js';
import { startRedis, type TestRedis } from '../../../test/fixtures/redis.js';
import { storeContract } from '../../../test/fixtures/transient-store-contract.js';
import { CHANNELS } from '../transient-store.js';
import { TransientUnavailable, unavailableAs } from '../transient-unavailable.js';
import { RedisTransientStore } from './redis-transient-store.js';

describeWithProgram('redis-server', 'the store on Redis', (program) => {
  let redis: TestRedis;
  let problems: string[];

  beforeAll(async () => {
    redis = await startRedis(program);
  });

  afterAll(async () => {
    await redis?.stop();
  });

  beforeEach(() => {
    problems = [];
  });

  const open = (url = redis.url) => RedisTransientStore.open({ url, onProblem: (what) => void problems.push(what) });

  describe('keeps the contract', () => {
    storeContract(async () => {
      const store = await open();
      return { store, pass: (milliseconds) => passTime(redis.client, milliseconds), close: () => store.close() };
    });
  });

  describe('names and expiries are those of the table', () => {
    it('so that an operator finds what he looks for and nothing stays for ever', async () => {
      const store = await open();
      await redis.client.flushall();
      await store.claim({ userId: 'u1', key: 'k' }, { executionId: 'e1', requestHash: 'h' }, 86_400);
      await store.beginResult('e1', 900);
      await store.putChunk('e1', 0, new Uint8Array([1]));
      await store.publishResult(
        'e1',
        { schemaJson: '[]', totalRows: 1, bytes: 1, chunkStarts: [0], warningsJson: '[]', encoding: 'zstd' },
        300,
      );
      await store.beginResult('e2', 900);
      const started = { eventId: 1, type: 'execution_started', timestamp: 't', payload: '{}' };
      await store.appendEvents([
        { executionId: 'e1', events: [started], ttlSeconds: 4200, sealed: true },
        { executionId: 'e2', events: [started], ttlSeconds: 4200, sealed: false },
      ]);
      await store.requestCancel('e1', 'cancelled', 600);
      await store.acquire('slots', 'u1', 'e1', 10, 45);
      await store.acquire('sse', 'u1', 's1', 10, 45);
      await store.touchWatcher('e1', 30);
      await store.keepDocument('d1', '{ viewer { scopes } }', 86_400);
      await store.hit('u1', [
        { seconds: 1, limit: 1 },
        { seconds: 60, limit: 1 },
      ]);
      const ttls = new Map<string, number>();
      for (const key of await redis.client.keys('*')) {
        ttls.set(key.replace(/(dp:rl:.*:)\d+$/, '$1n').replace(/[0-9a-f]{64}/, 'sha256'), await redis.client.ttl(key));
      }
      const expected: [string, number][] = [
        ['dp:idem:u1:sha256', 86_400],
        ['dp:result:e1:rows', 300],
        ['dp:result:e1:meta', 300],
        ['dp:result:e2:rows', 900],
        ['dp:events:e1', 3600],
        ['dp:events:e2', 4200],
        ['dp:cancel:e1', 600],
        ['dp:slots:u1', 90],
        ['dp:sse:u1', 90],
        ['dp:watch:e1', 30],
        ['dp:apq:d1', 86_400],
        ['dp:rl:u1:s:n', 2],
        ['dp:rl:u1:m:n', 120],
      ];
      expect([...ttls.keys()].sort()).toEqual(expected.map(([name]) => name).sort());
      for (const [name, seconds] of expected) {
        expect([name, Math.abs((ttls.get(name) ?? -9) - seconds) <= 1]).toEqual([name, true]);
      }
      expect(await redis.client.type('dp:events:e1')).toBe('stream');
      const entries = await redis.client.xrange('dp:events:e1', '-', '+');
      expect(entries).toEqual([['1-0', ['e', 'execution_started', 't', 't', 'd', '{}']]]);
      expect(JSON.parse((await redis.client.get('dp:result:e1:meta')) ?? '')).toMatchObject({
        total_rows: 1,
        chunk_starts: [0],
      });
      await store.close();
    });
  });

  describe('two instances', () => {
    it("see each other's claims, leases, flags and nudges", async () => {
      const [one, two] = [await open(), await open()];
      const key = { userId: newId(), key: 'k' };
      await one.claim(key, { executionId: 'a', requestHash: 'h' }, 60);
      expect(await two.claim(key, { executionId: 'b', requestHash: 'h' }, 60)).toMatchObject({
        held: { executionId: 'a' },
      });
      const user = newId();
      await one.acquire('slots', user, 'x', 1, 60);
      expect(await two.acquire('slots', user, 'y', 1, 60)).toBe(false);
      const heard = new Promise<string>(
        (resolve) => void two.subscribe(CHANNELS.cancel, resolve, () => void one.requestCancel('e', 'cancelled', 60)),
      );
      await expect(heard).resolves.toBe('e');
      await Promise.all([one.close(), two.close()]);
    });
  });

  describe('when Redis fails', () => {
    let victim: TestRedis;

    beforeEach(async () => {
      victim = await startRedis(program);
    });

    afterEach(async () => {
      await victim?.stop();
    });

    it('calls fail at once while it is gone, work again when it is back, and subscribers are told of the gap', async () => {
      const store = await open(victim.url);
      let ready = 0;
      const heard: string[] = [];
      await store.subscribe(
        CHANNELS.invalidate,
        (message) => void heard.push(message),
        () => void (ready += 1),
      );
      await store.hit('u', [{ seconds: 1, limit: 1 }]);
      await victim.kill();
      while (problems.length < 2) await delay(10);
      await expect(store.hit('u', [{ seconds: 1, limit: 1 }])).rejects.toMatchObject({
        name: 'TransientUnavailable',
        reason: 'down',
      });
      await expect(store.subscribe(CHANNELS.events, () => undefined)).rejects.toBeInstanceOf(TransientUnavailable);
      await victim.restart();
      while (ready < 2) await delay(10);
      // The scripts are unknown to the new server and must be sent again.
      for (;;) {
        const counted = await store.hit('u', [{ seconds: 60, limit: 1 }]).catch(() => undefined);
        if (counted) break;
        await delay(10);
      }
      await store.publish(CHANNELS.invalidate, 'after');
      while (heard.length === 0) await delay(5);
      expect([heard, ready, problems.length]).toEqual([['after'], 2, 2]);
      await store.close();
    });

    it('a server that hangs counts as down: a caller waits two seconds, not for ever', async () => {
      const store = await open(victim.url);
      await victim.freeze();
      const outcome = await store.health().catch((error: unknown) => error);
      victim.thaw();
      expect(outcome).toMatchObject({ name: 'TransientUnavailable', reason: 'down' });
      await store.close();
    });

    it('a caller that gives up does not wait for the hanging server', async () => {
      const store = await open(victim.url);
      await victim.freeze();
      const abort = new AbortController();
      const waiting = store.hasWatcher('e', abort.signal);
      const reason = new TypeError('left');
      abort.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      victim.thaw();
      await store.close();
    });

    it('scripts survive SCRIPT FLUSH, as an administrator may do', async () => {
      const store = await open(victim.url);
      await store.hit('u', [{ seconds: 60, limit: 1 }]);
      await victim.client.script('FLUSH');
      const [count] = await store.hit('u', [{ seconds: 60, limit: 1 }]);
      expect(count?.count).toBeGreaterThanOrEqual(1);
      await store.close();
    });

    it('a full Redis refuses writes and says so, and keeps what it has', async () => {
      const store = await open(victim.url);
      await store.beginResult('kept', 600);
      await victim.client.config('SET', 'maxmemory', '2mb');
      const outcome = await (async () => {
        for (let index = 0; index < 100; index += 1)
          await store.putChunk('kept', index, new Uint8Array(200_000).fill(index));
      })().catch((error: unknown) => error);
      expect(outcome).toMatchObject({ name: 'TransientUnavailable', reason: 'full' });
      expect((await store.readChunks('kept', [0]))[0]?.byteLength).toBe(200_000);
      await store.close();
    });
  });

  describe('at boot', () => {
    it('a Redis that evicts is refused, with policy and remedy', async () => {
      const evicting = await startRedis(program, { policy: 'allkeys-lru' });
      await expect(open(evicting.url)).rejects.toMatchObject({
        code: 'internal',
        details: { reason: 'redis_eviction_policy', policy: 'allkeys-lru' },
        message: expect.stringMatching(/allkeys-lru.*CONFIG SET maxmemory-policy noeviction/s),
      });
      await evicting.stop();
    });

    it('a Redis whose policy may not be read is accepted with a warning: managed ones forbid it', async () => {
      const managed = await startRedis(program);
      await managed.client.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-info', '-config');
      const store = await open(managed.url.replace('//', '//app:secret@'));
      expect(problems).toEqual([expect.stringMatching(/does not tell its maxmemory-policy/)]);
      await store.close();
      await managed.stop();
    });

    it('an unreachable Redis or a wrong password is refused without showing the password', async () => {
      const guarded = await startRedis(program, { password: 'right-one' });
      const wrong = guarded.url.replace('right-one', 'planted-secret');
      for (const url of [wrong, 'redis://:planted-secret@127.0.0.1:1']) {
        const failure = (await open(url).catch((error: unknown) => error)) as Error & { details: unknown };
        expect(failure).toMatchObject({ code: 'internal', details: { reason: 'redis_unreachable' } });
        expect(`${failure.message} ${JSON.stringify(failure.details)}`).not.toContain('planted-secret');
      }
      const store = await open(guarded.url);
      await store.health();
      await store.close();
      await guarded.stop();
    });
  });

  describe('what it costs a caller', () => {
    it('is decided by the caller: one failure, one code for each use', async () => {
      const store = await open();
      await store.close();
      await expect(unavailableAs('rate_limit.unavailable', () => store.health())).rejects.toMatchObject({
        code: 'rate_limit.unavailable',
      });
      await expect(unavailableAs('result.storage_unavailable', () => store.health())).rejects.toMatchObject({
        code: 'result.storage_unavailable',
      });
      const defect = new TypeError('defect');
      await expect(unavailableAs('rate_limit.unavailable', () => Promise.reject(defect))).rejects.toBe(defect);
    });
  });
});
