import { isSecretName, scrub } from '#libs/kernel';
import { AUDIT_EVENTS, type AuditEventName } from './audit-events.js';

const LONE_SURROGATE = /\p{Surrogate}/gu;
const CONTROL = /\p{Cc}+/gu;

/** Longest string kept in a row, in UTF-8 bytes. */
const MAX_STRING_BYTES = 1024;
/** Nesting of a details object; deeper ones are a mistake of the caller. */
const MAX_DEPTH = 6;

/**
 * Details fit to be stored: keys of the event's own row of the table, no secret-like key at any depth, strings cut and
 * free of control characters.
 *
 * @throws TypeError on a name or key outside the vocabulary: a mistake in our code, so the act must not commit
 */
export function admittedDetails(
  event: AuditEventName,
  details: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (!Object.hasOwn(AUDIT_EVENTS, event)) throw new TypeError(`${event} is not an audit event`);
  const allowed: readonly string[] = AUDIT_EVENTS[event];
  for (const key of Object.keys(details)) {
    if (!allowed.includes(key)) throw new TypeError(`${event} has no detail named ${key}`);
  }
  return cleanObject(details, 0);
}

/** A string as an audit row keeps it: well formed, without secrets, one line, at most `maxBytes` of UTF-8. */
export function auditText(text: string, maxBytes = MAX_STRING_BYTES): string {
  const clean = scrub(text.replace(LONE_SURROGATE, '\uFFFD')).replace(CONTROL, ' ');
  if (Buffer.byteLength(clean) <= maxBytes) return clean;
  const bytes = Buffer.from(clean).subarray(0, maxBytes);
  // A cut in the middle of a character leaves its first bytes behind; they are dropped, not replaced.
  return new TextDecoder().decode(bytes, { stream: true });
}

function cleanObject(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(
    entries.map(([key, item]) => {
      if (isSecretName(key)) throw new TypeError(`an audit row must not carry ${key}`);
      return [auditText(key), clean(item, depth + 1)];
    }),
  );
}

function clean(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new TypeError('audit details are nested too deeply');
  switch (typeof value) {
    case 'string':
      return auditText(value);
    case 'bigint':
      return value.toString();
    case 'number':
    case 'boolean':
      return value;
    case 'object':
      if (value === null) return null;
      if (value instanceof Date) return value.toISOString();
      if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
      return cleanObject(value as Record<string, unknown>, depth);
    default:
      throw new TypeError(`an audit detail cannot be a ${typeof value}`);
  }
}
