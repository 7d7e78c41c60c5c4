/** 1970-01-01 was a Thursday. Days are epoch days, days of the week 1 (Monday) to 7. */
function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}

/**
 * A week with days of work and without. Whole weeks are counted at once: a pipeline may have a thousand such nodes, all
 * computed in one turn of the event loop, and each may go 100,000 days far.
 */
export class WorkingWeek {
  /** `weekend` leaves at least one day of work. */
  constructor(private readonly weekend: ReadonlySet<number>) {}

  /** The day so many working days later, earlier when negative; weekends and `holidays` do not count. */
  after(start: number, days: number, holidays: readonly number[]): number {
    const step = Math.sign(days);
    const ahead = holidays.filter((day) => (day - start) * step > 0 && this.#works(day)).sort((a, b) => (a - b) * step);
    let day = this.#pastWeekends(start, days);
    // Each holiday on the way moves the end by one day of work, and that may put further ones onto the way.
    for (const holiday of new Set(ahead)) {
      if ((holiday - day) * step > 0) break;
      day = this.#pastWeekends(day, step);
    }
    return day;
  }

  /** Whole weeks but the last, which ends on a day of work: that one goes by steps. */
  #pastWeekends(start: number, days: number): number {
    const perWeek = 7 - this.weekend.size;
    const step = Math.sign(days);
    const weeks = Math.floor(Math.max(0, Math.abs(days) - 1) / perWeek);
    let day = start + step * 7 * weeks;
    for (let left = Math.abs(days) - weeks * perWeek; left > 0;) {
      day += step;
      if (this.#works(day)) left--;
    }
    return day;
  }

  #works(day: number): boolean {
    return !this.weekend.has(weekdayOf(day));
  }
}
