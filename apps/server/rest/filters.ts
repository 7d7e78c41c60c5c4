import type { Request } from 'express';
import { momentOf } from '#libs/kernel';
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
  return momentOf(text) ?? refuseQuery(name, 'field', `“${name}” must be a moment such as 2026-03-01T07:05:09Z.`);
}
