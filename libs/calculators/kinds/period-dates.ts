import { dateValue, RESULT, type Calculator, type CalculatorInput } from '../calculator.js';
import { dateText, dayNumber } from '../dates.js';
import { endOf, months, PERIOD_UNITS, periodInputs, periodRule, weeks, weekStartInput } from '../periods.js';

const outputs = [{ name: RESULT, type: 'DATE' }] as const;
const bounds = [
  { name: 'start', type: 'DATE' },
  { name: 'end', type: 'DATE' },
] as const;

const countInput: CalculatorInput = {
  name: 'count',
  type: 'INTEGER',
  fallback: 1,
  defect: (value) => (Number(value) >= 1 ? undefined : 'a whole number of 1 or more'),
  about: 'How many periods.',
};

/** First and last days of weeks, months, quarters and years (contract 01 §7.3). */
export const periodDates: readonly Calculator[] = [
  {
    kind: 'period_start',
    about: 'First day of the period that contains the day.',
    phrases: ['start of the month', 'first day of the quarter', 'beginning of the fiscal year'],
    inputs: periodInputs,
    outputs,
    examples: [{ inputs: { date: '2026-05-17', unit: 'quarter' }, outputs: { [RESULT]: '2026-04-01' } }],
    compute: (given) => {
      const rule = periodRule(given);
      return { [RESULT]: dateValue(dateText(rule.startOf(rule.ordinalOf(given.date('date'))))) };
    },
  },
  {
    kind: 'period_end',
    about: 'Last day of the period that contains the day.',
    phrases: ['end of the month', 'last day of the quarter', 'end of the fiscal year'],
    inputs: periodInputs,
    outputs,
    examples: [{ inputs: { date: '2024-02-10', unit: 'month' }, outputs: { [RESULT]: '2024-02-29' } }],
    compute: (given) => {
      const rule = periodRule(given);
      return { [RESULT]: dateValue(dateText(endOf(rule, rule.ordinalOf(given.date('date'))))) };
    },
  },
  {
    kind: 'prior_period',
    about: 'First day of the period that lies `offset` periods before the day’s own.',
    phrases: ['last month', 'previous quarter', 'same week, so many weeks ago'],
    inputs: [
      ...periodInputs,
      { name: 'offset', type: 'INTEGER', fallback: 1, about: 'How many periods back; a negative number looks ahead.' },
    ],
    outputs,
    examples: [{ inputs: { date: '2026-01-15', unit: 'month' }, outputs: { [RESULT]: '2025-12-01' } }],
    compute: (given) => {
      const rule = periodRule(given);
      const ordinal = rule.ordinalOf(given.date('date')) - given.integer('offset');
      return { [RESULT]: dateValue(dateText(rule.startOf(ordinal))) };
    },
  },
  {
    kind: 'period_bounds',
    about: 'First and last day of the period that contains the day.',
    phrases: ['this week from to', 'bounds of the quarter', 'month to date range'],
    inputs: periodInputs,
    outputs: bounds,
    examples: [
      {
        inputs: { date: '2026-03-04', unit: 'week' },
        outputs: { start: '2026-03-02', end: '2026-03-08' },
      },
    ],
    compute: (given) => {
      const rule = periodRule(given);
      const ordinal = rule.ordinalOf(given.date('date'));
      return {
        start: dateValue(dateText(rule.startOf(ordinal))),
        end: dateValue(dateText(endOf(rule, ordinal))),
      };
    },
  },
  {
    kind: 'trailing_periods',
    about: 'First and last day of the `count` complete periods that ended before the day’s own began.',
    phrases: ['last three months', 'trailing four quarters', 'previous complete weeks'],
    inputs: [...periodInputs, countInput],
    outputs: bounds,
    examples: [
      {
        inputs: { date: '2026-03-04', unit: 'month', count: 3 },
        outputs: { start: '2025-12-01', end: '2026-02-28' },
      },
    ],
    compute: (given) => {
      const rule = periodRule(given);
      const ordinal = rule.ordinalOf(given.date('date'));
      return {
        start: dateValue(dateText(rule.startOf(ordinal - given.integer('count')))),
        end: dateValue(dateText(endOf(rule, ordinal - 1))),
      };
    },
  },
  {
    kind: 'date_trunc',
    about: 'The day cut down to its day, week, month, quarter or year.',
    phrases: ['truncate a date', 'round a date down to the month'],
    inputs: [
      { name: 'date', type: 'DATE', about: 'The day.' },
      { name: 'unit', type: 'STRING', allowed: ['day', ...PERIOD_UNITS], about: 'What to cut down to.' },
      weekStartInput,
    ],
    outputs,
    examples: [{ inputs: { date: '2026-05-17', unit: 'year' }, outputs: { [RESULT]: '2026-01-01' } }],
    compute: (given) => {
      const date = given.date('date');
      const unit = given.text('unit');
      if (unit === 'day') return { [RESULT]: dateValue(dateText(date)) };
      const rule =
        unit === 'week'
          ? weeks(dayNumber(given.text('week_start')))
          : months(unit === 'month' ? 1 : unit === 'quarter' ? 3 : 12);
      return { [RESULT]: dateValue(dateText(rule.startOf(rule.ordinalOf(date)))) };
    },
  },
];
