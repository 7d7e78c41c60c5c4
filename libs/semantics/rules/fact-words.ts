import { editDistance } from '#libs/datasources';

import type { FactRef } from '../learned-fact.js';
import { schemaOf, tableKey } from './fact-refs.js';

export interface ListedTable {
  namespace: readonly string[];
  name: string;
}

export interface Vocabulary {
  tables: readonly ListedTable[];
  /** Names that are right as they are, though they may look like a misspelt table: columns and schemas of the refs. */
  alsoRight: ReadonlySet<string>;
}

/** How far a word may be from a table's name and still be taken for it misspelt. */
const DISTANCE = 2;
/** A word that nobody writes but as a name. */
const LIKE_A_NAME = /^(?=.*_)[a-z0-9_]{4,}$/;

/**
 * Compares the words of a fact with the tables of its datasource (contract 06 §11, step 5): a table that is named but
 * not referred to becomes a ref; a word that is nearly a table's name is most likely a mistake.
 */
export function judgeWords(
  fact: string,
  refs: readonly FactRef[],
  { tables, alsoRight }: Vocabulary,
): { missing: FactRef[] } | { mismatch: { token: string; suggestion: string } } {
  const byName = Map.groupBy(tables, ({ name }) => name.toLowerCase());
  const referred = new Set(refs.map(({ table }) => table.toLowerCase()));
  const missing: FactRef[] = [];
  for (const token of new Set(fact.match(/[\p{L}\p{N}_$]+/gu) ?? [])) {
    const word = token.toLowerCase();
    const named = byName.get(word);
    if (named) {
      const meant = referred.has(word) ? undefined : theOneMeant(named, refs);
      if (meant) missing.push(meant);
      continue;
    }
    if (!LIKE_A_NAME.test(word) || alsoRight.has(word)) continue;
    const suggestion = nearestName([...byName.keys()], word);
    if (suggestion !== undefined)
      return { mismatch: { token, suggestion: byName.get(suggestion)?.[0]?.name ?? suggestion } };
  }
  return { missing };
}

/** The table of that name; of several, the one beside the refs. Where that does not decide, none is guessed. */
function theOneMeant(named: readonly ListedTable[], refs: readonly FactRef[]): FactRef | undefined {
  const candidates = named.map(({ namespace, name }) => {
    const schema = schemaOf(namespace);
    return { ...(schema === undefined ? {} : { schema }), table: name };
  });
  const schemas = new Set(refs.map(({ schema }) => schema));
  const beside = candidates.filter(({ schema }) => schemas.has(schema));
  const [only, ...others] = beside.length > 0 ? beside : candidates;
  return others.some((other) => only === undefined || tableKey(other) !== tableKey(only)) ? undefined : only;
}

function nearestName(names: readonly string[], word: string): string | undefined {
  let best: { name: string; away: number } | undefined;
  for (const name of names) {
    const away = editDistance(word, name, DISTANCE);
    if (away <= DISTANCE && (best === undefined || away < best.away)) best = { name, away };
  }
  return best?.name;
}
