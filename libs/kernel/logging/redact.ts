import { types } from 'node:util';
import { isExactNumber } from '../json/value.js';
import { scrub, REDACTED } from './scrub.js';
import { isSecretName } from './secret-names.js';

/** A log line shows the start of a large value, never all of it. */
const MAX_DEPTH = 8;
const MAX_MEMBERS = 100;
const MAX_NODES = 2000;
const MAX_CAUSES = 16;

/**
 * A copy of a value that may be logged: secret names are `***`, texts are scrubbed, binary data is its length,
 * errors are `{class, message, code?, stack?, caused_by?}`. Bounded in depth and size; never throws.
 */
export function redact(value: unknown): unknown {
  return new Redaction().copy(value, 0);
}

class Redaction {
  #nodes = 0;

  copy(value: unknown, depth: number): unknown {
    if (++this.#nodes > MAX_NODES) return '…';
    switch (typeof value) {
      case 'string':
        return scrub(value);
      case 'bigint':
        return value.toString();
      case 'function':
      case 'symbol':
        return `[${typeof value}]`;
      case 'object':
        return value === null ? null : this.#object(value, depth);
      default:
        return value;
    }
  }

  #object(value: object, depth: number): unknown {
    if (isExactNumber(value)) return value.toString();
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (depth >= MAX_DEPTH) return '…';
    if (isError(value)) return this.#error(value, depth, 0);
    if (Array.isArray(value)) return this.#items(value, depth);
    if (value instanceof Set) return this.#items([...(value as Set<unknown>)], depth);
    const members = value instanceof Map ? [...(value as Map<unknown, unknown>)] : entriesOf(value);
    return this.#members(members, depth);
  }

  #items(items: unknown[], depth: number): unknown[] {
    const copies = items.slice(0, MAX_MEMBERS).map((item) => this.copy(item, depth + 1));
    if (items.length > MAX_MEMBERS) copies.push(`… ${items.length - MAX_MEMBERS} more`);
    return copies;
  }

  #members(members: [unknown, unknown][], depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [name, member] of members.slice(0, MAX_MEMBERS)) {
      const key = scrub(String(name));
      if (member !== undefined) copy[key] = isSecretName(key) ? REDACTED : this.copy(member, depth + 1);
    }
    if (members.length > MAX_MEMBERS) copy['…'] = `${members.length - MAX_MEMBERS} more`;
    return copy;
  }

  #error(error: Error, depth: number, causes: number): Record<string, unknown> {
    const { code, cause } = error as { code?: unknown; cause?: unknown };
    const copy: Record<string, unknown> = { class: error.name, message: scrub(error.message) };
    if (typeof code === 'string' || typeof code === 'number') copy['code'] = code;
    if (error.stack) copy['stack'] = scrub(error.stack);
    if (cause === undefined) return copy;
    if (!isError(cause)) copy['caused_by'] = this.copy(cause, depth + 1);
    else copy['caused_by'] = causes < MAX_CAUSES ? this.#error(cause, depth, causes + 1) : '…';
    return copy;
  }
}

/** Also for an error of another realm (a worker, a sandbox), which `instanceof` does not know. */
function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

/** Own members; one whose getter fails is named as such instead of losing the line. */
function entriesOf(value: object): [string, unknown][] {
  return Object.keys(value).map((key) => {
    try {
      return [key, (value as Record<string, unknown>)[key]];
    } catch (cause) {
      return [key, `[unreadable: ${isError(cause) ? cause.name : 'thrown'}]`];
    }
  });
}
