import type { Column, ColumnType } from '../canonical-type.js';
import { splitRow } from './split-row.js';

/** A spreadsheet takes a cell that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * One CSV cell (RFC 4180) from the JSON token of a stored value: the wire string; NULL is empty, an empty STRING is
 * `""`. STRING cells that a spreadsheet would run get a leading `'` (contract 02 §6.4).
 */
export function csvCell(type: ColumnType, token: string): string {
  if (token === 'null') return '';
  if (token.charCodeAt(0) !== 34) return token;
  if (type.type !== 'STRING') return token.slice(1, -1);
  const text = JSON.parse(token) as string;
  return quoted(FORMULA.test(text) ? `'${text}` : text);
}

function quoted(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The header line, CRLF included. */
export function csvHeader(columns: readonly Column[]): string {
  return `${columns.map(({ name }) => quoted(name)).join(',')}\r\n`;
}

/** One line, CRLF included, from a stored row: a JSON array text as `encodeBatchRows` makes it. */
export function csvLine(columns: readonly Column[], row: string): string {
  const tokens = splitRow(row);
  return `${columns.map((column, ordinal) => csvCell(column, tokens[ordinal] ?? 'null')).join(',')}\r\n`;
}
