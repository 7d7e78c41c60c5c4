import { LocalDate } from '@js-joda/core';
import { CalculatorRefusal, dateValue, RESULT, type Calculator } from '../calculator.js';
import { dateText, dayNumber, localDate, WEEK_DAYS } from '../dates.js';
import type { GivenInputs } from '../given-inputs.js';
import { WorkingWeek } from '../working-days.js';

/** Working days either way (contract 01 §7.3). */
const MAX_DAYS = 100_000;

export const businessDays: Calculator = {
  kind: 'add_business_days',
  about: 'The day so many working days later; weekends and holidays do not count. Zero days is the day itself.',
  phrases: ['working days later', 'business days ago', 'next working day'],
  inputs: [
    { name: 'date', type: 'DATE', about: 'The day to count from; it need not be a working day.' },
    {
      name: 'days',
      type: 'INTEGER',
      about: `How many working days, at most ${MAX_DAYS} either way.`,
      defect: (value) =>
        Math.abs(Number(value)) <= MAX_DAYS ? undefined : `a whole number from -${MAX_DAYS} to ${MAX_DAYS}`,
    },
    {
      name: 'weekend_days',
      type: 'STRING',
      list: true,
      fallback: ['saturday', 'sunday'],
      allowed: WEEK_DAYS,
      about: 'Days of the week without work; at least one day must remain.',
    },
    { name: 'holidays', type: 'DATE', list: true, optional: true, about: 'Further days without work.' },
  ],
  outputs: [{ name: RESULT, type: 'DATE' }],
  examples: [
    { inputs: { date: '2026-03-06', days: 1 }, outputs: { [RESULT]: '2026-03-09' } },
    { inputs: { date: '2026-03-06', days: 1, holidays: ['2026-03-09'] }, outputs: { [RESULT]: '2026-03-10' } },
  ],
  jointDefect: (inputs) => {
    const weekend = inputs.get('weekend_days');
    return Array.isArray(weekend) &&
      new Set(weekend).size >= 7 &&
      weekend.every((day) => typeof day === 'string' && !day.startsWith('$'))
      ? { input: 'weekend_days', message: 'a week of weekend days leaves no working day' }
      : undefined;
  },
  compute: (given) => ({ [RESULT]: dateValue(dateText(end(given))) }),
};

function end(given: GivenInputs): LocalDate {
  const weekend = new Set(given.texts('weekend_days').map(dayNumber));
  if (weekend.size >= 7) {
    throw new CalculatorRefusal('weekend_days', 'value', 'a week of weekend days leaves no working day');
  }
  const holidays = given.texts('holidays').map((text) => localDate(text).toEpochDay());
  const start = given.date('date').toEpochDay();
  return LocalDate.ofEpochDay(new WorkingWeek(weekend).after(start, given.integer('days'), holidays));
}
