import { describe, expect, it } from '@jest/globals';
import { SilentLogger, SystemClock } from '#libs/kernel';
import { MemoryTransientStore, TransientUnavailable } from '#libs/transient';
import type { ExecutionInstance } from './execution-instance.js';
import { InstanceRoster } from './instance-roster.js';

describe('what the servers tell of themselves', () => {
  function roster() {
    const store = new MemoryTransientStore({ maxBytes: 100_000 });
    const parts = { runs: new Map([['r', {}]]), settings: { heartbeatMs: 1000 }, logger: new SilentLogger() };
    return { store, roster: new InstanceRoster(parts as unknown as ExecutionInstance, store, new SystemClock()) };
  }

  it('is read back with what runs and how the jobs went', async () => {
    const { roster: told } = roster();
    told.ended('sweep', 'FAILED');
    await told.beat();
    expect(await told.standings()).toMatchObject([
      { runsInFlight: 1, jobs: [{ name: 'sweep', outcome: 'FAILED', lastRunAt: expect.any(String) }] },
    ]);
  });

  it('is refused with the code of a store that is away, never as a failure of ours or as “no servers”', async () => {
    const { roster: told, store } = roster();
    store.instances = () => Promise.reject(new TransientUnavailable());
    store.beatInstance = () => Promise.reject(new TransientUnavailable());
    await told.beat();
    await expect(told.standings()).rejects.toMatchObject({ code: 'rate_limit.unavailable', status: 429 });
  });
});
