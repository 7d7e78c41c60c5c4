import { expect, it } from '@jest/globals';
import { SilentLogger } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { UserLeases } from './user-leases.js';

it('a renewal that arrives after the release revives nothing: the slot would be missing for a whole lease', async () => {
  const store = new MemoryTransientStore({ maxBytes: 1 << 20 });
  const leases = new UserLeases(store, { slotsPerUser: 1, streamsPerUser: 1, leaseSeconds: 60 }, new SilentLogger());
  const lease = await leases.slot('ada', 'run-1');
  const renew = store.renew.bind(store);
  // As when Redis does not know the script yet and has to be sent it.
  store.renew = async (...args) => {
    await lease.release();
    await renew(...args);
  };
  await leases.renew();
  await expect(leases.slot('ada', 'run-2')).resolves.toBeDefined();
  await store.close();
});

it('a renewal brings back what a restarted store forgot', async () => {
  const store = new MemoryTransientStore({ maxBytes: 1 << 20 });
  const leases = new UserLeases(store, { slotsPerUser: 1, streamsPerUser: 1, leaseSeconds: 60 }, new SilentLogger());
  await leases.slot('ada', 'run-1');
  await store.releaseLease('slots', 'ada', 'run-1');
  await leases.renew();
  await expect(leases.slot('ada', 'run-2')).rejects.toMatchObject({ code: 'pipeline.execution.concurrency_limit' });
  await store.close();
});
