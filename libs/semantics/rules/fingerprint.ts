import { createHash } from 'node:crypto';

import type { ColumnType } from '#libs/typesystem';

import type { FactRef } from '../learned-fact.js';
import { tableKey } from './fact-refs.js';

export interface TypedColumn {
  name: string;
  type: ColumnType;
}

/** SHA-256 of a table's `column TAB TYPE[(p[,s])]` lines, sorted (contract 06 §11). */
export function tableDigest(columns: readonly TypedColumn[]): string {
  const lines = columns.map(({ name, type }) => `${name}\t${typeText(type)}`).sort(byCodeUnit);
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

function typeText({ type, precision, scale }: ColumnType): string {
  if (precision === undefined) return type;
  return scale === undefined ? `${type}(${precision})` : `${type}(${precision},${scale})`;
}

/** `tableKey=digest` entries, sorted, joined by `;`. Empty for a fact without refs. */
export function fingerprint(tables: readonly { ref: FactRef; columns: readonly TypedColumn[] }[]): string {
  const entries = new Map(tables.map(({ ref, columns }) => [tableKey(ref), tableDigest(columns)]));
  return [...entries]
    .map(([key, digest]) => `${key}=${digest}`)
    .sort(byCodeUnit)
    .join(';');
}

/** The digest a fingerprint holds of one table. Digests have no `=` or `;`, so the names around them may. */
export function digestIn(stored: string, key: string): string | undefined {
  for (const [, name, digest] of stored.matchAll(/(?:^|;)(.*?)=([0-9a-f]{64})(?=;|$)/gs))
    if (name === key) return digest;
  return undefined;
}

function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
