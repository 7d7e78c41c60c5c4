import { describe, expect, it } from '@jest/globals';
import { LocalWindows } from './local-windows.js';

describe('windows of one process', () => {
  it('count a subject until its window ends', () => {
    let now = 59_000;
    const windows = new LocalWindows(() => now);
    expect(windows.hit('a', 60)).toEqual({ count: 1, resetAtSeconds: 60, nowSeconds: 59 });
    expect(windows.hit('a', 60).count).toBe(2);
    expect(windows.hit('b', 60).count).toBe(1);
    now = 60_000;
    expect(windows.hit('a', 60)).toEqual({ count: 1, resetAtSeconds: 120, nowSeconds: 60 });
  });

  it('forget the oldest subject beyond ten thousand, so that addresses cannot fill the memory', () => {
    const windows = new LocalWindows(() => 0);
    windows.hit('first', 60);
    for (let n = 0; n < 10_000; n++) windows.hit(`other ${n}`, 60);
    expect([windows.hit('first', 60).count, windows.hit('other 9999', 60).count]).toEqual([1, 2]);
  });
});
