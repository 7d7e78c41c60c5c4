import { availableParallelism } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { refusal } from '../../../test/fixtures/login-scene.js';
import { SecretHasher } from './secret-hasher.js';

const WIDTH = Math.max(1, Math.min(availableParallelism(), 3));

/** Judgements that hold their place until they are let go, one by one. */
class Crowd {
  readonly hasher = new SecretHasher();
  readonly started: number[] = [];
  readonly outcomes: Promise<{ code: string; status: number; body: unknown }>[] = [];
  readonly #release: (() => void)[] = [];

  join(count: number): void {
    for (let joined = 0; joined < count; joined++) {
      const number = this.outcomes.length;
      const judged = this.hasher.judged(async () => {
        this.started.push(number);
        await new Promise<void>((resolve) => this.#release.push(resolve));
      });
      this.outcomes.push(refusal(judged));
    }
  }

  /** Ends the judgement that began first. */
  async letGo(): Promise<void> {
    this.#release.shift()?.();
    await turn();
  }
}

describe('the queue before Argon2', () => {
  it('lets so many run as there are cores, three at most, and a hundred wait; the next is told to come back', async () => {
    const crowd = new Crowd();
    crowd.join(WIDTH + 100);
    await turn();
    expect(crowd.started).toHaveLength(WIDTH);
    crowd.join(3);
    for (const refused of crowd.outcomes.slice(-3)) {
      expect(await refused).toMatchObject({
        code: 'rate_limit.exceeded',
        status: 429,
        body: { details: { limit: 100, retry_after_seconds: 1 } },
      });
    }
    // A place in the queue is free again as soon as somebody has been served.
    await crowd.letGo();
    crowd.join(1);
    while (crowd.started.length < WIDTH + 101) await crowd.letGo();
    for (let left = 0; left < WIDTH; left++) await crowd.letGo();
    const codes = (await Promise.all(crowd.outcomes)).map(({ code }) => code);
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(WIDTH + 101);
    expect(codes.filter((code) => code === 'rate_limit.exceeded')).toHaveLength(3);
  });

  it('serves in the order of arrival: nobody who comes later overtakes', async () => {
    const crowd = new Crowd();
    crowd.join(WIDTH + 5);
    await turn();
    for (let served = 0; served < 20; served++) {
      await crowd.letGo();
      crowd.join(1);
    }
    expect(crowd.started).toEqual(Array.from({ length: crowd.started.length }, (_, number) => number));
    expect(crowd.started.length).toBeGreaterThanOrEqual(WIDTH + 20);
  });

  it('gives a place back when its judgement fails', async () => {
    const hasher = new SecretHasher();
    const failed = Array.from({ length: WIDTH + 2 }, () =>
      hasher.judged(() => Promise.reject(new TypeError('no database'))),
    );
    expect((await Promise.allSettled(failed)).map(({ status }) => status)).not.toContain('fulfilled');
    expect(await hasher.judged(() => Promise.resolve('served'))).toBe('served');
  });

  it('is where keys, passwords and absent accounts all wait: none of them hashes beside it', async () => {
    const crowd = new Crowd();
    crowd.join(WIDTH);
    await turn();
    const encoded = await new SecretHasher().hash('velvet gravel onion 51');
    const waiting = [
      crowd.hasher.hash('another'),
      crowd.hasher.matches(encoded, 'velvet gravel onion 51'),
      crowd.hasher.matchesNothing('another'),
    ];
    let served = 0;
    for (const each of waiting) void each.then(() => (served += 1));
    // Longer than any of them takes: the hash above took as long, off this thread.
    await new SecretHasher().matches(encoded, 'velvet gravel onion 51');
    expect(served).toBe(0);
    for (let left = 0; left < WIDTH; left++) await crowd.letGo();
    expect(await Promise.all(waiting)).toEqual([expect.stringMatching(/^\$argon2id\$/), true, false]);
  });
});

it('hashes off the event loop: other work goes on all the while', async () => {
  const hasher = new SecretHasher();
  let hashing = true;
  const hashes = Promise.all(Array.from({ length: 4 }, () => hasher.hash('velvet gravel onion 51'))).finally(() => {
    hashing = false;
  });
  let turns = 0;
  while (hashing) {
    await turn();
    turns += 1;
  }
  await hashes;
  // A hash on this thread would leave a turn or two between one and the next.
  expect(turns).toBeGreaterThan(50);
});

it('uses the parameters of the policy, and takes older ones for outdated', async () => {
  const hasher = new SecretHasher();
  const encoded = await hasher.hash('velvet gravel onion 51');
  expect(encoded).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
  const [, , , , salt = '', tag = ''] = encoded.split('$');
  expect([Buffer.from(salt, 'base64').length, Buffer.from(tag, 'base64').length]).toEqual([16, 32]);
  expect(hasher.isOutdated(encoded)).toBe(false);
  expect(hasher.isOutdated(encoded.replace('m=19456', 'm=4096'))).toBe(true);
  expect(await hasher.hash('velvet gravel onion 51')).not.toBe(encoded);
});
