import { SetMetadata } from '@nestjs/common';
import type { ZodType } from 'zod';
import type { ErrorCode } from '#libs/kernel';

export const DESCRIPTION = 'penstock:description';

/** Request headers a route reads beyond those of every route (03 §2). */
export type RequestHeader =
  | 'If-Match'
  | 'If-None-Match'
  | 'Idempotency-Key'
  | 'Prefer'
  | 'Last-Event-ID'
  | 'DP-Result-TTL-Seconds'
  | 'DP-Result-Page-Rows';

/** What a route answers with one status. */
export type Answer =
  /** JSON in the success envelope; the shape is that of `data`. */
  | ZodType
  /** Everything else: no body, or one of another kind. */
  | { media: string | undefined; about: string; schema?: ZodType; location?: true };

export interface RouteDescription {
  /** Query parameters by name; those not optional are required. */
  query?: Readonly<Record<string, ZodType>>;
  headers?: readonly RequestHeader[];
  /** Absent: the route takes none. An optional shape: it may be left out. */
  body?: ZodType;
  /** By status. */
  answers: Readonly<Record<number, Answer>>;
  /**
   * Refusals of this route itself. Those that follow from its credentials, its query and its body are added (see
   * `apps/server/openapi/shared-refusals.ts`).
   */
  errors: readonly ErrorCode[];
  /** A row that is not there is answered like one that was ended: the route has no 404. */
  absentIsDone?: true;
}

export interface DescribedRoute extends RouteDescription {
  /** One sentence, for the list of routes. */
  summary: string;
}

/** 204, and what else has no body. */
export const nothing = (about: string): Answer => ({ media: undefined, about });
/** 302. */
export const redirection = (about: string): Answer => ({ media: undefined, about, location: true });
/** Another kind of body, or JSON outside the envelope. */
export const raw = (media: string, about: string, schema?: ZodType): Answer => ({
  media,
  about,
  ...(schema ? { schema } : {}),
});

/**
 * Documents a handler: the OpenAPI document, the pages made from it and their tests read this and nothing else. Every
 * handler needs one; `apps/server/openapi/openapi.spec.ts` says what is missing.
 */
export const Describe = (summary: string, description: RouteDescription): MethodDecorator =>
  SetMetadata(DESCRIPTION, { summary, ...description } satisfies DescribedRoute);
