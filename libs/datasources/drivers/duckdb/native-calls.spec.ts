import { describe, expect, it } from '@jest/globals';
import { NativeCallGate } from './native-call-gate.js';
import { DatasourceCalls } from './native-calls.js';

/** Calls that stay in the engine until they are let go, and how many are in it at once. */
class Engine {
  inside = 0;
  most = 0;
  readonly #open: (() => void)[] = [];

  readonly call = async (): Promise<void> => {
    this.inside += 1;
    this.most = Math.max(this.most, this.inside);
    await new Promise<void>((resolve) => this.#open.push(resolve));
    this.inside -= 1;
  };

  letGo(): void {
    this.#open.shift()?.();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the one gate of native calls', () => {
  it('counts staging and datasources together: files, names and logins keep their threads whatever runs', async () => {
    const gate = new NativeCallGate(12);
    const datasources = new DatasourceCalls(gate);
    const engine = new Engine();
    const calls = [
      ...Array.from({ length: 20 }, () => datasources.run(engine.call)),
      ...Array.from({ length: 20 }, () => gate.run(engine.call)),
    ];
    await settled();
    expect([engine.inside, gate.running]).toEqual([12, 12]);
    for (let n = 0; n < 40; n++) {
      engine.letGo();
      await settled();
    }
    await Promise.all(calls);
    expect([engine.most, gate.running, gate.waiting]).toEqual([12, 0, 0]);
  });

  it('leaves two thirds to staged runs while slow datasources queue', async () => {
    const gate = new NativeCallGate(12);
    const datasources = new DatasourceCalls(gate);
    const engine = new Engine();
    const slow = Array.from({ length: 50 }, () => datasources.run(engine.call));
    await settled();
    expect([engine.inside, gate.waiting]).toEqual([4, 0]);
    await expect(gate.run(() => Promise.resolve('at once'))).resolves.toBe('at once');
    for (let n = 0; n < 50; n++) {
      engine.letGo();
      await settled();
    }
    await Promise.all(slow);
  });

  it('forgets a waiter that gave up, in the share and in the gate, and gives its place to the next', async () => {
    const gate = new NativeCallGate(1);
    const datasources = new DatasourceCalls(gate);
    const engine = new Engine();
    const first = gate.run(engine.call);
    const gaveUp = new AbortController();
    const inGate = datasources.run(engine.call, gaveUp.signal);
    const inShare = datasources.run(engine.call, gaveUp.signal);
    await settled();
    gaveUp.abort(new RangeError('gone'));
    await expect(inGate).rejects.toThrow('gone');
    await expect(inShare).rejects.toThrow('gone');
    const next = datasources.run(() => Promise.resolve('served'));
    engine.letGo();
    await first;
    await expect(next).resolves.toBe('served');
    expect([engine.most, gate.running, gate.waiting]).toEqual([1, 0, 0]);
  });

  it('gives the place back when a call fails', async () => {
    const gate = new NativeCallGate(1);
    const datasources = new DatasourceCalls(gate);
    await expect(datasources.run(() => Promise.reject(new RangeError('broken')))).rejects.toThrow('broken');
    await expect(gate.run(() => Promise.resolve('free'))).resolves.toBe('free');
  });
});
