import { describe, expect, it } from '@jest/globals';
import { closedLoop, medianLoad } from '../../bench/load/closed-loop.js';
import { judge, type Measurement } from '../../bench/measurement.js';
import { readOptions } from '../../bench/options.js';
import { markdown } from '../../bench/report.js';
import { median, percentile, ratioToLimit, verdictOf } from '../../bench/statistics.js';

describe('median and percentile', () => {
  it('take the middle of unsorted samples by value, not by text: 9 is less than 10', () => {
    expect(median([10, 9, 100])).toBe(10);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
  });

  it('leave the samples as they were: they are used again for the next figure', () => {
    const samples = [3, 1, 2];
    median(samples);
    percentile(samples, 0.5);
    expect(samples).toEqual([3, 1, 2]);
  });

  it('name a sample that was really measured, by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 1)).toBe(100);
    // Of few samples the slowest must not be cut off.
    expect(percentile([1, 2, 50], 0.99)).toBe(50);
    expect(percentile([5], 0.01)).toBe(5);
  });

  it('refuse what would print as a number without being one', () => {
    expect(() => median([])).toThrow(RangeError);
    expect(() => median([1, Number.NaN])).toThrow(RangeError);
    expect(() => percentile([1, Infinity], 0.5)).toThrow(RangeError);
    for (const share of [0, -1, 1.01, Number.NaN]) expect(() => percentile([1], share)).toThrow(RangeError);
  });
});

describe('ratio and verdict', () => {
  it('say the same for a rate and for a time: half as good as the limit is 0.5', () => {
    expect(ratioToLimit(50, 100, 'higher')).toBe(0.5);
    expect(ratioToLimit(20, 10, 'lower')).toBe(0.5);
    expect(ratioToLimit(10, 10, 'lower')).toBe(1);
  });

  it('count a value that just meets a threshold, in both directions', () => {
    expect(verdictOf(15, { good: 15, great: 8 }, 'lower')).toBe('good');
    expect(verdictOf(15.01, { good: 15, great: 8 }, 'lower')).toBe('below');
    expect(verdictOf(8, { good: 15, great: 8 }, 'lower')).toBe('great');
    expect(verdictOf(800, { good: 200, great: 800 }, 'higher')).toBe('great');
    expect(verdictOf(199, { good: 200 }, 'higher')).toBe('below');
    expect(verdictOf(1e9, { good: 200 }, 'higher')).toBe('good');
  });

  const row: Measurement = { path: 'p', unit: 'ms', better: 'lower', value: 20, limit: { what: 'bare', value: 10 } };

  it('judge a ratio as a ratio even where less is better: 0.5 does not pass as "at most 0.7"', () => {
    expect(judge({ ...row, asked: { of: 'ratio', good: 0.7 } })).toMatchObject({ ratio: 0.5, verdict: 'below' });
    expect(judge({ ...row, asked: { of: 'value', good: 20 } })).toMatchObject({ ratio: 0.5, verdict: 'good' });
    expect(judge(row).verdict).toBeUndefined();
    expect(() => judge({ ...row, limit: undefined, asked: { of: 'ratio', good: 0.7 } })).toThrow(TypeError);
  });

  it('print limit, ratio, thresholds with their direction, and verdict in one line', () => {
    const line = markdown([judge({ ...row, asked: { of: 'ratio', good: 0.7, great: 0.9 } })]).split('\n')[2];
    expect(line?.split('|').map((cell) => cell.trim())).toEqual([
      '',
      'p',
      '20 ms',
      '10 ms bare',
      '0.50',
      '≥ 0.7 · ≥ 0.9',
      'below',
      '',
      '',
    ]);
  });
});

describe('a load of closed loops', () => {
  it('keeps exactly so many operations under way, counts every one, and lets a failure out', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const result = await closedLoop(3, 0.05, async (client) => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 1 + client));
      running -= 1;
      done += 1;
    });
    expect([most, running]).toEqual([3, 0]);
    expect(result.perSecond).toBeGreaterThan(0);
    expect(done).toBeGreaterThanOrEqual(3);
    expect(result.p99).toBeGreaterThanOrEqual(result.p50);
    await expect(closedLoop(2, 1, () => Promise.reject(new RangeError('refused')))).rejects.toThrow('refused');
  });

  it('takes the median of each figure over the runs: one disturbed run does not count', () => {
    const disturbed = { perSecond: 1, p50: 900, p99: 9000 };
    const runs = [{ perSecond: 100, p50: 10, p99: 20 }, disturbed, { perSecond: 110, p50: 11, p99: 19 }];
    expect(medianLoad(runs)).toEqual({ perSecond: 100, p50: 11, p99: 20 });
  });
});

describe('the options', () => {
  const names = ['a', 'b'];

  it('refuse a path that does not exist and an option that is not known, instead of measuring nothing', () => {
    expect(() => readOptions(['--only', 'c'], names)).toThrow('There are: a, b.');
    expect(() => readOptions(['--fast'], names)).toThrow('--fast');
    expect(() => readOptions(['a'], names)).toThrow('positional');
  });

  it('take several paths either way, and shorten runs when asked', () => {
    expect(readOptions(['--only', 'a,b'], names).only).toEqual(['a', 'b']);
    expect(readOptions(['--only', 'a', '--only', 'b', '--json'], names)).toMatchObject({
      only: ['a', 'b'],
      json: true,
    });
    expect(readOptions(['--quick'], names).runs).toBeLessThan(readOptions([], names).runs);
  });
});
