import { powerOfTen } from '#libs/typesystem';
import { CalculatorRefusal, RESULT, type Calculator, type CalculatorInput } from '../calculator.js';
import { decimalResult, divideRounded, roundDecimal, ROUNDING_MODES, type RoundingMode } from '../exact-rounding.js';

const MAX_PLACES = 15;

const placesInput = (fallback: number): CalculatorInput => ({
  name: 'places',
  type: 'INTEGER',
  fallback,
  about: `Digits after the point, 0 to ${MAX_PLACES}.`,
  defect: (value) =>
    Number(value) >= 0 && Number(value) <= MAX_PLACES ? undefined : `a whole number from 0 to ${MAX_PLACES}`,
});

const outputs = [{ name: RESULT, type: 'DECIMAL', precision: 15, scaleFrom: 'places' }] as const;

/** Digits the ratio carries beyond the result's: two go with the factor 100, two keep the last place right. */
const CARRIED = 4;

/** Exact numbers: nothing passes through a double (contract 01 §7.3). */
export const numbers: readonly Calculator[] = [
  {
    kind: 'round',
    about: 'The number rounded to so many places. More than 15 digits in the result fail.',
    phrases: ['round a number', 'two decimals', 'round up', 'round down'],
    inputs: [
      { name: 'value', type: 'DECIMAL', about: 'A number of any type.' },
      placesInput(0),
      {
        name: 'mode',
        type: 'STRING',
        fallback: 'half_up',
        allowed: ROUNDING_MODES,
        about: 'Ties: half_up goes away from zero, half_even to the even digit. floor goes down, ceil up.',
      },
    ],
    outputs,
    examples: [
      { inputs: { value: 2.5, mode: 'half_even' }, outputs: { [RESULT]: 2 } },
      { inputs: { value: -2.345, places: 2 }, outputs: { [RESULT]: -2.35 } },
    ],
    compute: (given) => {
      const mode = ROUNDING_MODES.find((word) => word === given.text('mode')) ?? 'half_up';
      return { [RESULT]: decimalResult(roundDecimal(given.decimal('value'), given.integer('places'), mode)) };
    },
  },
  {
    kind: 'percent_change',
    about: 'How many percent `current` lies above `previous`: (current − previous) / previous × 100.',
    phrases: ['percent change', 'growth rate', 'change against last year in percent'],
    inputs: [
      { name: 'current', type: 'DECIMAL', about: 'The new number.' },
      { name: 'previous', type: 'DECIMAL', about: 'The number it is compared with; not zero.' },
      placesInput(6),
    ],
    outputs,
    examples: [{ inputs: { current: 125, previous: 100, places: 2 }, outputs: { [RESULT]: 25 } }],
    compute: (given) => {
      const current = given.decimal('current');
      const previous = given.decimal('previous');
      const places = given.integer('places');
      if (previous.unscaled === 0n)
        throw new CalculatorRefusal('previous', 'value', 'a change from zero has no percentage');
      const scale = Math.max(current.scale, previous.scale);
      const from = previous.unscaled * powerOfTen(scale - previous.scale);
      const change = current.unscaled * powerOfTen(scale - current.scale) - from;
      const mode: RoundingMode = 'half_up';
      const ratio = divideRounded(change * powerOfTen(places + CARRIED), from, mode);
      return { [RESULT]: decimalResult(roundDecimal({ unscaled: ratio, scale: places + CARRIED - 2 }, places, mode)) };
    },
  },
];
