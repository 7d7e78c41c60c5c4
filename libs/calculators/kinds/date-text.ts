import { dateValue, RESULT, type Calculator, type CalculatorInput } from '../calculator.js';
import { formatByPattern, formatDefect, parseByPattern, parseDefect } from '../date-pattern.js';
import { dateText } from '../dates.js';

const format = (defect: CalculatorInput['defect']): CalculatorInput => ({
  name: 'format',
  type: 'STRING',
  defect,
  about: 'Java pattern letters, such as yyyy-MM-dd, dd/MM/yyyy or EEE d MMM yyyy; names are English.',
});

/** Dates from texts and texts from dates (contract 01 §7.3). */
export const dateTexts: readonly Calculator[] = [
  {
    kind: 'date_parse',
    about: 'The day a text names. The whole text must have the format, and the day must exist.',
    phrases: ['parse a date', 'text to date'],
    inputs: [{ name: 'text', type: 'STRING', about: 'The text.' }, format(parseDefect)],
    outputs: [{ name: RESULT, type: 'DATE' }],
    examples: [{ inputs: { text: '17 May 2026', format: 'd MMM yyyy' }, outputs: { [RESULT]: '2026-05-17' } }],
    compute: (given) => ({ [RESULT]: dateValue(dateText(parseByPattern(given.text('text'), given.text('format')))) }),
  },
  {
    kind: 'date_format',
    about: 'The day as text.',
    phrases: ['format a date', 'date to text', 'month name of a date'],
    inputs: [{ name: 'date', type: 'DATE', about: 'The day.' }, format(formatDefect)],
    outputs: [{ name: RESULT, type: 'STRING' }],
    examples: [
      { inputs: { date: '2026-05-17', format: 'EEEE, d MMMM yyyy' }, outputs: { [RESULT]: 'Sunday, 17 May 2026' } },
    ],
    compute: (given) => ({
      [RESULT]: { type: { type: 'STRING' }, value: formatByPattern(given.date('date'), given.text('format')) },
    }),
  },
];
