import { ChronoUnit } from '@js-joda/core';
import { dateValue, integerResult, RESULT, type Calculator } from '../calculator.js';
import { dateText } from '../dates.js';
import { PERIOD_UNITS } from '../periods.js';

const DATE_OUTPUT = [{ name: RESULT, type: 'DATE' }] as const;

/** Distances between days and steps from one day to another (contract 01 §7.3). */
export const dateArithmetic: readonly Calculator[] = [
  {
    kind: 'date_diff',
    about: 'Complete units from one day to another, cut towards zero; negative when `to` lies before `from`.',
    phrases: ['days between', 'how many months from to', 'age in years'],
    inputs: [
      { name: 'from', type: 'DATE', about: 'First day.' },
      { name: 'to', type: 'DATE', about: 'Second day.' },
      { name: 'unit', type: 'STRING', allowed: ['day', ...PERIOD_UNITS], about: 'What is counted.' },
    ],
    outputs: [{ name: RESULT, type: 'INTEGER' }],
    examples: [
      { inputs: { from: '2026-01-31', to: '2026-02-28', unit: 'month' }, outputs: { [RESULT]: 0 } },
      { inputs: { from: '2026-03-01', to: '2026-02-01', unit: 'day' }, outputs: { [RESULT]: -28 } },
    ],
    compute: (given) => {
      const from = given.date('from');
      const to = given.date('to');
      const unit = given.text('unit');
      if (unit === 'day' || unit === 'week') {
        const days = to.toEpochDay() - from.toEpochDay();
        return integerResult(unit === 'day' ? days : towardsZero(days, 7));
      }
      const months = from.until(to, ChronoUnit.MONTHS);
      return integerResult(towardsZero(months, unit === 'month' ? 1 : unit === 'quarter' ? 3 : 12));
    },
  },
  {
    kind: 'add_days',
    about: 'The day so many days later; a negative number goes back.',
    phrases: ['days ago', 'days from now', 'yesterday', 'tomorrow'],
    inputs: [
      { name: 'date', type: 'DATE', about: 'The day.' },
      { name: 'days', type: 'INTEGER', about: 'How many days.' },
    ],
    outputs: DATE_OUTPUT,
    examples: [{ inputs: { date: '2026-03-01', days: -1 }, outputs: { [RESULT]: '2026-02-28' } }],
    compute: (given) => ({ [RESULT]: dateValue(dateText(given.date('date').plusDays(given.integer('days')))) }),
  },
  {
    kind: 'add_months',
    about: 'The day so many months later; a day the month does not have becomes its last one.',
    phrases: ['months ago', 'next month same day', 'one year later'],
    inputs: [
      { name: 'date', type: 'DATE', about: 'The day.' },
      { name: 'months', type: 'INTEGER', about: 'How many months.' },
    ],
    outputs: DATE_OUTPUT,
    examples: [{ inputs: { date: '2026-01-31', months: 1 }, outputs: { [RESULT]: '2026-02-28' } }],
    compute: (given) => ({ [RESULT]: dateValue(dateText(given.date('date').plusMonths(given.integer('months')))) }),
  },
];

/** Zero without a sign: `-0` is not a number an INTEGER prints. */
function towardsZero(value: number, by: number): number {
  return Math.trunc(value / by) + 0;
}
