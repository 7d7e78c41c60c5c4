import { LocalDate } from '@js-joda/core';
import { civilFromDays, daysInMonth, formatDate } from '#libs/typesystem';
import { CalculatorRefusal } from './calculator.js';
import { dayOfWeek } from './dates.js';
import { readPattern, type Field, type PatternPart } from './pattern-parts.js';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const QUARTERS = ['1st quarter', '2nd quarter', '3rd quarter', '4th quarter'];

/** Prints a date by Java pattern letters, with English names. @throws CalculatorRefusal */
export function formatByPattern(date: LocalDate, pattern: string): string {
  return partsOf(pattern)
    .map((part) => (part.kind === 'text' ? part.text : formatField(date, part)))
    .join('');
}

function formatField(date: LocalDate, { field, width }: Field): string {
  const padded = (value: number, digits = width) => String(value).padStart(digits, '0');
  switch (field) {
    case 'year':
      return width === 2 ? padded(date.year() % 100) : padded(date.year());
    case 'month':
      return width > 2 ? named(MONTHS[date.monthValue() - 1]!, width) : padded(date.monthValue());
    case 'day':
      return padded(date.dayOfMonth());
    case 'dayOfYear':
      return padded(date.dayOfYear());
    case 'weekday':
      return named(DAYS[dayOfWeek(date) - 1]!, Math.max(width, 3));
    case 'quarter': {
      const quarter = Math.ceil(date.monthValue() / 3);
      return width === 3 ? `Q${quarter}` : width === 4 ? QUARTERS[quarter - 1]! : padded(quarter);
    }
    default:
      // A date has no time of day: the letters are refused for formatting.
      throw new CalculatorRefusal('format', 'format', 'a date has no time of day');
  }
}

/** Three letters, the full name, or one letter. */
function named(name: string, width: number): string {
  return width === 3 ? name.slice(0, 3) : width === 4 ? name : name.slice(0, 1);
}

type Found = Partial<Record<Field['field'], number>>;

/** Reads a date by Java pattern letters: the whole text, and a real day. @throws CalculatorRefusal */
export function parseByPattern(text: string, pattern: string): LocalDate {
  const found: Found = {};
  let at = 0;
  for (const part of partsOf(pattern)) {
    const length = part.kind === 'text' ? matchText(text, at, part.text) : matchField(text, at, part, found);
    if (length === undefined) throw unreadable(text);
    at += length;
  }
  if (at !== text.length) throw unreadable(text);
  return dateOf(found, text);
}

function matchText(text: string, at: number, expected: string): number | undefined {
  return text.startsWith(expected, at) ? expected.length : undefined;
}

function matchField(text: string, at: number, part: Field, found: Found): number | undefined {
  const { field, width } = part;
  if (field === 'month' && width > 2) return matchName(text, at, MONTHS, width, (index) => (found.month = index + 1));
  if (field === 'weekday') return matchName(text, at, DAYS, Math.max(width, 3), (index) => (found.weekday = index + 1));
  const digits = new RegExp(`^[0-9]{${part.minDigits},${part.maxDigits}}`).exec(text.slice(at, at + part.maxDigits));
  if (!digits) return undefined;
  const value = Number(digits[0]);
  if (value < part.lowest || value > part.highest) return undefined;
  found[field] = field === 'year' && width === 2 ? 2000 + value : value;
  return digits[0].length;
}

function matchName(
  text: string,
  at: number,
  names: readonly string[],
  width: number,
  take: (index: number) => void,
): number | undefined {
  const candidates = names.map((name) => named(name, width));
  const index = candidates.findIndex((name) => text.startsWith(name, at));
  if (index < 0) return undefined;
  take(index);
  return candidates[index]!.length;
}

function dateOf(found: Found, text: string): LocalDate {
  const { year, month, day, dayOfYear, weekday } = found;
  const date = year === undefined ? undefined : dayIn(year, month, day, dayOfYear);
  if (!date || (weekday !== undefined && dayOfWeek(date) !== weekday)) throw unreadable(text);
  return date;
}

function dayIn(year: number, month?: number, day?: number, dayOfYear?: number): LocalDate | undefined {
  if (year < 1) return undefined;
  if (dayOfYear !== undefined) {
    const date = LocalDate.of(year, 1, 1).plusDays(dayOfYear - 1);
    const { month: m, day: d } = civilFromDays(date.toEpochDay());
    const agrees = (month === undefined || month === m) && (day === undefined || day === d);
    return date.year() === year && agrees ? date : undefined;
  }
  if (month === undefined || day === undefined || day > daysInMonth(year, month)) return undefined;
  return LocalDate.of(year, month, day);
}

function partsOf(pattern: string): readonly PatternPart[] {
  const read = readPattern(pattern);
  if (read.ok) return read.parts;
  throw new CalculatorRefusal('format', 'format', `expected ${read.expected}`);
}

function unreadable(text: string): CalculatorRefusal {
  return new CalculatorRefusal('text', 'format', `the text of ${text.length} characters is no date of this format`);
}

/** Whether the letters of a pattern give a whole date. */
export function parseDefect(pattern: unknown): string | undefined {
  const read = readPattern(pattern);
  if (!read.ok) return read.expected;
  if (read.parts.some(isAmbiguous)) return 'a format without quarters and one-letter names, which say no single day';
  const fields = new Set(read.parts.map((part) => (part.kind === 'field' ? part.field : undefined)));
  if (fields.has('year') && (fields.has('dayOfYear') || (fields.has('month') && fields.has('day')))) return undefined;
  return `a format with year, month and day, such as yyyy-MM-dd (${formatDate(0)})`;
}

function isAmbiguous(part: PatternPart): boolean {
  return part.kind === 'field' && (part.field === 'quarter' || part.width === 5);
}

/** Whether a date can be printed by a pattern. */
export function formatDefect(pattern: unknown): string | undefined {
  const read = readPattern(pattern);
  if (!read.ok) return read.expected;
  return read.parts.some((part) => part.kind === 'field' && part.ofTime)
    ? 'a format without letters of the time of day'
    : undefined;
}
