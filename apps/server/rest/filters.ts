import type { Request } from 'express';
import { PenstockError } from '#libs/kernel';
import { DIALECTS, type Dialect } from '#libs/typesystem';
import { queryText } from '../http/input.js';

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
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `“${name}” must be one of ${allowed.join(', ')}.`,
    details: { field: name, reason: 'field', allowed: [...allowed] },
  });
}

export function entityStatusFilter(request: Request): 'ACTIVE' | 'DISCARDED' | undefined {
  return wordFilter(request, 'status', ['ACTIVE', 'DISCARDED']);
}

export function dialectFilter(request: Request): Dialect | undefined {
  return wordFilter(request, 'dialect', DIALECTS);
}
