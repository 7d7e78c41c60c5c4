/**
 * Characters that a reader does not see, or that change how others are seen: controls, directions, invisible marks and
 * tags. In a text that people and agents are shown as knowledge they can only deceive. Joiners stay: scripts and emoji
 * need them.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Co}\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{1D173}-\u{1D17A}]|[\uFE00-\uFE0D]|[\u17B4\u17B5]|[\u{E0000}-\u{E0FFF}]/u;

/**
 * A text as it is kept: composed (NFC), so that equal texts are equal, lines ended by `\n`, trimmed. Undefined for one
 * that holds what nobody sees.
 */
export function readableText(text: string): string | undefined {
  const lines = text.normalize('NFC').replaceAll('\r\n', '\n').trim();
  return UNSEEN.test(lines.replaceAll(/[\n\t]/g, ' ')) ? undefined : lines;
}

/** Characters as the database counts them. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** At most `limit` characters, never half of one. */
export function firstCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return [...text.slice(0, limit * 2)].slice(0, limit).join('');
}

/** A text of a foreign database made fit to be kept: what nobody sees is replaced by a space. */
export function visibleText(text: string): string {
  return text.normalize('NFC').replaceAll(new RegExp(UNSEEN, 'gu'), ' ');
}
