import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';
import { reflected } from '#libs/templates';
import type { Notes } from './notes.js';

const INTEGER = /^-?(?:0|[1-9][0-9]{0,14})$/;

/** The value of an integer token, at most 15 digits; `5.0` and `5e0` are none. */
export function integerToken(value: JsonValue | undefined): number | undefined {
  return isExactNumber(value) && INTEGER.test(value.value) ? Number(value.value) : undefined;
}

export function childPath(path: string, key: string): string {
  return path === '' ? reflected(key) : `${path}.${reflected(key)}`;
}

/**
 * Reads the keys of one object of a document. A null counts as absent. `stored` receives what was asked for, as
 * written, so that the normal form holds known keys only; whatever is never asked for is dropped with a warning.
 */
export class ObjectReader {
  readonly stored: JsonObject = Object.create(null) as JsonObject;
  readonly #known = new Set<string>();

  constructor(
    readonly path: string,
    private readonly object: JsonObject,
    readonly notes: Notes,
  ) {}

  at(key: string): string {
    return childPath(this.path, key);
  }

  has(key: string): boolean {
    return this.peek(key) !== undefined;
  }

  /** The value as written, kept in the normal form. */
  value(key: string): JsonValue | undefined {
    const value = this.peek(key);
    if (value !== undefined) this.stored[key] = value;
    return value;
  }

  /** The value, known but not kept: a rule refuses it, or a section stores its own form. */
  peek(key: string): JsonValue | undefined {
    this.#known.add(key);
    const value = Object.hasOwn(this.object, key) ? this.object[key] : undefined;
    return value === null ? undefined : value;
  }

  /** A string; any other kind is a defect of its own. */
  text(key: string): string | undefined {
    const value = this.value(key);
    if (value === undefined || typeof value === 'string') return value;
    this.notes.wrongField(this.at(key), 'a string');
    return undefined;
  }

  /** The reader of a nested object, whose `stored` becomes part of this one's. */
  child(key: string): ObjectReader | undefined {
    const value = this.peek(key);
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) {
      this.notes.malformed(this.at(key), 'an object');
      return undefined;
    }
    const reader = new ObjectReader(this.at(key), value, this.notes);
    this.stored[key] = reader.stored;
    return reader;
  }

  list(key: string): JsonValue[] | undefined {
    const value = this.peek(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.notes.malformed(this.at(key), 'an array');
      return undefined;
    }
    return value;
  }

  keys(): string[] {
    return Object.keys(this.object);
  }

  /** Warns of every key nobody asked for; `silent` ones are the server's own and come back with every read. */
  finish(silent: ReadonlySet<string> = NOTHING): void {
    for (const key of Object.keys(this.object)) {
      if (this.#known.has(key) || silent.has(key) || this.object[key] === null) continue;
      this.notes.warn(
        'pipeline.warning.unknown_field',
        this.at(key),
        `"${reflected(key)}" is no field of this object and was dropped.`,
      );
    }
  }
}

const NOTHING: ReadonlySet<string> = new Set();
