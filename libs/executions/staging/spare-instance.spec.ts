import { describe, expect, it } from '@jest/globals';
import { NativeCallGate } from '#libs/datasources';
import { SpareInstance } from './spare-instance.js';

/** A gate behind which every second opening fails, as for want of memory. */
class FailingGate extends NativeCallGate {
  #calls = 0;

  override run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return ++this.#calls % 2 === 0 ? Promise.reject(new Error('no memory')) : super.run(call, signal);
  }
}

describe('the engine that is kept ready', () => {
  it('may have failed to open when all ends: there is nothing to free, and the end goes on', async () => {
    const spares = new SpareInstance(new FailingGate(2));
    (await spares.take(new AbortController().signal)).closeSync();
    await expect(spares.close()).resolves.toBeUndefined();
  });
});
