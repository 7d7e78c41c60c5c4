import { countDigits, formatDecimal, powerOfTen, type Decimal, type TypedValue } from '#libs/typesystem';
import { CalculatorRefusal } from './calculator.js';

export const ROUNDING_MODES = ['half_up', 'half_even', 'floor', 'ceil'] as const;
export type RoundingMode = (typeof ROUNDING_MODES)[number];

/** Digits of an exact DECIMAL (contract 01 §5.1). */
const MAX_DIGITS = 15;

/** Quotient of two whole numbers, rounded. A tie goes away from zero with `half_up`, to the even one with `half_even`. */
export function divideRounded(dividend: bigint, divisor: bigint, mode: RoundingMode): bigint {
  const negative = dividend < 0n !== divisor < 0n;
  const top = dividend < 0n ? -dividend : dividend;
  const bottom = divisor < 0n ? -divisor : divisor;
  const whole = top / bottom;
  const rest = top % bottom;
  const up = rest !== 0n && goesAway(mode, negative, whole, 2n * rest - bottom);
  const magnitude = up ? whole + 1n : whole;
  return negative ? -magnitude : magnitude;
}

/** Whether the magnitude grows; `beyondHalf` is positive above the half, zero on it. */
function goesAway(mode: RoundingMode, negative: boolean, whole: bigint, beyondHalf: bigint): boolean {
  switch (mode) {
    case 'floor':
      return negative;
    case 'ceil':
      return !negative;
    case 'half_up':
      return beyondHalf >= 0n;
    case 'half_even':
      return beyondHalf > 0n || (beyondHalf === 0n && whole % 2n === 1n);
  }
}

export function roundDecimal({ unscaled, scale }: Decimal, places: number, mode: RoundingMode): Decimal {
  if (scale <= places) return { unscaled: unscaled * powerOfTen(places - scale), scale: places };
  return { unscaled: divideRounded(unscaled, powerOfTen(scale - places), mode), scale: places };
}

/** A DECIMAL(15, places). @throws CalculatorRefusal `precision` when the digits do not fit */
export function decimalResult(value: Decimal): TypedValue {
  if (countDigits(value.unscaled) > MAX_DIGITS) {
    const shown = formatDecimal(value).slice(0, 40);
    throw new CalculatorRefusal(undefined, 'precision', `the result ${shown} has more than ${MAX_DIGITS} digits`);
  }
  return { type: { type: 'DECIMAL', precision: MAX_DIGITS, scale: value.scale }, value };
}
