import type { OutputPart } from './output.js';

/** White space runs become one space, or the first line break they hold; edges go. Binds count as text. */
export function compress(parts: readonly OutputPart[]): OutputPart[] {
  const result: OutputPart[] = [];
  let run = '';
  for (const part of parts) {
    let text = '';
    if (part.kind === 'text') {
      for (const piece of part.text.match(/\s+|\S+/g) ?? []) {
        if (/^\s/.test(piece)) run += piece;
        else {
          text += gap(run, result.length === 0 && text === '') + piece;
          run = '';
        }
      }
      if (text !== '') result.push({ ...part, text });
    } else {
      const before = gap(run, result.length === 0);
      run = '';
      if (before !== '') result.push({ kind: 'text', text: before, origin: part.origin, numeric: false });
      result.push(part);
    }
  }
  return result;
}

function gap(run: string, atEdge: boolean): string {
  if (run === '' || atEdge) return '';
  return /\r\n|\n|\r/.exec(run)?.[0] ?? ' ';
}
