import { z } from 'zod';
import {
  catalogue,
  catalogueEntry,
  isExactNumber,
  isJsonObject,
  PenstockError,
  readJson,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import type { Inventory } from './inventory.js';
import type { PushReport } from './promotion-receiver.js';

/** Longest sentence of a target that is passed on. */
const MAX_MESSAGE_CHARS = 500;
const CONTROL = /\p{Cc}+/gu;

const number = z
  .custom<unknown>((value) => isExactNumber(value) && Number.isSafeInteger(Number(value)))
  .transform(Number);
const current = z.object({ name: z.string(), current_version: number, body_hash: z.string() });
const binding = z.object({ path_prefix: z.string(), key_name: z.string() });
const endpoint = z.object({
  path: z.string(),
  pipeline: z.string(),
  timeout_seconds: number,
  description: z.string(),
  enabled: z.boolean(),
  bindings: z.array(binding),
});
const inventory = z.object({
  deployment: z.string(),
  authoring_enabled: z.boolean(),
  workspace: z.string(),
  pipelines: z.array(current),
  templates: z.array(current),
  datasources: z.array(z.string()),
  endpoints: z.array(endpoint),
  endpoint_keys: z.array(z.string()),
});
const received = z.object({ name: z.string(), version: number, imported: z.boolean() });
const report = z.object({
  workspace: z.string(),
  templates: z.array(received),
  pipelines: z.array(received.extend({ switched: z.boolean() })),
  endpoints: z.array(z.object({ path: z.string(), pipeline: z.string(), changed: z.boolean() })),
});

/** Why there is no usable answer; told to whoever promotes. */
export type UnreachableReason =
  | 'not_configured'
  | 'unresolved'
  | 'connection'
  | 'timeout'
  | 'too_large'
  | 'redirect'
  | 'not_penstock'
  | 'target_failed';

/** @throws `pipeline.promotion.target_unreachable` for an answer of something else */
export function inventoryOf(status: number, text: string): Inventory {
  return parsed(inventory, status, text);
}

export function reportOf(status: number, text: string): PushReport {
  return parsed(report, status, text);
}

export function unreachable(reason: UnreachableReason, more: Record<string, unknown> = {}, cause?: unknown) {
  return new PenstockError('pipeline.promotion.target_unreachable', {
    message: SENTENCES[reason],
    details: { reason, ...more },
    cause,
  });
}

const SENTENCES: Readonly<Record<UnreachableReason, string>> = {
  not_configured:
    'This deployment promotes nowhere: set deployment.promotion.target.base-url and .server-key, then restart it.',
  unresolved: 'The host of the promotion target has no address: check deployment.promotion.target.base-url.',
  connection: 'There is no connection to the promotion target: check its address and state, then promote again.',
  timeout:
    'The promotion target did not answer in time. What was sent may still arrive: promote again, what has arrived is skipped.',
  too_large: 'The answer of the promotion target is larger than limits.max-import-bytes.',
  redirect: 'The promotion target redirects, which is not followed: set base-url to where it leads.',
  not_penstock: 'What answers at the promotion target is no Penstock: check deployment.promotion.target.base-url.',
  target_failed: 'The promotion target failed: look at its log under the correlation id, then promote again.',
};

function parsed<T>(schema: z.ZodType<T>, status: number, text: string): T {
  if (status >= 300 && status < 400) throw unreachable('redirect', { status });
  const body = bodyOf(text, status);
  if (status >= 400) throw refusalOf(body, status);
  const data = schema.safeParse(body['data'], { jitless: true });
  if (!data.success) throw unreachable('not_penstock', { status }, data.error);
  return data.data;
}

function bodyOf(text: string, status: number): JsonObject {
  let body: JsonValue;
  try {
    body = readJson(text);
  } catch (cause) {
    throw unreachable('not_penstock', { status }, cause);
  }
  if (!isJsonObject(body)) throw unreachable('not_penstock', { status });
  return body;
}

/** A refusal of what was promoted keeps its code; what is broken there, or between the two deployments, is no refusal. */
function refusalOf(body: JsonObject, status: number): PenstockError {
  const { error, correlation_id: correlationId } = body;
  const { code, message, details } = isJsonObject(error) ? error : {};
  if (typeof code !== 'string') return unreachable('not_penstock', { status });
  const entry = isCode(code) ? catalogueEntry(code) : undefined;
  if (!isCode(code) || !entry || status >= 500 || isBetweenDeployments(code)) {
    const id = typeof correlationId === 'string' ? { target_correlation_id: correlationId.slice(0, 64) } : {};
    return unreachable('target_failed', { status, target_code: code.slice(0, 100), ...id });
  }
  return new PenstockError(code, {
    message: typeof message === 'string' ? message.replace(CONTROL, ' ').slice(0, MAX_MESSAGE_CHARS) : entry.title,
    details: isJsonObject(details) ? { ...details } : {},
    ...(status === entry.alternateStatus ? { status } : {}),
  });
}

/**
 * Codes that speak of the request between the deployments, which whoever promotes did not write: passed on, they would
 * tell of limits, sessions and scopes here. That the configured key is not accepted is theirs to know.
 */
function isBetweenDeployments(code: ErrorCode): boolean {
  return code !== 'auth.promotion.key_invalid' && /^(?:request|rate_limit|auth)\./.test(code);
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}
