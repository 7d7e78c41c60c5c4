import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { DriverFailure } from '../drivers/driver-failure.js';
import type { Access, DriverConnection } from '../drivers/driver.js';
import { LeasePool, PoolRetired, type PoolLimits } from './lease-pool.js';

const NEVER = new AbortController().signal;

const LIMITS: PoolLimits = {
  maximumPoolSize: 2,
  minimumIdle: 0,
  connectionTimeout: 60_000,
  idleTimeout: 0,
  maxLifetime: 0,
  keepaliveTime: 0,
  validationTimeout: 250,
  leakDetectionThreshold: 0,
};

/** A connection that only remembers what was done to it. */
class RecordedConnection {
  usable = true;
  ended: 'closed' | 'destroyed' | undefined;
  resets = 0;
  pings = 0;
  answers = true;
  resettable = true;
  constructor(readonly serves: Access | 'both') {}

  reset(): Promise<boolean> {
    this.resets += 1;
    return Promise.resolve(this.resettable);
  }

  ping(): Promise<void> {
    this.pings += 1;
    return this.answers ? Promise.resolve() : Promise.reject(new DriverFailure('connection', 'gone'));
  }

  close(): Promise<void> {
    this.ended = 'closed';
    return Promise.resolve();
  }

  destroy(): void {
    this.ended = 'destroyed';
    this.usable = false;
  }
}

describe('a pool of leases', () => {
  let made: RecordedConnection[];
  let sourceClosed: boolean;
  let hardClosed: number;
  let refuse: DriverFailure | undefined;
  let separate: boolean;
  const pools: LeasePool[] = [];

  beforeEach(() => {
    [made, sourceClosed, hardClosed, refuse, separate] = [[], false, 0, undefined, false];
  });

  afterEach(() => {
    for (const pool of pools.splice(0)) pool.retire(0);
  });

  function create(limits: Partial<PoolLimits> = {}): LeasePool {
    const source = {
      connect: (access: Access) => {
        if (refuse) return Promise.reject(refuse);
        const connection = new RecordedConnection(separate ? access : 'both');
        made.push(connection);
        return Promise.resolve(connection as unknown as DriverConnection);
      },
      close: () => {
        sourceClosed = true;
        return Promise.resolve();
      },
    };
    const pool = new LeasePool(
      'bench',
      source,
      { ...LIMITS, ...limits },
      { leaked: () => undefined, hardClosed: (_, count) => (hardClosed += count) },
    );
    pools.push(pool);
    return pool;
  }

  it('never lends more than its size, and serves waiters in the order they came', async () => {
    const pool = create();
    const first = await pool.acquire('read', NEVER);
    const second = await pool.acquire('read', NEVER);
    const served: number[] = [];
    const waiters = [1, 2, 3].map(async (number) => {
      const connection = await pool.acquire('read', NEVER);
      served.push(number);
      await pool.give(connection, 'ok');
    });
    await Promise.resolve();
    expect(served).toEqual([]);
    await pool.give(first, 'ok');
    await pool.give(second, 'ok');
    await Promise.all(waiters);
    expect(served).toEqual([1, 2, 3]);
    expect(made).toHaveLength(2);
  });

  it('a wait longer than connectionTimeout is refused as exhausted, and the place in the queue is free', async () => {
    const pool = create({ maximumPoolSize: 1, connectionTimeout: 20 });
    const held = await pool.acquire('read', NEVER);
    await expect(pool.acquire('read', NEVER)).rejects.toMatchObject({
      code: 'pipeline.node.datasource_connection_failed',
      details: { reason: 'pool_exhausted' },
    });
    await pool.give(held, 'ok');
    await pool.give(await pool.acquire('read', NEVER), 'ok');
  });

  it('a waiter that aborts leaves, and takes no connection with it', async () => {
    const pool = create({ maximumPoolSize: 1 });
    const held = await pool.acquire('read', NEVER);
    const abort = new AbortController();
    const waiting = pool.acquire('read', abort.signal);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
    await pool.give(held, 'ok');
    expect([pool.leased, pool.idle]).toEqual([0, 1]);
  });

  it('a connection that cannot be made costs nobody a place', async () => {
    const pool = create({ maximumPoolSize: 1 });
    refuse = new DriverFailure('connection', 'refused', { driverCode: 'ECONNREFUSED' });
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(pool.acquire('read', NEVER)).rejects.toMatchObject({ driverCode: 'ECONNREFUSED' });
    }
    refuse = undefined;
    await pool.give(await pool.acquire('read', NEVER), 'ok');
  });

  it('takes back only what is fresh: a destroyed, broken or unresettable session is never lent again', async () => {
    const pool = create();
    const [a, b, c] = [{ outcome: 'destroy' }, { usable: false }, { resettable: false }] as const;
    for (const kind of [a, b, c]) {
      const connection = await pool.acquire('read', NEVER);
      const recorded = made.at(-1)!;
      if ('usable' in kind) recorded.usable = false;
      if ('resettable' in kind) recorded.resettable = false;
      await pool.give(connection, 'outcome' in kind ? 'destroy' : 'ok');
    }
    expect(made.map(({ ended }) => ended)).toEqual(['destroyed', 'destroyed', 'closed']);
    expect(pool.idle).toBe(0);
  });

  it('asks a connection that rested whether it lives, and replaces a dead one unseen', async () => {
    const pool = create();
    await pool.give(await pool.acquire('read', NEVER), 'ok');
    await pool.give(await pool.acquire('read', NEVER), 'ok');
    expect(made[0]?.pings).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 550));
    await pool.give(await pool.acquire('read', NEVER), 'ok');
    expect([made.length, made[0]?.pings]).toEqual([1, 1]);
    made[0]!.answers = false;
    await new Promise((resolve) => setTimeout(resolve, 550));
    await pool.acquire('read', NEVER);
    expect(made.map(({ ended }) => ended)).toEqual(['destroyed', undefined]);
  });

  it('a reading and a writing lease do not share a connection where the engine opens them apart', async () => {
    separate = true;
    const pool = create({ maximumPoolSize: 1 });
    await pool.give(await pool.acquire('read', NEVER), 'ok');
    await pool.acquire('write', NEVER);
    expect(made.map(({ serves, ended }) => [serves, ended])).toEqual([
      ['read', 'closed'],
      ['write', undefined],
    ]);
  });

  it('opens minimumIdle connections ahead, within the size', async () => {
    const pool = create({ maximumPoolSize: 3, minimumIdle: 5 });
    await pool.acquire('read', NEVER);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([pool.leased, pool.idle]).toEqual([1, 2]);
  });

  it('lives no longer than maxLifetime', async () => {
    const pool = create({ maxLifetime: 1 });
    const connection = await pool.acquire('read', NEVER);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await pool.give(connection, 'ok');
    expect([made[0]?.ended, pool.idle]).toEqual(['closed', 0]);
  });

  it('retired: idle ones close at once, busy ones on return, waiters are sent to the new pool', async () => {
    const pool = create({ maximumPoolSize: 2 });
    const busy = await pool.acquire('read', NEVER);
    const idle = await pool.acquire('read', NEVER);
    await pool.give(idle, 'ok');
    await pool.acquire('read', NEVER);
    const waiting = pool.acquire('read', NEVER);
    pool.retire(60_000);
    await expect(waiting).rejects.toBeInstanceOf(PoolRetired);
    await expect(pool.acquire('read', NEVER)).rejects.toBeInstanceOf(PoolRetired);
    expect([made[0]?.ended, sourceClosed]).toEqual([undefined, false]);
    await pool.give(busy, 'ok');
    await pool.give(made[1] as unknown as DriverConnection, 'ok');
    await pool.drained();
    expect(made.map(({ ended }) => ended)).toEqual(['closed', 'closed']);
    expect([sourceClosed, hardClosed]).toEqual([true, 0]);
  });

  it('what is still out at the ceiling is cut, and counted', async () => {
    const pool = create();
    const busy = await pool.acquire('read', NEVER);
    pool.retire(10);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect([made[0]?.ended, hardClosed]).toEqual(['destroyed', 1]);
    await pool.give(busy, 'ok');
    await pool.drained();
  });

  it('giving back twice is giving back once', async () => {
    const pool = create({ maximumPoolSize: 1 });
    const connection = await pool.acquire('read', NEVER);
    await pool.give(connection, 'ok');
    await pool.give(connection, 'ok');
    expect(pool.idle).toBe(1);
    await pool.acquire('read', NEVER);
    const abort = new AbortController();
    const second = pool.acquire('read', abort.signal);
    abort.abort();
    await expect(second).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('200 callers at once on two connections all get their turn, and none gets a connection somebody holds', async () => {
    const pool = create();
    const held = new Set<DriverConnection>();
    const turns = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const connection = await pool.acquire('read', NEVER);
        expect(held.has(connection)).toBe(false);
        held.add(connection);
        await Promise.resolve();
        held.delete(connection);
        await pool.give(connection, 'ok');
        return 1;
      }),
    );
    expect(turns).toHaveLength(200);
    expect(made).toHaveLength(2);
    expect([pool.leased, pool.idle]).toEqual([0, 2]);
  });
});
