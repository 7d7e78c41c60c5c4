import { quoteIdentifier, type Dialect } from '#libs/typesystem';

/** `schema.table` or `table` of a write-back, each part quoted. */
export function quoteTable(dialect: Dialect, table: string): string {
  return table
    .split('.')
    .map((part) => quoteIdentifier(dialect, part))
    .join('.');
}
