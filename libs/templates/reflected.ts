const MAX_REFLECTED_CHARS = 64;

/** Input that is shown back in details is clipped and carries no control characters (contract 05, preamble). */
export function reflected(text: string): string {
  const clipped = text.length > MAX_REFLECTED_CHARS ? `${text.slice(0, MAX_REFLECTED_CHARS - 1)}…` : text;
  return clipped.replace(/\p{Cc}|\p{Surrogate}/gu, '\uFFFD');
}
