import type { ColumnBatch, ColumnVector } from '#libs/typesystem';

import { cellText } from '../cell-text.js';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(text: string): string {
  return /[\\\n\r\t]/.test(text) ? text.replace(/[\\\n\r\t]/g, (found) => ESCAPES[found] ?? found) : text;
}

function fieldText(vector: ColumnVector): (row: number) => string {
  if (vector.layout === 'binary') {
    return (row) => `\\\\x${Buffer.from(vector.data[row] ?? []).toString('hex')}`;
  }
  const text = cellText(vector);
  return vector.type.type === 'STRING' ? (row) => escaped(text(row)) : text;
}

/** Rows `from` to `to` in COPY's text format: tab between fields, `\N` for NULL, backslash escapes. */
export function encodeCopyRows(batch: ColumnBatch, from: number, to: number): Buffer {
  const fields = batch.vectors.map((vector) => {
    const text = fieldText(vector);
    return (row: number): string => (vector.nulls[row] === 1 ? '\\N' : text(row));
  });
  let lines = '';
  for (let row = from; row < to; row += 1) {
    lines += fields.map((field) => field(row)).join('\t');
    lines += '\n';
  }
  return Buffer.from(lines, 'utf8');
}
