import type { Request } from 'express';
import { DIALECTS, type Dialect } from '#libs/typesystem';
import { queryText, refuseQuery } from '../http/input.js';

/** One of a closed set of words, or absent. */
export function wordFilter<const W extends string>(
  request: Request,
  name: string,
  allowed: readonly W[],
): W | undefined {
  const text = queryText(request, name);
  if (text === undefined) return undefined;
  const word = allowed.find((each) => each === text);
  if (word !== undefined) return word;
  return refuseQuery(name, 'field', `“${name}” must be one of ${allowed.join(', ')}.`, { allowed: [...allowed] });
}

export function entityStatusFilter(request: Request): 'ACTIVE' | 'DISCARDED' | undefined {
  return wordFilter(request, 'status', ['ACTIVE', 'DISCARDED']);
}

export function dialectFilter(request: Request): Dialect | undefined {
  return wordFilter(request, 'dialect', DIALECTS);
}

/** An RFC 3339 moment, or absent. */
export function momentFilter(request: Request, name: string): string | undefined {
  const text = queryText(request, name);
  if (text === undefined) return undefined;
  const { year, day } = MOMENT.exec(text)?.groups ?? {};
  const instant = new Date(text);
  // A day that its month does not have is rolled over by Date, and refused by the database.
  const rolled = new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== Number(day);
  if (year !== undefined && year !== '0000' && !Number.isNaN(instant.getTime()) && !rolled) return text;
  return refuseQuery(name, 'field', `“${name}” must be a moment such as 2026-03-01T07:05:09Z.`);
}

const MOMENT =
  /^(?<year>\d{4})-\d\d-(?<day>\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/;
