import { integerResult, RESULT, type Calculator, type CalculatorInput } from '../calculator.js';
import { FiscalCalendar } from '../fiscal-calendar.js';
import { fiscalStartInput } from '../periods.js';

const inputs: readonly CalculatorInput[] = [
  { name: 'date', type: 'DATE', about: 'The day.' },
  // Required here: a fiscal year without its start would quietly be the calendar year.
  { ...fiscalStartInput, fallback: undefined },
];
const outputs = [{ name: RESULT, type: 'INTEGER' }] as const;

/** Fiscal year and quarter of a day (contract 01 §7.3). */
export const fiscalFields: readonly Calculator[] = [
  {
    kind: 'fiscal_year',
    about: 'Fiscal year of the day, labelled by the calendar year it starts in.',
    phrases: ['fiscal year', 'financial year of a date'],
    inputs,
    outputs,
    examples: [{ inputs: { date: '2026-03-31', fiscal_start: '04-01' }, outputs: { [RESULT]: 2025 } }],
    compute: (given) => integerResult(new FiscalCalendar(given.text('fiscal_start')).yearOf(given.date('date'))),
  },
  {
    kind: 'fiscal_quarter',
    about: 'Quarter of the fiscal year, 1 to 4.',
    phrases: ['fiscal quarter', 'financial quarter of a date'],
    inputs,
    outputs,
    examples: [{ inputs: { date: '2026-03-31', fiscal_start: '04-01' }, outputs: { [RESULT]: 4 } }],
    compute: (given) => integerResult(new FiscalCalendar(given.text('fiscal_start')).quarterOf(given.date('date')) + 1),
  },
];
