import { LocalDate } from '@js-joda/core';
import type { CalculatorInput } from './calculator.js';
import { dayNumber, WEEK_DAYS } from './dates.js';
import { FiscalCalendar, monthDayDefect } from './fiscal-calendar.js';
import type { GivenInputs } from './given-inputs.js';

/** Periods without a gap between them, numbered in order: the next one starts where this one ends. */
export interface PeriodRule {
  /** Number of the period that contains the date. */
  ordinalOf(date: LocalDate): number;
  startOf(ordinal: number): LocalDate;
}

export const PERIOD_UNITS = ['week', 'month', 'quarter', 'year'] as const;

export const weekStartInput: CalculatorInput = {
  name: 'week_start',
  type: 'STRING',
  fallback: 'monday',
  allowed: WEEK_DAYS,
  about: 'First day of a week. The organisation’s own is `$org_week_start`.',
};

export const fiscalStartInput: CalculatorInput = {
  name: 'fiscal_start',
  type: 'STRING',
  fallback: '01-01',
  defect: monthDayDefect,
  about: 'First day of the fiscal year as MM-DD. The organisation’s own is `$org_fiscal_start_date`.',
};

/** What the kinds that work on periods take. */
export const periodInputs: readonly CalculatorInput[] = [
  { name: 'date', type: 'DATE', about: 'Any day of the period.' },
  { name: 'unit', type: 'STRING', allowed: PERIOD_UNITS, about: 'Length of the period.' },
  {
    name: 'mode',
    type: 'STRING',
    fallback: 'calendar',
    allowed: ['calendar', 'fiscal'],
    about: 'Whether quarters and years follow the calendar or the fiscal year; weeks and months ignore it.',
  },
  fiscalStartInput,
  weekStartInput,
];

export function periodRule(given: GivenInputs): PeriodRule {
  const fiscal = given.text('mode') === 'fiscal';
  switch (given.text('unit')) {
    case 'week':
      return weeks(dayNumber(given.text('week_start')));
    case 'month':
      return months(1);
    case 'quarter':
      return fiscal ? fiscalQuarters(new FiscalCalendar(given.text('fiscal_start'))) : months(3);
    default:
      return fiscal ? fiscalYears(new FiscalCalendar(given.text('fiscal_start'))) : months(12);
  }
}

/** 1970-01-05 was a Monday. */
const A_MONDAY = 4;

export function weeks(firstDay: number): PeriodRule {
  const origin = A_MONDAY + firstDay - 1;
  return {
    ordinalOf: (date) => Math.floor((date.toEpochDay() - origin) / 7),
    startOf: (ordinal) => LocalDate.ofEpochDay(origin + 7 * ordinal),
  };
}

/** Periods of 1, 3 or 12 calendar months. */
export function months(length: number): PeriodRule {
  return {
    ordinalOf: (date) => Math.floor((date.year() * 12 + date.monthValue() - 1) / length),
    startOf: (ordinal) => {
      const month = ordinal * length;
      const year = Math.floor(month / 12);
      return LocalDate.of(year, month - 12 * year + 1, 1);
    },
  };
}

function fiscalYears(calendar: FiscalCalendar): PeriodRule {
  return { ordinalOf: (date) => calendar.yearOf(date), startOf: (year) => calendar.yearStart(year) };
}

function fiscalQuarters(calendar: FiscalCalendar): PeriodRule {
  return {
    ordinalOf: (date) => 4 * calendar.yearOf(date) + calendar.quarterOf(date),
    startOf: (ordinal) => calendar.quarterStart(Math.floor(ordinal / 4), ordinal - 4 * Math.floor(ordinal / 4)),
  };
}

/** The last day of a period: the day before the next one starts. */
export function endOf(rule: PeriodRule, ordinal: number): LocalDate {
  return rule.startOf(ordinal + 1).minusDays(1);
}
