import { civilFromDays, daysFromCivil, splitTimestamp } from '#libs/typesystem';
import type { DateForm } from '../runtime/values.js';
import { isoFormOf, isoText, offsetText } from './iso-form.js';
import type { Zone } from './zone.js';

interface Moment {
  form: DateForm;
  micros: bigint;
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const MONTHS = [
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

/**
 * A date as text: `iso`/`xs` forms, or a Java pattern of the letters `y M d H h m s S a E Z X` (contract 05 §4.5).
 * Null: the pattern has a letter outside of them.
 */
export function formatDate(value: Moment, pattern: string, zone: Zone): string | null {
  const iso = isoFormOf(pattern);
  if (iso) return isoText(value.form, value.micros, iso, zone);
  const zoneMinutes = zone.offsetAt(value.form === 'datetime' ? value.micros : 0n);
  const shift = value.form === 'datetime' ? BigInt(zoneMinutes) * 60_000_000n : 0n;
  const local = splitTimestamp(value.micros + shift);
  let out = '';
  for (const piece of pattern.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']/g)) {
    if (piece[1] !== undefined) out += piece[1] === '' ? "'" : piece[1].replaceAll("''", "'");
    else if (piece[2] === undefined) out += piece[0];
    else {
      const text = field(piece[2], piece[0].length, local, zoneMinutes);
      if (text === null) return null;
      out += text;
    }
  }
  return out;
}

function field(
  letter: string,
  width: number,
  local: { days: number; micros: number },
  zoneMinutes: number,
): string | null {
  const { year, month, day } = civilFromDays(local.days);
  const seconds = Math.floor(local.micros / 1_000_000);
  const hour = Math.floor(seconds / 3600);
  const padded = (n: number): string => String(n).padStart(width, '0');
  switch (letter) {
    case 'y':
      return width === 2 ? String(year % 100).padStart(2, '0') : padded(year);
    case 'M':
      if (width < 3) return padded(month);
      return width === 3 ? MONTHS[month - 1]!.slice(0, 3) : MONTHS[month - 1]!;
    case 'd':
      return padded(day);
    case 'H':
      return padded(hour);
    case 'h':
      return padded(hour % 12 === 0 ? 12 : hour % 12);
    case 'm':
      return padded(Math.floor(seconds / 60) % 60);
    case 's':
      return padded(seconds % 60);
    case 'S':
      return padded(Math.floor((local.micros % 1_000_000) / 1000));
    case 'a':
      return hour < 12 ? 'AM' : 'PM';
    case 'E': {
      const name = DAYS[(((local.days - daysFromCivil(1970, 1, 4)) % 7) + 7) % 7]!;
      return width < 4 ? name.slice(0, 3) : name;
    }
    case 'Z':
      return offsetText(zoneMinutes, '');
    case 'X':
      if (zoneMinutes === 0) return 'Z';
      return width === 1 ? offsetText(zoneMinutes, '').slice(0, 3) : offsetText(zoneMinutes, width === 3 ? ':' : '');
    default:
      return null;
  }
}
