import type { Request } from 'express';
import { z, type ZodType } from 'zod';
import {
  isExactNumber,
  isJsonObject,
  PenstockError,
  type Failure,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';

/**
 * Bodies and queries of the doors. What a service validates itself (documents, templates, datasources) only passes
 * through here; the rest is declared as a schema beside its handler. Unknown fields are refused (03 §2).
 */
export function parseInput<T>(schema: ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input ?? {}, { jitless: true });
  if (parsed.success) return parsed.data;
  const failures = parsed.error.issues.flatMap(toFailures);
  const first = failures[0] as Failure;
  throw new PenstockError(first.code, {
    message: first.message,
    details: { ...first.details, failures: failures.map((failure) => ({ details: {}, ...failure })) },
  });
}

function toFailures(issue: z.core.$ZodIssue): Failure[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const field = [...issue.path.map(String), key].join('.').slice(0, 64);
      return failure(field, 'unknown_field', `There is no field “${field}” here.`);
    });
  }
  const missing = issue.input === undefined || /received undefined/.test(issue.message);
  const field = path === '' ? 'body' : path;
  return [failure(field, 'field', missing ? `“${field}” is required.` : `“${field}”: ${issue.message}.`)];
}

function failure(field: string, reason: string, message: string): Failure {
  return { code: 'pipeline.execution.invalid_parameter_type', path: field, message, details: { field, reason } };
}

/** A whole JSON number; bodies carry numbers as exact tokens. */
export const wholeNumber = z
  .custom<unknown>(
    (value) => (isExactNumber(value) || typeof value === 'number') && Number.isSafeInteger(Number(value)),
    {
      message: 'must be a whole number',
    },
  )
  .transform(Number);

export const anyJson = z.custom<unknown>((value) => value !== undefined, { message: 'is required' });

/** An object whose members the service validates. */
export const jsonObject = z.custom<JsonObject>((value) => isJsonObject(value as JsonValue), {
  message: 'must be an object',
});

/** The body as an object, unjudged; for services that validate every member themselves. */
export function bodyObject(request: Request): JsonObject {
  return parseInput(jsonObject, request.body);
}

/** One value of a query parameter; repeating it is refused rather than picking one. */
export function queryText(request: Request, name: string): string | undefined {
  const values = new URLSearchParams(queryOf(request)).getAll(name);
  if (values.length > 1) {
    throw new PenstockError('pipeline.execution.invalid_parameter_type', {
      message: `“${name}” stands in the query more than once.`,
      details: { field: name, reason: 'repeated' },
    });
  }
  return values[0];
}

export function queryInteger(request: Request, name: string): number | undefined {
  const text = queryText(request, name);
  if (text === undefined) return undefined;
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `“${name}” must be a whole number.`,
    details: { field: name, reason: 'field' },
  });
}

export function queryFlag(request: Request, name: string): boolean {
  const text = queryText(request, name);
  if (text === undefined || text === 'false') return false;
  if (text === 'true' || text === '') return true;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `“${name}” must be true or false.`,
    details: { field: name, reason: 'field' },
  });
}

function queryOf(request: Request): string {
  const mark = request.originalUrl.indexOf('?');
  return mark < 0 ? '' : request.originalUrl.slice(mark + 1);
}

export interface PageLimits {
  default: number;
  max: number;
}

/** `offset` and `limit`, clamped to their bounds; the answer tells the effective ones (03 §2). */
export function pageOf(request: Request, limits: PageLimits): { offset: number; limit: number } {
  const offset = queryInteger(request, 'offset') ?? 0;
  const limit = queryInteger(request, 'limit') ?? limits.default;
  return { offset: Math.max(0, offset), limit: Math.min(Math.max(1, limit), limits.max) };
}

/** The list shape of every collection. */
export function listBody<T>(page: { offset: number; limit: number }, listing: { items: readonly T[]; total: number }) {
  const { offset, limit } = page;
  return {
    items: listing.items,
    pagination: { offset, limit, total: listing.total, has_more: offset + listing.items.length < listing.total },
  };
}
