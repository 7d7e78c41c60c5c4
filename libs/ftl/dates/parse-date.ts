import { daysFromCivil, daysInMonth } from '#libs/typesystem';
import type { DateForm } from '../runtime/values.js';
import { MONTHS } from './format-date.js';
import { DAY, isoFormOf, parseIso } from './iso-form.js';
import { instantOf, parseOffset, type Zone } from './zone.js';

/** Microseconds of a text in an `iso`/`xs` form or a Java pattern of contract 05 §4.5; null if it does not fit. */
export function parseDate(text: string, form: DateForm, pattern: string, zone: Zone): bigint | null {
  const iso = isoFormOf(pattern);
  return iso ? parseIso(text, form, iso, zone) : parsePattern(text, form, pattern, zone);
}

interface Fields {
  y: number;
  M: number;
  d: number;
  H: number;
  m: number;
  s: number;
  S: number;
  pm: boolean | null;
  /** Minutes of an offset in the text. */
  offset: number | null;
}

function parsePattern(text: string, form: DateForm, pattern: string, zone: Zone): bigint | null {
  const fields: Fields = { y: 1970, M: 1, d: 1, H: 0, m: 0, s: 0, S: 0, pm: null, offset: null };
  let at = 0;
  const pieces = [...pattern.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']/g)];
  for (const [index, piece] of pieces.entries()) {
    const literal = piece[1] !== undefined ? (piece[1] === '' ? "'" : piece[1].replaceAll("''", "'")) : piece[0];
    if (piece[2] === undefined) {
      if (!text.startsWith(literal, at)) return null;
      at += literal.length;
      continue;
    }
    const glued = pieces[index + 1]?.[2] !== undefined;
    const used = readField(fields, piece[2], piece[0].length, text.slice(at), glued);
    if (used === 0) return null;
    at += used;
  }
  return at === text.length ? combine(fields, form, zone) : null;
}

/** Reads one field; answers how many characters it took, 0 if it does not fit. */
function readField(fields: Fields, letter: string, width: number, text: string, glued: boolean): number {
  if (letter === 'a') return readWord(text, ['AM', 'PM'], (i) => (fields.pm = i === 1));
  if (letter === 'M' && width >= 3) {
    const month = (index: number): number => (fields.M = (index % 12) + 1);
    return readWord(text, [...MONTHS, ...MONTHS.map((name) => name.slice(0, 3))], month);
  }
  if (letter === 'E') return /^[A-Za-z]+/.exec(text)?.[0].length ?? 0;
  if (letter === 'X' || letter === 'Z') {
    const zone = /^(?:Z|[+-]\d{2}(?::?\d{2})?)/.exec(text)?.[0];
    const minutes = zone === undefined ? null : parseOffset(zone);
    if (zone === undefined || minutes === null) return 0;
    fields.offset = minutes;
    return zone.length;
  }
  const digits = new RegExp(`^\\d{1,${glued ? width : 9}}`).exec(text)?.[0];
  if (digits === undefined) return 0;
  const value = Number(digits);
  if (letter === 'h') fields.H = value % 12;
  else if (letter === 'y') fields.y = width === 2 && digits.length === 2 ? value + (value < 50 ? 2000 : 1900) : value;
  else if (letter === 'M' || letter === 'd' || letter === 'H' || letter === 'm' || letter === 's' || letter === 'S') {
    fields[letter] = value;
  } else return 0;
  return digits.length;
}

function readWord(text: string, words: readonly string[], take: (index: number) => void): number {
  const at = words.findIndex((word) => text.slice(0, word.length).toLowerCase() === word.toLowerCase());
  if (at < 0) return 0;
  take(at);
  return words[at]!.length;
}

function combine(fields: Fields, form: DateForm, zone: Zone): bigint | null {
  const { y, M, d, m, s, S, offset } = fields;
  const H = fields.pm === null ? fields.H : (fields.H % 12) + (fields.pm ? 12 : 0);
  if (M < 1 || M > 12 || d < 1 || y < 1 || y > 9999 || d > daysInMonth(y, M)) return null;
  if (H > 23 || m > 59 || s > 59 || S > 999) return null;
  const ofDay = BigInt(((H * 60 + m) * 60 + s) * 1000 + S) * 1000n;
  if (form === 'time') return ofDay;
  const day = BigInt(daysFromCivil(y, M, d)) * DAY;
  if (form === 'date') return day;
  return offset === null ? instantOf(day + ofDay, zone) : day + ofDay - BigInt(offset) * 60_000_000n;
}
