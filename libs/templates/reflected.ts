const MAX_REFLECTED_CHARS = 64;

/** Controls, separators of lines, and what turns the direction of the text around it. */
const UNPRINTABLE = /\p{Cc}|\p{Surrogate}|[\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** Input that is shown back in details is clipped and carries no control characters (contract 05, preamble). */
export function reflected(text: string): string {
  const clipped = text.length > MAX_REFLECTED_CHARS ? `${text.slice(0, MAX_REFLECTED_CHARS - 1)}…` : text;
  return clipped.replace(UNPRINTABLE, '\uFFFD');
}
