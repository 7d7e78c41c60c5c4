import { describe, expect, it } from '@jest/globals';
import { newId, SilentLogger } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { TestClock } from '../../../test/fixtures/identity.js';
import { LastWorkspace } from './last-workspace.js';

const THIRTY_DAYS = 30 * 24 * 60;

describe('the workspace chosen last', () => {
  it('is remembered for thirty days from the last choice, and by nobody else', async () => {
    const clock = new TestClock();
    const store = new MemoryTransientStore({ maxBytes: 100_000, clock });
    const last = new LastWorkspace(store, new SilentLogger());
    const [ada, first, second] = [newId(), newId(), newId()];
    await last.remember(ada, first);
    clock.advance(THIRTY_DAYS - 1);
    expect([await last.of(ada), await last.of(newId())]).toEqual([first, undefined]);
    await last.remember(ada, second);
    clock.advance(THIRTY_DAYS - 1);
    expect(await last.of(ada)).toBe(second);
    clock.advance(2);
    expect(await last.of(ada)).toBeUndefined();
    await store.close();
  });

  it('is nothing where the store is away or holds what is no id: nobody is kept from signing in', async () => {
    const store = new MemoryTransientStore({ maxBytes: 100_000 });
    const last = new LastWorkspace(store, new SilentLogger());
    const ada = newId();
    await store.rememberWorkspace(ada, 'no id', 60);
    expect(await last.of(ada)).toBeUndefined();
    await store.close();
    await expect(last.remember(ada, newId())).resolves.toBeUndefined();
    expect(await last.of(ada)).toBeUndefined();
  });
});
