import { DayOfWeek, LocalDate } from '@js-joda/core';
import { formatDate, isShowableDay } from '#libs/typesystem';
import { CalculatorRefusal } from './calculator.js';

/** A DATE value is a real day of the years 0001 to 9999. */
export function localDate(text: string): LocalDate {
  return LocalDate.parse(text);
}

/** `YYYY-MM-DD`. @throws CalculatorRefusal `range` outside the years 0001 to 9999 */
export function dateText(date: LocalDate): string {
  const days = date.toEpochDay();
  if (!isShowableDay(days)) {
    throw new CalculatorRefusal(undefined, 'range', 'the result is outside the years 0001 to 9999');
  }
  return formatDate(days);
}

export const WEEK_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** 1 (Monday) to 7 (Sunday) of a day's English name. */
export function dayNumber(name: string): number {
  return WEEK_DAYS.findIndex((day) => day === name) + 1;
}

export function dayOfWeek(date: LocalDate): number {
  return (date.dayOfWeek() ?? DayOfWeek.MONDAY).value();
}
