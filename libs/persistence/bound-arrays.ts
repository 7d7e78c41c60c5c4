/**
 * Placeholders `$first`, `$first+1` … for arrays of these types, to stand in an `unnest` or behind {@link boundArray}'s `ANY`.
 * Each is behind a subselect: else the planner sees how long the arrays are and plans the statement anew for every length,
 * which takes as long as the statement itself. Behind it one plan serves any number of rows.
 */
export function boundArrays(first: number, types: readonly string[]): string {
  return types.map((type, at) => boundArray(first + at, type)).join(', ');
}

/** One of them; the outer cast makes it a value where `ANY` would take a subselect for a set of rows. */
export function boundArray(place: number, type: string): string {
  return `(SELECT $${place}::${type}[])::${type}[]`;
}
