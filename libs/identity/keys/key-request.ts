import { PenstockError, SCOPES, type ApiKeyKind, type Scope } from '#libs/kernel';

const KINDS: readonly ApiKeyKind[] = ['user', 'endpoint', 'server'];
const MAX_NAME = 100;
/** Each costs statements in the transaction that mints the key. */
const MAX_BINDINGS = 100;
const DAY_MS = 86_400_000;
/** RFC 3339 with a zone; a date alone or a local time would mean a different moment to every reader. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/** Body of a key's creation, as it arrived. */
export interface KeyRequest {
  name: unknown;
  kind?: unknown;
  scopes?: unknown;
  bindings?: unknown;
  expires_at?: unknown;
}

export interface AdmittedKey {
  name: string;
  kind: ApiKeyKind;
  scopes: Scope[];
  bindings: string[];
  expiresAt: Date | null;
}

export interface KeyRules {
  now: Date;
  defaultScopes: readonly Scope[];
  /** 0: no limit. */
  maxLifetimeDays: number;
}

/**
 * The request as the table of contract 04 §6.1 admits it.
 *
 * @throws `endpoint.key_kind_refused` for an unknown kind and for scopes or bindings a kind does not take,
 *   `auth.key_scope_unavailable`, `auth.scope.unknown`, `auth.api_key.expiry_invalid`, and the generic 400 with `field`
 */
export function admitKey(request: KeyRequest, rules: KeyRules): AdmittedKey {
  const kind = admitKind(request.kind);
  if (kind !== 'user' && isGiven(request.scopes)) refuse(kind, 'scopes_refused');
  if (kind !== 'endpoint' && isGiven(request.bindings)) refuse(kind, 'bindings_refused');
  return {
    name: admitName(request.name),
    kind,
    scopes: kind === 'user' ? admitScopes(request.scopes, rules.defaultScopes) : [],
    bindings: kind === 'endpoint' ? admitBindings(request.bindings) : [],
    expiresAt: admitExpiry(request.expires_at, rules),
  };
}

function admitKind(kind: unknown): ApiKeyKind {
  if (!isGiven(kind)) return 'user';
  const known = KINDS.find((candidate) => candidate === kind);
  if (!known) throw new PenstockError('endpoint.key_kind_refused', { details: { reason: 'kind_unknown' } });
  return known;
}

function admitName(name: unknown): string {
  const text = typeof name === 'string' ? name.trim() : '';
  if (text === '' || Array.from(text).length > MAX_NAME || /\p{Cc}/u.test(text)) refuseField('name');
  return text;
}

function admitScopes(scopes: unknown, defaults: readonly Scope[]): Scope[] {
  if (!isGiven(scopes)) return [...defaults];
  if (!Array.isArray(scopes) || scopes.length === 0) refuseField('scopes');
  const given: readonly unknown[] = scopes;
  for (const scope of given) {
    if (scope === 'admin') throw new PenstockError('auth.key_scope_unavailable', { details: { scope } });
    if (!SCOPES.some((known) => known === scope)) {
      const shown = typeof scope === 'string' ? { scope: scope.slice(0, 64) } : {};
      throw new PenstockError('auth.scope.unknown', { details: { ...shown, known: [...SCOPES] } });
    }
  }
  return SCOPES.filter((known) => given.includes(known));
}

function admitBindings(bindings: unknown): string[] {
  if (!isGiven(bindings)) return [];
  if (!Array.isArray(bindings) || bindings.length > MAX_BINDINGS) refuseField('bindings');
  return bindings.map((prefix: unknown) => (typeof prefix === 'string' ? prefix : refuseField('bindings')));
}

function admitExpiry(expiry: unknown, { now, maxLifetimeDays }: KeyRules): Date | null {
  const details = { field: 'expires_at', ...(maxLifetimeDays > 0 ? { max_lifetime_days: maxLifetimeDays } : {}) };
  const latest = maxLifetimeDays > 0 ? now.getTime() + maxLifetimeDays * DAY_MS : Infinity;
  if (!isGiven(expiry)) {
    // Where keys must end, one that names no end gets the longest life there is.
    return Number.isFinite(latest) ? new Date(latest) : null;
  }
  const moment = typeof expiry === 'string' && MOMENT.test(expiry) ? Date.parse(expiry) : NaN;
  if (!(moment > now.getTime() && moment <= latest))
    throw new PenstockError('auth.api_key.expiry_invalid', { details });
  return new Date(moment);
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function refuse(kind: ApiKeyKind, reason: string): never {
  throw new PenstockError('endpoint.key_kind_refused', { details: { kind, reason } });
}

function refuseField(field: string): never {
  throw new PenstockError('pipeline.execution.invalid_parameter_type', { details: { field, reason: 'field' } });
}
