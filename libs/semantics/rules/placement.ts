import type { LearnedFact } from '../learned-fact.js';
import { refText, tableKey } from './fact-refs.js';

/** Most facts beside one object of a listing (contract 06 §11). */
export const FACTS_PER_OBJECT = 50;

/**
 * Beside which tables a fact stands: those it names without a column; a stale one also where its column was, because no
 * column is left to carry it.
 */
export function tablesOf({ refs, trust }: LearnedFact): Set<string> {
  return new Set(refs.filter(({ column }) => column === undefined || trust === 'stale').map(tableKey));
}

/** Beside which columns of one table a fact stands. */
export function columnsOf({ refs }: LearnedFact, key: string): Set<string> {
  return new Set(refs.flatMap((ref) => (ref.column !== undefined && tableKey(ref) === key ? [ref.column] : [])));
}

/** Live facts of one datasource, with those told apart that say different things about the same non-empty refs. */
export function withConflicts(facts: readonly LearnedFact[]): LearnedFact[] {
  const keyOf = ({ datasource, kind, refs }: LearnedFact): string =>
    [datasource, kind, ...refs.map(refText)].join('\u0000');
  const counts = new Map<string, number>();
  for (const fact of facts) counts.set(keyOf(fact), (counts.get(keyOf(fact)) ?? 0) + 1);
  return facts.map((fact) =>
    fact.refs.length > 0 && (counts.get(keyOf(fact)) ?? 0) > 1 ? { ...fact, isConflicting: true } : fact,
  );
}
