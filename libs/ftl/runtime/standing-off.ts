import { derived, STRING_TYPE, type Taint } from './taint.js';
import { string, type StringValue } from './values.js';

/** Text with its provenance: a run-time value, text of a number, or the author's. */
export interface Text {
  text: string;
  taint: Taint | null;
  /** May hold text of a number, whose sign a run-time value may have decided. */
  numeric: boolean;
}

const MINUS = 45;

/**
 * `piece` as it stands behind `before` where one of them may hold text of a number: two minus signs that meet would
 * open a comment and take the rest of the line out of the statement, so they stand off by a space (contract 05 §5).
 */
export function standingOff(before: string, piece: string): string {
  if (piece.charCodeAt(0) !== MINUS) return piece;
  return before.charCodeAt(before.length - 1) === MINUS ? ` ${piece}` : piece;
}

/**
 * Pieces one behind the other, tainted by `others` too. A run-time value is bound, not written, so its text is joined as
 * it is.
 */
export function glued(pieces: readonly Text[], ...others: Text[]): StringValue {
  const taint = derived(STRING_TYPE, ...[...pieces, ...others].map((piece) => piece.taint));
  const numeric = pieces.some((piece) => piece.numeric);
  if (!numeric || taint !== null) return string(pieces.map(({ text }) => text).join(''), taint, numeric);
  let text = '';
  for (const piece of pieces) text += standingOff(text, piece.text);
  return string(text, null, true);
}

/** Text a pattern of the author's made of a number: the sign does not meet a minus of the pattern. */
export function patterned(text: string, pattern: string): string {
  return text.includes('--') && !pattern.includes('--') ? text.replace(/-(?=-)/g, '- ') : text;
}

export const authorText = (text: string): Text => ({ text, taint: null, numeric: false });
