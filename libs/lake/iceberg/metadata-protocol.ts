import type { JsonObject, JsonValue } from '#libs/kernel';

/** What the process is asked; one question at a time. */
export type MetadataQuestion =
  | { about: 'table'; bytes: Uint8Array }
  | { about: 'list'; bytes: Uint8Array; maxRows: number }
  | { about: 'manifest'; bytes: Uint8Array; maxRows: number };

export type MetadataAnswer = { found: TableDocument | ManifestRow[] | EntryRow[] } | { refused: string };

/** What of a table's metadata file is needed. Every number is its text: snapshot ids are larger than a double holds. */
export interface TableDocument {
  formatVersion: JsonValue;
  /** Fields of the current schema. */
  fields: JsonValue[];
  /** Undefined before the first snapshot. */
  snapshot: JsonObject | undefined;
  /** Fields of all partition specs. */
  partitionFields: JsonValue[];
  nameMapping: JsonValue;
}

/** One row of a manifest list. */
export interface ManifestRow {
  path: string | null;
  /** Bytes; null in lists that do not say. */
  length: string | null;
  /** 0 = data files, everything else deletes. */
  content: string;
}

/** One live row of a manifest. */
export interface EntryRow {
  content: string;
  path: string | null;
  format: string | null;
  records: string | null;
  /** By field id; null where the writer counted none. */
  nulls: readonly (readonly [id: string, count: string])[] | null;
}
