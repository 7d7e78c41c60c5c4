import type { Dialect } from '../canonical-type.js';
import { lexSql } from './lex-sql.js';

/** The distinct names a text binds with `:name`, in order of first use (contract 01 §4.3). */
export function bindNames(dialect: Dialect, sql: string): string[] {
  const names = new Set<string>();
  for (const { kind, text } of lexSql(dialect, sql)) if (kind === 'bind') names.add(text.slice(1));
  return [...names];
}
