import { daysFromCivil } from '#libs/typesystem';

const MINUTE = 60_000_000n;

/** A time zone of `<#setting time_zone=…>`. */
export interface Zone {
  /** Offset from UTC, in minutes, at an instant in microseconds since 1970-01-01T00:00:00Z. */
  offsetAt(micros: bigint): number;
}

const fixed = (minutes: number): Zone => ({ offsetAt: () => minutes });

export const UTC: Zone = fixed(0);

/** `UTC`, `GMT+02:00`, `+02:00`, or a name of the time zone database such as `Europe/Berlin`; null for anything else. */
export function zoneOf(text: string): Zone | null {
  const minutes = parseOffset(text);
  return minutes === null ? namedZone(text) : fixed(minutes);
}

/** `UTC`, `GMT`, `Z`, `GMT+02:00`, `+02:00` as minutes; null for anything else. */
export function parseOffset(text: string): number | null {
  const match = /^(?:UTC|GMT|Z)?(?:([+-])(\d{1,2})(?::?(\d{2}))?)?$/.exec(text);
  if (!match || text === '') return null;
  const minutes = Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
  if (minutes > 18 * 60 || Number(match[3] ?? 0) > 59) return null;
  return match[1] === '-' ? -minutes : minutes;
}

/** The instant of a wall clock time in a zone; where the clock jumps, the offset before the jump counts. */
export function instantOf(localMicros: bigint, zone: Zone): bigint {
  const guess = localMicros - BigInt(zone.offsetAt(localMicros)) * MINUTE;
  return localMicros - BigInt(zone.offsetAt(guess)) * MINUTE;
}

function namedZone(name: string): Zone | null {
  if (!/^[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+)+$/.test(name)) return null;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  return { offsetAt: (micros) => offsetBy(format, micros) };
}

/** How far the zone's wall clock is ahead of UTC, in whole minutes. */
function offsetBy(format: Intl.DateTimeFormat, micros: bigint): number {
  const seconds = Number(micros / 1_000_000n);
  const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
  const field = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
  const year = parts.get('era') === 'BC' ? 1 - field('year') : field('year');
  const days = daysFromCivil(year, field('month'), field('day'));
  const local = days * 86_400 + field('hour') * 3600 + field('minute') * 60 + field('second');
  return Math.round((local - seconds) / 60);
}
