import { lexSql } from '#libs/typesystem';

import type { ColumnMetadata } from './client.js';

const CLOCK = `'SYYYY-MM-DD"T"HH24:MI:SS'`;
const FINE_CLOCK = `'SYYYY-MM-DD"T"HH24:MI:SS.FF6'`;

/**
 * How a column is selected so that nothing of it is lost on the way: the library cuts timestamps to milliseconds, reads
 * dates by its own clock, and knows no text for JSON or XML. Undefined = as it is.
 */
function textOf({ dbTypeName }: ColumnMetadata): ((column: string) => string) | undefined {
  switch (dbTypeName) {
    case 'DATE':
      return (column) => `TO_CHAR(${column}, ${CLOCK})`;
    case 'TIMESTAMP':
      return (column) => `TO_CHAR(${column}, ${FINE_CLOCK})`;
    case 'TIMESTAMP WITH TIME ZONE':
    case 'TIMESTAMP WITH LOCAL TIME ZONE':
      return (column) => `TO_CHAR(SYS_EXTRACT_UTC(${column}), ${FINE_CLOCK})`;
    case 'INTERVAL DAY TO SECOND':
    case 'INTERVAL YEAR TO MONTH':
      return (column) => `TO_CHAR(${column})`;
    case 'JSON':
      return (column) => `JSON_SERIALIZE(${column} RETURNING CLOB)`;
    case 'XMLTYPE':
      return (column) => `XMLSERIALIZE(CONTENT ${column} AS CLOB)`;
    default:
      return undefined;
  }
}

/**
 * The author's query with such columns as text, around a named query whose columns are numbered: two of one name, or one
 * without a usable name, are no trouble there (01 §6.6). The query itself where no column needs it.
 */
export function projected(sql: string, columns: readonly ColumnMetadata[]): string {
  if (!columns.some((column) => textOf(column))) return withoutEnd(sql);
  const names = columns.map((_column, index) => `c${index + 1}`);
  const selected = columns.map((column, index) => textOf(column)?.(names[index]!) ?? names[index]!);
  // A comment at the end of the author's text ends with its line.
  return `WITH dp_query (${names.join(', ')}) AS (\n${withoutEnd(sql)}\n) SELECT ${selected.join(', ')} FROM dp_query`;
}

/** Oracle takes no semicolon behind a statement. */
export function withoutEnd(sql: string): string {
  const tokens = lexSql('ORACLE', sql);
  const last = tokens.findLast(({ kind }) => kind !== 'whitespace' && kind !== 'comment');
  return last?.text === ';' ? sql.slice(0, last.start) + sql.slice(last.end) : sql;
}
