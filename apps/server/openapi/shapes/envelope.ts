import { z, type ZodType } from 'zod';

/** A whole number a double holds exactly. */
export const whole = z.number().meta({ type: 'integer' });
/** RFC 3339, UTC, milliseconds. */
export const moment = z.string().meta({ format: 'date-time' });
export const uuid = z.string().meta({ format: 'uuid' });
export const bodyHash = z.string().meta({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the normal form.' });
/** Any JSON value, numbers as written. */
export const json = z.unknown();
export const jsonMembers = z.record(z.string(), z.unknown());

/**
 * A shape under its name in the document. The interface is checked: a member that an answer has and the shape has not, or
 * has otherwise, does not compile.
 */
export function named<T>(id: string, shape: ZodType<T>): ZodType<T> {
  return shape.meta({ id });
}

/** `data` of a collection (03 §2). */
export function listOf<T>(item: ZodType<T>) {
  return z.object({ items: z.array(item), pagination });
}

const nextCursor = z.string().nullable().describe('What `after` takes for the next page; null on the last.');

/** How a level of a tree of names tells that it goes on. */
export const levelPaging = {
  total: whole.describe('Entries that stand directly in this folder.'),
  has_more: z.boolean(),
  next_cursor: nextCursor,
};

const pagination = z
  .object({
    offset: whole.optional().describe('Of a page asked for by position.'),
    limit: whole.describe('The effective one: what was asked for, clamped.'),
    total: whole.describe('What the caller can see.'),
    has_more: z.boolean(),
    next_cursor: nextCursor,
  })
  .meta({ id: 'Pagination' });

export const paging = {
  offset: z.int().optional().meta({ description: 'Rows to skip; below 0 counts as 0.', default: 0 }),
  limit: z
    .int()
    .optional()
    .meta({ description: 'Rows to give, clamped to 1 and the maximum of the deployment (200).', default: 50 }),
  after: z
    .string()
    .optional()
    .meta({
      description:
        '`next_cursor` of the page before, with the same filters; not together with `offset`. Rows added or removed ' +
        'meanwhile neither repeat nor hide others.',
    }),
};

const failure = z
  .object({ code: z.string(), path: z.string(), message: z.string(), details: jsonMembers.optional() })
  .meta({ id: 'Failure' });
export const failures = z.array(failure);

export const errorEnvelope = z.object({
  schema_version: z.literal(1),
  correlation_id: uuid,
  error: z.object({
    code: z.string().describe('Decides the status; never renamed.'),
    message: z.string().describe('What is wrong here.'),
    user_message: z.string().describe('How to mend it.'),
    details: jsonMembers.describe('Always an object. A validation lists every defect in `failures`.'),
    doc_url: z.string().meta({ format: 'uri-reference' }),
  }),
});
