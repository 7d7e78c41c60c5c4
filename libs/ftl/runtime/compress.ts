import type { OutputPart } from './output.js';

/** White space runs become one space, or one newline if they hold one; edges go. Binds count as text. */
export function compress(parts: readonly OutputPart[]): OutputPart[] {
  const result: OutputPart[] = [];
  let pending: string | null = null;
  for (const part of parts) {
    if (part.kind !== 'text') {
      flush(part);
      result.push(part);
      continue;
    }
    let text = '';
    for (const piece of part.text.match(/\s+|\S+/g) ?? []) {
      if (/^\s/.test(piece)) {
        const gap = /[\n\r]/.test(piece) ? '\n' : ' ';
        pending = pending === '\n' ? pending : gap;
      } else {
        if (pending !== null && (result.length > 0 || text !== '')) text += pending;
        pending = null;
        text += piece;
      }
    }
    if (text !== '') result.push({ ...part, text });
  }
  return result;

  function flush(before: OutputPart): void {
    if (pending !== null && result.length > 0) result.push({ kind: 'text', text: pending, origin: before.origin });
    pending = null;
  }
}
