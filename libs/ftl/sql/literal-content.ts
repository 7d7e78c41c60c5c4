import { MARKER_CLOSE, MARKER_OPEN, type SqlToken } from '#libs/typesystem';

/** A piece of a literal's content: the author's text, un-escaped, or the number of a bind. */
export type LiteralPiece = string | number;

const MYSQL_ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', '0': '\0', Z: '\u001a' };

/** Content of a plain or backslash literal that holds bind markers. */
export function literalPieces(token: SqlToken): LiteralPiece[] {
  const quote = token.text[0]!;
  const content = token.text.slice(1, -1);
  const pieces: LiteralPiece[] = [];
  const marker = new RegExp(`${MARKER_OPEN}(\\d+)${MARKER_CLOSE}`, 'g');
  let from = 0;
  for (const found of content.matchAll(marker)) {
    if (found.index > from) pieces.push(unescape(content.slice(from, found.index), quote, token.form === 'backslash'));
    pieces.push(Number(found[1]));
    from = found.index + found[0].length;
  }
  if (from < content.length) pieces.push(unescape(content.slice(from), quote, token.form === 'backslash'));
  return pieces;
}

function unescape(text: string, quote: string, backslash: boolean): string {
  if (!backslash) return text.replaceAll(quote + quote, quote);
  return text.replace(/\\([\s\S])|''|""/g, (whole, escaped: string | undefined) => {
    if (escaped === undefined) return whole[0] === quote ? quote : whole;
    // `\%` and `\_` keep their backslash: they escape for LIKE.
    if (escaped === '%' || escaped === '_') return whole;
    return MYSQL_ESCAPES[escaped] ?? escaped;
  });
}
