import type { Calculator } from './calculator.js';
import { businessDays } from './kinds/business-days.js';
import { calendarFields } from './kinds/calendar-fields.js';
import { choices } from './kinds/choices.js';
import { dateArithmetic } from './kinds/date-arithmetic.js';
import { dateTexts } from './kinds/date-text.js';
import { fiscalFields } from './kinds/fiscal-fields.js';
import { numbers } from './kinds/numbers.js';
import { periodDates } from './kinds/period-dates.js';
import { timeZoneShift } from './kinds/time-zone.js';

/** Every kind, in the order of the reference (contract 01 §7.3). */
export const CALCULATORS: readonly Calculator[] = [
  ...calendarFields,
  ...fiscalFields,
  ...periodDates,
  ...dateArithmetic,
  businessDays,
  ...dateTexts,
  timeZoneShift,
  ...numbers,
  ...choices,
];

const byKind: ReadonlyMap<string, Calculator> = new Map(CALCULATORS.map((calculator) => [calculator.kind, calculator]));

export function findCalculator(kind: string): Calculator | undefined {
  return byKind.get(kind);
}
