import type { LineMap } from './line-map.js';

const WIDTH = 64;
/** How much of the line stands before the place that is blamed. */
const BEFORE = 40;

/**
 * The line of an offset and under it a caret where the offset is, for people to read: at most 64 characters of the
 * line, control characters replaced.
 */
export function excerptAt(source: string, lines: LineMap, offset: number): string {
  const { line, column } = lines.position(offset);
  const start = offset - (column - 1);
  const end = lines.endOf(line, source);
  const from = column - 1 > BEFORE && end - start > WIDTH ? offset - BEFORE : start;
  const until = Math.min(end, from + WIDTH);
  const before = `${from > start ? '…' : ''}${legible(source.slice(from, offset))}`;
  const after = `${legible(source.slice(offset, until))}${until < end ? '…' : ''}`;
  return `${before}${after}\n${' '.repeat([...before].length)}^`;
}

/** A tab counts as one column, so it is shown as one blank. */
function legible(text: string): string {
  return text.replaceAll('\t', ' ').replace(/\p{Cc}|\p{Surrogate}/gu, '\uFFFD');
}
