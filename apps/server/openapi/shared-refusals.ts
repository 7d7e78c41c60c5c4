import { OPERATIONS, type Operation } from '#libs/identity';
import type { ErrorCode } from '#libs/kernel';
import type { HandlerRoute } from '../http/routes-of.js';

const SAFE = new Set(['GET', 'HEAD']);
/** Roots whose requests spend no budget (03 §2): probes, pages, files. */
const UNLIMITED = /^\/(health|ready|info|docs\/.*|login|skill\.md|skill\/.*|llms\.txt|settings\/.*|reset-password)?$/;
/** Capabilities that need no workspace. */
const WORKSPACELESS = new Set(['self', 'super_admin', 'fenced']);

const EVERY_ROUTE: readonly ErrorCode[] = [
  'request.path_invalid',
  'request.malformed',
  'request.timeout',
  'request.uri_too_long',
  'request.headers_too_large',
  'internal',
  'server.unavailable',
];
const WITH_BODY: readonly ErrorCode[] = [
  'pipeline.execution.invalid_parameter_type',
  'request.body_too_large',
  'request.unsupported_media_type',
];
const LIMITED: readonly ErrorCode[] = ['rate_limit.exceeded', 'rate_limit.unavailable'];
const BY_KEY: readonly ErrorCode[] = [
  'auth.api_key.missing',
  'auth.api_key.invalid',
  'auth.api_key.expired',
  'auth.key_workspace_inactive',
  'workspace.header_forbidden',
  'endpoint.key_kind_refused',
];
const BY_SESSION: readonly ErrorCode[] = [
  'auth.session.invalid',
  'auth.session.expired',
  'auth.password.change_required',
  'workspace.not_found',
  'workspace.inactive',
];

/** The row of the operations table, or undefined for a handler of the public list. */
export function operationOf({ operation }: HandlerRoute): Operation | undefined {
  return operation === 'public' ? undefined : OPERATIONS[operation];
}

/** The refusals that follow from who may call a route, and from what it reads (03 §1, 04 §2). */
export function sharedRefusals(route: HandlerRoute): ErrorCode[] {
  const codes = [...EVERY_ROUTE];
  const { description, method, path } = route;
  if (description?.body) codes.push(...WITH_BODY);
  if (Object.keys(description?.query ?? {}).length > 0) codes.push('pipeline.execution.invalid_parameter_type');
  if (!UNLIMITED.test(path)) codes.push(...LIMITED);
  const row = operationOf(route);
  if (row) codes.push(...refusalsOf(row, SAFE.has(method)));
  return codes;
}

function refusalsOf({ credentials, capability }: Operation, safe: boolean): ErrorCode[] {
  const codes: ErrorCode[] = [...BY_KEY];
  if (credentials.session) codes.push(...BY_SESSION);
  if (credentials.session && !safe) codes.push('auth.csrf.invalid');
  if (credentials.session && !credentials.user) codes.push('auth.session.required');
  if (credentials.user) codes.push('auth.scope.insufficient');
  if (!WORKSPACELESS.has(capability)) codes.push('workspace.membership_required');
  if (capability !== 'self') codes.push('auth.role_required', 'auth.key_issuer_role_lost');
  return codes;
}
