import { IsoFields, type LocalDate } from '@js-joda/core';
import { integerResult, RESULT, type Calculator, type CalculatorExample } from '../calculator.js';
import { dayNumber, dayOfWeek } from '../dates.js';
import { weekStartInput } from '../periods.js';

const OUTPUTS = [{ name: RESULT, type: 'INTEGER' }] as const;

function field(
  kind: string,
  about: string,
  phrases: string[],
  of: (date: LocalDate) => number,
  examples: CalculatorExample[],
): Calculator {
  return {
    kind,
    about,
    phrases,
    inputs: [{ name: 'date', type: 'DATE', about: 'The day.' }],
    outputs: OUTPUTS,
    examples,
    compute: (given) => integerResult(of(given.date('date'))),
  };
}

/** Numbers that a day has in the calendar (contract 01 §7.3). */
export const calendarFields: readonly Calculator[] = [
  field(
    'quarter_of_year',
    'Quarter of the calendar year, 1 to 4.',
    ['which quarter', 'calendar quarter of a date'],
    (date) => Math.ceil(date.monthValue() / 3),
    [{ inputs: { date: '2026-05-01' }, outputs: { [RESULT]: 2 } }],
  ),
  field(
    'iso_week',
    'ISO 8601 week number, 1 to 53: weeks start on Monday, week 1 holds the first Thursday.',
    ['week number', 'calendar week', 'ISO week'],
    (date) => date.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR),
    [{ inputs: { date: '2021-01-03' }, outputs: { [RESULT]: 53 } }],
  ),
  field(
    'iso_year',
    'Year that the ISO 8601 week of the day belongs to.',
    ['year of the ISO week', 'week-based year'],
    (date) => date.get(IsoFields.WEEK_BASED_YEAR),
    [{ inputs: { date: '2021-01-03' }, outputs: { [RESULT]: 2020 } }],
  ),
  field(
    'days_in_month',
    'Number of days of the day’s month, 28 to 31.',
    ['how many days has the month', 'length of the month'],
    (date) => date.lengthOfMonth(),
    [{ inputs: { date: '2024-02-10' }, outputs: { [RESULT]: 29 } }],
  ),
  {
    kind: 'day_of_week',
    about: 'Number of the day in its week, 1 to 7, counted from `week_start`.',
    phrases: ['weekday', 'day of the week'],
    inputs: [{ name: 'date', type: 'DATE', about: 'The day.' }, weekStartInput],
    outputs: OUTPUTS,
    examples: [
      { inputs: { date: '2026-03-01' }, outputs: { [RESULT]: 7 } },
      { inputs: { date: '2026-03-01', week_start: 'sunday' }, outputs: { [RESULT]: 1 } },
    ],
    compute: (given) => {
      const first = dayNumber(given.text('week_start'));
      return integerResult(((dayOfWeek(given.date('date')) - first + 7) % 7) + 1);
    },
  },
];
