/** Proleptic Gregorian calendar in whole numbers: nothing here knows a time zone or a JavaScript Date. */

export const MICROS_PER_DAY = 86_400_000_000;
const MICROS_PER_DAY_BIG = 86_400_000_000n;

/** 0001-01-01 and 9999-12-31 as days since 1970-01-01: what DATE and TIMESTAMP can show (contract 01 §5.2). */
export const MIN_DAY = -719_162;
export const MAX_DAY = 2_932_896;
export const MIN_TIMESTAMP_MICROS = BigInt(MIN_DAY) * MICROS_PER_DAY_BIG;
export const MAX_TIMESTAMP_MICROS = BigInt(MAX_DAY + 1) * MICROS_PER_DAY_BIG - 1n;

/** Days since 1970-01-01 of a civil date; the date must be real. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

export function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const DATE_TEXT = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const TIME_TEXT = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?$/;
const TIMESTAMP_TEXT =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6})?))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;

/** Days since 1970-01-01 of `YYYY-MM-DD`, years 0000 to 9999; null when the text is no real day. */
export function parseDateText(text: string): number | null {
  const match = DATE_TEXT.exec(text);
  if (!match) return null;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  return daysFromCivil(year, month, day);
}

/** Microseconds of the day of `HH:MM:SS[.f{1,6}]`; `24:00:00` and leap seconds are null. */
export function parseTimeText(text: string): number | null {
  const match = TIME_TEXT.exec(text);
  if (!match) return null;
  const hour = Number(match[1]);
  const minute = Number(match[2]);
  const second = Number(match[3]);
  if (hour > 23 || minute > 59 || second > 59) return null;
  return ((hour * 60 + minute) * 60 + second) * 1_000_000 + Number((match[4] ?? '').padEnd(6, '0'));
}

/**
 * Epoch microseconds of `YYYY-MM-DDTHH:MM[:SS[.f{1,6}]]` with `Z` or an offset up to 18:00. Null when the form is
 * wrong; the instant may fall outside years 0001–9999, which the caller checks.
 */
export function parseTimestampText(text: string): bigint | null {
  const match = TIMESTAMP_TEXT.exec(text);
  if (!match) return null;
  const days = parseDateText(match[1]!);
  const micros = parseTimeText(`${match[2]!}:${match[3] ?? '00'}`);
  if (days === null || micros === null) return null;
  const offsetHours = Number(match[5] ?? 0);
  const offsetMinutes = offsetHours * 60 + Number(match[6] ?? 0);
  if (Number(match[6] ?? 0) > 59 || offsetMinutes > 18 * 60) return null;
  const offset = offsetMinutes * 60_000_000 * (match[4] === '-' ? 1 : -1);
  return BigInt(days) * MICROS_PER_DAY_BIG + BigInt(micros + offset);
}

export function isShowableDay(days: number): boolean {
  return days >= MIN_DAY && days <= MAX_DAY;
}

export function isShowableTimestamp(micros: bigint): boolean {
  return micros >= MIN_TIMESTAMP_MICROS && micros <= MAX_TIMESTAMP_MICROS;
}

export function isTimeOfDay(micros: number): boolean {
  return micros >= 0 && micros < MICROS_PER_DAY;
}

function two(n: number): string {
  return n < 10 ? `0${n}` : `${n}`;
}

/** `YYYY-MM-DD` of days since 1970-01-01 within years 0001–9999. */
export function formatDate(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const y = year >= 1000 ? `${year}` : String(year).padStart(4, '0');
  return `${y}-${two(month)}-${two(day)}`;
}

/** `HH:MM:SS.ffffff`, always six digits. */
export function formatTime(micros: number): string {
  const fraction = micros % 1_000_000;
  const seconds = (micros - fraction) / 1_000_000;
  const second = seconds % 60;
  const minutes = (seconds - second) / 60;
  const minute = minutes % 60;
  const tail = fraction === 0 ? '000000' : (1_000_000 + fraction).toString().slice(1);
  return `${two((minutes - minute) / 60)}:${two(minute)}:${two(second)}.${tail}`;
}

/** Splits epoch microseconds into the day and the microseconds of that day. */
export function splitTimestamp(micros: bigint): { days: number; micros: number } {
  let days = micros / MICROS_PER_DAY_BIG;
  let rest = micros % MICROS_PER_DAY_BIG;
  if (rest < 0n) {
    rest += MICROS_PER_DAY_BIG;
    days -= 1n;
  }
  return { days: Number(days), micros: Number(rest) };
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` of epoch microseconds within years 0001–9999. */
export function formatTimestamp(micros: bigint): string {
  const { days, micros: rest } = splitTimestamp(micros);
  return `${formatDate(days)}T${formatTime(rest)}Z`;
}
