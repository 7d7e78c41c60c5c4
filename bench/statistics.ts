/** The value half of the samples lie below; of an even number, the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  const sorted = ascending(samples);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest sample that at least `share` (0 < share ≤ 1) of all samples do not exceed: nearest rank, never invented. */
export function percentile(samples: readonly number[], share: number): number {
  if (!(share > 0 && share <= 1)) throw new RangeError('A percentile is a share above 0 and at most 1.');
  const sorted = ascending(samples);
  return sorted[Math.ceil(share * sorted.length) - 1]!;
}

function ascending(samples: readonly number[]): number[] {
  if (samples.length === 0) throw new RangeError('There are no samples.');
  if (samples.some((sample) => !Number.isFinite(sample))) throw new RangeError('A sample is not a number.');
  return samples.toSorted((a, b) => a - b);
}

export type Direction = 'lower' | 'higher';

/** How near a value comes to its limit: 1 = as good as the limit, 0.5 = half as good, whichever way is better. */
export function ratioToLimit(value: number, limit: number, better: Direction): number {
  return better === 'higher' ? value / limit : limit / value;
}

export interface Thresholds {
  good: number;
  great?: number;
}

export type Verdict = 'great' | 'good' | 'below';

/** A value that just meets a threshold has met it. */
export function verdictOf(value: number, { good, great }: Thresholds, better: Direction): Verdict {
  const meets = (threshold: number): boolean => (better === 'higher' ? value >= threshold : value <= threshold);
  if (great !== undefined && meets(great)) return 'great';
  return meets(good) ? 'good' : 'below';
}
