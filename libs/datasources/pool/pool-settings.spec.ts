import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { DriverConnection } from '../drivers/driver.js';
import { LeasePool, type PoolLimits } from './lease-pool.js';

const NEVER = new AbortController().signal;

const OFF: PoolLimits = {
  maximumPoolSize: 3,
  minimumIdle: 0,
  connectionTimeout: 0,
  idleTimeout: 0,
  maxLifetime: 0,
  keepaliveTime: 0,
  validationTimeout: 250,
  leakDetectionThreshold: 0,
};

describe('each pool setting, by its effect', () => {
  let pings: number[];
  let closed: number;
  let leaks: number;
  let made: number;
  let pool: LeasePool;

  beforeEach(() => {
    [pings, closed, leaks, made] = [[], 0, 0, 0];
    jest.useFakeTimers();
  });

  afterEach(() => {
    pool.retire(0);
    jest.useRealTimers();
  });

  function create(limits: Partial<PoolLimits>): LeasePool {
    const connection = (): DriverConnection =>
      ({
        serves: 'both',
        usable: true,
        reset: () => Promise.resolve(true),
        ping: (milliseconds: number) => {
          pings.push(milliseconds);
          return Promise.resolve();
        },
        close: () => {
          closed += 1;
          return Promise.resolve();
        },
        destroy: () => undefined,
      }) as unknown as DriverConnection;
    const source = {
      connect: () => {
        made += 1;
        return Promise.resolve(connection());
      },
      close: () => Promise.resolve(),
    };
    pool = new LeasePool(
      'bench',
      source,
      { ...OFF, ...limits },
      { leaked: () => (leaks += 1), hardClosed: () => undefined },
    );
    return pool;
  }

  /** So many connections, lent and given back. */
  async function rest(count: number): Promise<void> {
    const lent = await Promise.all(Array.from({ length: count }, () => pool.acquire('read', NEVER)));
    for (const connection of lent) await pool.give(connection, 'ok');
  }

  it('maximumPoolSize: one more than that waits for another to come back', async () => {
    create({ maximumPoolSize: 1 });
    const first = await pool.acquire('read', NEVER);
    let served = false;
    const second = pool.acquire('read', NEVER).then(() => (served = true));
    await jest.advanceTimersByTimeAsync(1000);
    expect([served, made]).toEqual([false, 1]);
    await pool.give(first, 'ok');
    await second;
    expect([served, made]).toEqual([true, 1]);
  });

  it('minimumIdle: so many wait ready behind the first lease, and stay though they rest long', async () => {
    create({ minimumIdle: 2, idleTimeout: 10_000 });
    await pool.give(await pool.acquire('read', NEVER), 'ok');
    await jest.advanceTimersByTimeAsync(0);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(pool.idle).toBe(2);
  });

  it('idleTimeout: what rests longer is closed, also when it is kept alive meanwhile', async () => {
    create({ idleTimeout: 60_000, keepaliveTime: 30_000 });
    await rest(2);
    await jest.advanceTimersByTimeAsync(50_000);
    expect([pool.idle, closed, pings.length]).toEqual([2, 0, 2]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect([pool.idle, closed]).toEqual([0, 2]);
  });

  it('maxLifetime: what lives longer is closed while it rests, whatever it was used for', async () => {
    create({ maxLifetime: 30_000 });
    await rest(1);
    await jest.advanceTimersByTimeAsync(20_000);
    await rest(1);
    expect(made).toBe(1);
    await jest.advanceTimersByTimeAsync(20_000);
    expect([pool.idle, closed]).toEqual([0, 1]);
  });

  it('keepaliveTime: what rests is asked that often, with validationTimeout as its patience', async () => {
    create({ keepaliveTime: 30_000, validationTimeout: 777 });
    await rest(1);
    await jest.advanceTimersByTimeAsync(100_000);
    expect(pings).toEqual([777, 777, 777]);
    expect(pool.idle).toBe(1);
  });

  it('validationTimeout: the patience of the question before a rested connection is lent', async () => {
    create({ validationTimeout: 1234 });
    await rest(1);
    await jest.advanceTimersByTimeAsync(600);
    await pool.acquire('read', NEVER);
    expect(pings).toEqual([1234]);
  });

  it('leakDetectionThreshold: a lease that is out longer is told once, and one that came back in time is not', async () => {
    create({ leakDetectionThreshold: 2000 });
    const short = await pool.acquire('read', NEVER);
    await jest.advanceTimersByTimeAsync(1900);
    await pool.give(short, 'ok');
    await pool.acquire('read', NEVER);
    await jest.advanceTimersByTimeAsync(1900);
    expect(leaks).toBe(0);
    await jest.advanceTimersByTimeAsync(5000);
    expect(leaks).toBe(1);
  });

  it('connectionTimeout: a wait longer than that is refused, and 0 waits for ever', async () => {
    jest.useRealTimers();
    create({ maximumPoolSize: 1, connectionTimeout: 250 });
    await pool.acquire('read', NEVER);
    await expect(pool.acquire('read', NEVER)).rejects.toMatchObject({ details: { reason: 'pool_exhausted' } });
    pool.retire(0);
    create({ maximumPoolSize: 1 });
    const held = await pool.acquire('read', NEVER);
    const waiting = pool.acquire('read', NEVER);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await pool.give(held, 'ok');
    await expect(waiting).resolves.toBeDefined();
  });
});
