/** The JSON tokens of a stored row: one JSON array of scalars without blanks. Tokens are not parsed. */
export function splitRow(row: string): string[] {
  const tokens: string[] = [];
  if (row === '[]') return tokens;
  let start = 1;
  for (let at = 1; at < row.length; at++) {
    const code = row.charCodeAt(at);
    if (code === 34) at = closingQuote(row, at);
    else if (code === 44 || code === 93) {
      tokens.push(row.slice(start, at));
      start = at + 1;
    }
  }
  return tokens;
}

function closingQuote(row: string, opening: number): number {
  let at = opening + 1;
  for (; at < row.length && row.charCodeAt(at) !== 34; at++) if (row.charCodeAt(at) === 92) at++;
  return at;
}
