import { formatDate, formatTime, parseDateText, parseTimeText, parseTimestampText } from '#libs/typesystem';
import type { DateForm } from '../runtime/values.js';
import { instantOf, parseOffset, UTC, type Zone } from './zone.js';

export const DAY = 86_400_000_000n;
const MINUTE = 60_000_000n;

/** Options of an `iso` or `xs` format: `iso m nz`, `xs_ms_u`. */
export interface IsoForm {
  kind: 'iso' | 'xs';
  precision: 'h' | 'm' | 's' | 'ms' | null;
  /** Null: a zone for a datetime, none for a date or a time. */
  zoneShown: boolean | null;
  /** Shown in UTC, whatever the zone is. */
  inUtc: boolean;
}

/** Null for any other format. */
export function isoFormOf(pattern: string): IsoForm | null {
  const [kind, ...options] = pattern === '' ? ['iso'] : pattern.split(/[ _]/);
  if (kind !== 'iso' && kind !== 'xs') return null;
  const form: IsoForm = { kind, precision: null, zoneShown: null, inUtc: false };
  for (const option of options) {
    if (option === 'h' || option === 'm' || option === 's' || option === 'ms') form.precision = option;
    else if (option === 'nz' || option === 'fz') form.zoneShown = option === 'fz';
    else if (option === 'u' || option === 'fu') form.inUtc = true;
    else return null;
  }
  return form;
}

/** A date, time or instant in an `iso` or `xs` form. A DATE and a TIME of SQL have no zone, so none is shown for them. */
export function isoText(form: DateForm, micros: bigint, iso: IsoForm, zone: Zone): string {
  const shownIn = iso.inUtc ? UTC : zone;
  const offset = form === 'datetime' ? shownIn.offsetAt(micros) : shownIn.offsetAt(0n);
  const local = form === 'datetime' ? micros + BigInt(offset) * MINUTE : micros;
  const ofDay = ((local % DAY) + DAY) % DAY;
  const date = formatDate(Number((local - ofDay) / DAY));
  if (form === 'date') return date;
  const shown = iso.zoneShown ?? form === 'datetime';
  const suffix = !shown ? '' : offset === 0 ? 'Z' : offsetText(offset, ':');
  const clock = `${clockText(Number(ofDay), iso.precision)}${suffix}`;
  return form === 'time' ? clock : `${date}T${clock}`;
}

function clockText(micros: number, precision: IsoForm['precision']): string {
  const text = formatTime(micros);
  switch (precision) {
    case 'h':
      return text.slice(0, 2);
    case 'm':
      return text.slice(0, 5);
    case 's':
      return text.slice(0, 8);
    case 'ms':
      return text.slice(0, 12);
    case null:
      return text.slice(0, 8) + text.slice(8).replace(/\.?0+$/, '');
  }
}

export function offsetText(minutes: number, separator: string): string {
  const size = Math.abs(minutes);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${separator}${two(size % 60)}`;
}

/** Microseconds of a text in an `iso` or `xs` form; null if it has another one. */
export function parseIso(text: string, form: DateForm, { kind }: IsoForm, zone: Zone): bigint | null {
  if (form === 'date') return kind === 'xs' ? parseZonedDate(text, zone) : parseDay(text);
  if (form === 'time') return parseClock(text.replace(/Z$/, ''));
  const parts = /^(.+)T(.+?)(Z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text);
  const day = parts && parseDay(parts[1]!);
  const clock = parts && parseClock(parts[2]!);
  if (!parts || day === null || clock === null) return null;
  if (parts[3] === undefined) return instantOf(day + clock, zone);
  const offset = parseOffset(parts[3]);
  return offset === null ? null : day + clock - BigInt(offset) * MINUTE;
}

function parseDay(text: string): bigint | null {
  const days = parseDateText(text.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'));
  return days === null ? null : BigInt(days) * DAY;
}

/** 24:00 is the end of a day. */
function parseClock(text: string): bigint | null {
  const extended = text.replace(
    /^(\d{2})(\d{2})(\d{2})?(?=\.|$)/,
    (_all, h: string, m: string, s = '00') => `${h}:${m}:${s}`,
  );
  const full = /^\d{2}:\d{2}$/.test(extended) ? `${extended}:00` : extended;
  if (/^24:00:00(?:\.0+)?$/.test(full)) return DAY;
  const micros = parseTimeText(full);
  return micros === null ? null : BigInt(micros);
}

/** A date of XML Schema may have a zone: it is the day on which it begins in ours. */
function parseZonedDate(text: string, zone: Zone): bigint | null {
  const parts = /^(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:\d{2})?$/.exec(text);
  if (!parts) return null;
  const start = parts[2] === undefined ? null : parseTimestampText(`${parts[1]!}T00:00:00${parts[2]}`);
  if (start === null) return parts[2] === undefined ? parseDay(parts[1]!) : null;
  const local = start + BigInt(zone.offsetAt(start)) * MINUTE;
  return local - (((local % DAY) + DAY) % DAY);
}
