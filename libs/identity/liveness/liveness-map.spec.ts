import { describe, expect, it } from '@jest/globals';
import { LivenessMap } from './liveness-map.js';

function deferred<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('the liveness map', () => {
  it('answers from memory until the TTL has passed', async () => {
    let now = 0;
    const map = new LivenessMap<string>(60_000, () => now);
    let loads = 0;
    const load = async () => `load ${++loads}`;
    expect(await map.get('a', load)).toBe('load 1');
    now = 59_999;
    expect(await map.get('a', load)).toBe('load 1');
    now = 60_000;
    expect(await map.get('a', load)).toBe('load 2');
  });

  it('keeps neither a miss nor a failure, or a new row would stay invisible for a minute', async () => {
    const map = new LivenessMap<string>(60_000, () => 0);
    expect(await map.get('a', async () => undefined)).toBeUndefined();
    await expect(map.get('a', () => Promise.reject(new TypeError('down')))).rejects.toThrow('down');
    expect(await map.get('a', async () => 'found')).toBe('found');
  });

  it('shares one load among simultaneous readers', async () => {
    const map = new LivenessMap<string>(60_000, () => 0);
    const gate = deferred<string>();
    let loads = 0;
    const load = () => {
      loads += 1;
      return gate.promise;
    };
    const readers = [map.get('a', load), map.get('a', load), map.get('a', load)];
    gate.resolve('once');
    expect(await Promise.all(readers)).toEqual(['once', 'once', 'once']);
    expect(loads).toBe(1);
  });

  it('does not admit a load that began before the invalidation, and starts a fresh one after it', async () => {
    const map = new LivenessMap<string>(60_000, () => 0);
    const old = deferred<string>();
    const reading = map.get('a', () => old.promise);
    map.invalidate('a');
    expect(await map.get('a', async () => 'revoked')).toBe('revoked');
    old.resolve('live');
    expect(await reading).toBe('live');
    expect(map.peek('a')).toBe('revoked');

    const other = deferred<string>();
    const readingOther = map.get('b', () => other.promise);
    map.clear();
    other.resolve('live');
    await readingOther;
    expect(map.peek('b')).toBeUndefined();
  });

  it('is bounded: when full of live entries it reads directly, and stale ones make room', async () => {
    let now = 0;
    const map = new LivenessMap<number>(10, () => now, 2);
    await map.get('a', async () => 1);
    await map.get('b', async () => 2);
    await map.get('c', async () => 3);
    expect(map.peek('c')).toBeUndefined();
    now = 10;
    await map.get('c', async () => 3);
    expect(map.peek('c')).toBe(3);
  });
});
