import { LocalDate } from '@js-joda/core';
import { daysInMonth } from '#libs/typesystem';

const MONTH_DAY = /^(0[1-9]|1[0-2])-([0-3][0-9])$/;
/** Any leap year: `02-29` is a legal start. */
const LEAP_YEAR = 2024;

export function monthDayDefect(text: unknown): string | undefined {
  const match = typeof text === 'string' ? MONTH_DAY.exec(text) : null;
  const day = Number(match?.[2]);
  if (match && day >= 1 && day <= daysInMonth(LEAP_YEAR, Number(match[1]))) return undefined;
  return 'a day of the year as MM-DD, such as 04-01';
}

/**
 * Fiscal years and quarters (contract 01 §7.3): a year is labelled by the calendar year it starts in; its quarter k
 * starts 3k months after it, clamped to the month's end. A date belongs to the period whose starts contain it.
 */
export class FiscalCalendar {
  readonly #month: number;
  readonly #day: number;

  constructor(start: string) {
    this.#month = Number(start.slice(0, 2));
    this.#day = Number(start.slice(3));
  }

  /** `02-29` is `02-28` where the year has no such day. */
  yearStart(year: number): LocalDate {
    return LocalDate.of(year, this.#month, Math.min(this.#day, LocalDate.of(year, this.#month, 1).lengthOfMonth()));
  }

  yearOf(date: LocalDate): number {
    return date.isBefore(this.yearStart(date.year())) ? date.year() - 1 : date.year();
  }

  /** `quarter` counts from 0 and may go on past 3: four of them are a year. */
  quarterStart(year: number, quarter: number): LocalDate {
    const years = Math.floor(quarter / 4);
    return this.yearStart(year + years).plusMonths(3 * (quarter - 4 * years));
  }

  /** 0 to 3. */
  quarterOf(date: LocalDate): number {
    const year = this.yearOf(date);
    for (let quarter = 3; quarter > 0; quarter--) {
      if (!date.isBefore(this.quarterStart(year, quarter))) return quarter;
    }
    return 0;
  }
}
