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
import { contextOf } from './request-context.js';

/**
 * Bodies and queries of the doors. What a service validates itself (documents, templates, datasources) only passes
 * through here; the rest is declared as a schema beside its handler. Unknown fields are refused (03 §2).
 */
export function parseInput<T>(schema: ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input ?? {}, { jitless: true, reportInput: true });
  if (parsed.success) return parsed.data;
  const failures = parsed.error.issues.flatMap((issue) => toFailures(issue, schema));
  const first = failures[0] as Failure;
  throw new PenstockError(first.code, {
    message: first.message,
    details: { ...first.details, failures: failures.map((failure) => ({ details: {}, ...failure })) },
  });
}

function toFailures(issue: z.core.$ZodIssue, schema: ZodType): Failure[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const allowed = fieldsAt(schema, issue.path);
    return issue.keys.map((key) => {
      const field = [...issue.path.map(String), key].join('.').slice(0, 64);
      return failure(field, 'unknown_field', `There is no field “${field}” here${alternatives(allowed)}.`, { allowed });
    });
  }
  const field = path === '' ? 'body' : path;
  return [failure(field, 'field', sentence(field, issue))];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function sentence(field: string, issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return `“${field}” is required.`;
  const kind = issue.code === 'invalid_type' ? KINDS[issue.expected] : undefined;
  if (kind) return `“${field}” must be ${kind}.`;
  return issue.code === 'custom' ? `“${field}” ${issue.message}.` : `“${field}”: ${issue.message}.`;
}

function failure(field: string, reason: string, message: string, more: Record<string, unknown> = {}): Failure {
  return {
    code: 'pipeline.execution.invalid_parameter_type',
    path: field,
    message,
    details: { field, reason, ...more },
  };
}

/** The fields of the object at a path, so that a refused one is mended without the manual. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const [step, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Record<PropertyKey, unknown>;
    return step === undefined ? Object.keys(shape) : fieldsAt(shape[step], rest);
  }
  if (schema instanceof z.ZodArray) return fieldsAt(schema.element, rest);
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapper ? fieldsAt(schema.unwrap(), path) : [];
}

function alternatives(allowed: readonly string[]): string {
  return allowed.length === 0 ? '' : `: it takes ${allowed.map((name) => `“${name}”`).join(', ')}`;
}

/** A whole JSON number; bodies carry numbers as exact tokens. */
export const wholeNumber = z
  .custom<unknown>(
    (value) => (isExactNumber(value) || typeof value === 'number') && Number.isSafeInteger(Number(value)),
    {
      message: 'must be a whole number',
    },
  )
  .meta({ type: 'integer' })
  .transform(Number);

export const anyJson = z.custom<unknown>((value) => value !== undefined, { message: 'is required' });

/** An object whose members the service validates. */
export const jsonObject = z
  .custom<JsonObject>((value) => isJsonObject(value as JsonValue), { message: 'must be an object' })
  .meta({ type: 'object' });

/** The body as an object, unjudged; for services that validate every member themselves. */
export function bodyObject(request: Request): JsonObject {
  return parseInput(jsonObject, request.body);
}

/** One value of a query parameter; repeating it is refused rather than picking one. */
export function queryText(request: Request, name: string): string | undefined {
  const values = queryValues(request, name);
  if (values.length > 1) refuseQuery(name, 'repeated', `“${name}” stands in the query more than once.`);
  return values[0];
}

/** Every value of a query parameter in order, strictly decoded: what is no text is refused, never mended. */
export function queryValues(request: Request, name: string): string[] {
  return queryPairs(contextOf(request).path.query)
    .filter(([key]) => key === name)
    .map(
      ([, value]) =>
        value ?? refuseQuery(name, 'field', `“${name}” is no text: percent-encode it as UTF-8, without U+0000.`),
    );
}

/** The pairs of a raw query in order, repetitions kept. A name that is no text keeps its spelling; such a value is undefined. */
export function queryPairs(query: string): [name: string, value: string | undefined][] {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const mark = pair.indexOf('=');
      const name = mark < 0 ? pair : pair.slice(0, mark);
      return [decoded(name) ?? name, decoded(mark < 0 ? '' : pair.slice(mark + 1))];
    });
}

function decoded(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part.replaceAll('+', ' '));
    return text.includes('\u0000') ? undefined : text;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** A whole number of any length; what no double can hold exactly is clamped, as everything out of range is (03 §2). */
export function queryInteger(request: Request, name: string): number | undefined {
  const text = queryText(request, name);
  if (text === undefined) return undefined;
  if (!/^-?\d+$/.test(text)) refuseQuery(name, 'field', `“${name}” must be a whole number.`);
  return Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

export function queryFlag(request: Request, name: string): boolean {
  const text = queryText(request, name);
  if (text === undefined || text === 'false') return false;
  if (text === 'true' || text === '') return true;
  return refuseQuery(name, 'field', `“${name}” must be true or false.`);
}

/** @throws the generic 400 of bad input (03 §1) */
export function refuseQuery(field: string, reason: 'field' | 'repeated', message: string, more = {}): never {
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message,
    details: { field, reason, ...more },
  });
}
