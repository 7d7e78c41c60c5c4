/** Edit distance (insert, delete, replace), at most `limit + 1`. */
export function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replace = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replace, previous[column]! + 1, current[column - 1]! + 1));
    }
    if (Math.min(...current) > limit) return limit + 1;
    previous = current;
  }
  return previous[right.length]!;
}

/** The known name a misspelt one most likely meant: the same but for case first, else within `limit` edits. */
export function nearest(name: string, known: readonly string[], limit = 2): string | undefined {
  const folded = name.toLowerCase();
  const sameFolded = known.find((candidate) => candidate.toLowerCase() === folded);
  if (sameFolded !== undefined) return sameFolded;
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const distance = editDistance(folded, candidate.toLowerCase(), limit);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}
