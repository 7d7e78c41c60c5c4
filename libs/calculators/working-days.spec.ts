import { describe, expect, it } from '@jest/globals';
import { LocalDate } from '@js-joda/core';
import fc from 'fast-check';
import { WorkingWeek } from './working-days.js';

/** Day by day, by a calendar that is not ours. */
function walked(start: number, days: number, weekend: readonly number[], holidays: readonly number[]): number {
  let day = start;
  for (let left = Math.abs(days); left > 0;) {
    day += Math.sign(days);
    if (!weekend.includes(LocalDate.ofEpochDay(day).dayOfWeek().value()) && !holidays.includes(day)) left--;
  }
  return day;
}

/** Counts how often it is asked. */
class AskedSet extends Set<number> {
  asked = 0;

  override has(value: number): boolean {
    this.asked++;
    return super.has(value);
  }
}

describe('counting working days', () => {
  it('ends where a walk day by day ends, whatever the week, the holidays and the direction are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -20, max: 20 }),
        fc.integer({ min: -40, max: 40 }),
        fc.subarray([1, 2, 3, 4, 5, 6, 7], { maxLength: 6 }),
        fc.array(fc.integer({ min: -60, max: 60 }), { maxLength: 40 }),
        (start, days, weekend, holidays) => {
          const counted = new WorkingWeek(new Set(weekend)).after(start, days, holidays);
          expect(counted).toBe(walked(start, days, weekend, holidays));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('asks about a handful of days however far it goes, so that no pipeline holds up the server', () => {
    const weekend = new AskedSet([1, 2, 3, 4, 5, 6]);
    expect(new WorkingWeek(weekend).after(0, 100_000, [])).toBe(walked(0, 1, [1, 2, 3, 4, 5, 6], []) + 99_999 * 7);
    expect(weekend.asked).toBeLessThan(20);
  });
});
