import type { Dialect } from './canonical-type.js';

/** Quotes one identifier part, so that it is taken letter by letter. The name must not hold U+0000. */
export function quoteIdentifier(dialect: Dialect, name: string): string {
  switch (dialect) {
    case 'MYSQL':
      return `\`${name.replaceAll('`', '``')}\``;
    case 'MSSQL':
      return `[${name.replaceAll(']', ']]')}]`;
    default:
      return `"${name.replaceAll('"', '""')}"`;
  }
}

/** What `isContextKey` takes; the schema of a document says it too. */
export const CONTEXT_KEY = /^[a-z_][a-z0-9_]{0,62}$/;

/** The key grammar of parameters and context keys, which `:name` takes (contract 01 §1.1). */
export function isContextKey(name: string): boolean {
  return CONTEXT_KEY.test(name);
}

/** What may be the label of a staged column (contract 01 §6.8); such a label is never renamed. */
export function isStagedLabel(label: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(label);
}

/**
 * The first label a staged table cannot take: bad form, or the second of two that differ only in case (DuckDB folds
 * case). `ordinal` counts from 0. Null when all are fine.
 */
export function findInvalidStagedLabel(labels: readonly string[]): { label: string; ordinal: number } | null {
  const seen = new Set<string>();
  for (const [ordinal, label] of labels.entries()) {
    const folded = label.toLowerCase();
    if (!isStagedLabel(label) || seen.has(folded)) return { label, ordinal };
    seen.add(folded);
  }
  return null;
}
