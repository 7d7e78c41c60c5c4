import type { FactPlace } from '../learned-fact.js';
import { tableKey } from './fact-refs.js';

/** Most facts beside one object of a listing (contract 06 §11). */
export const FACTS_PER_OBJECT = 50;

/**
 * Beside which tables a fact stands: those it names without a column; a stale one also where its column was, because no
 * column is left to carry it.
 */
export function tablesOf({ refs, trust }: FactPlace): Set<string> {
  return new Set(refs.filter(({ column }) => column === undefined || trust === 'stale').map(tableKey));
}

/** The facts that are shown beside one object: where there are too many, one's own workspace's before others'; order kept. */
export function shownFacts<F extends FactPlace, S extends { fact: F }>(facts: readonly S[]): readonly S[] {
  if (facts.length <= FACTS_PER_OBJECT) return facts;
  const own = facts.filter(({ fact }) => fact.isFromHere).slice(0, FACTS_PER_OBJECT);
  const others = facts.filter(({ fact }) => !fact.isFromHere).slice(0, FACTS_PER_OBJECT - own.length);
  const shown = new Set([...own, ...others]);
  return facts.filter((fact) => shown.has(fact));
}

/** Beside which columns of one table a fact stands. */
export function columnsOf({ refs }: FactPlace, key: string): Set<string> {
  return new Set(refs.flatMap((ref) => (ref.column !== undefined && tableKey(ref) === key ? [ref.column] : [])));
}

/** Live facts of some datasources, with those told apart that say different things about the same non-empty refs. */
export function withConflicts<F extends FactPlace>(facts: readonly F[]): F[] {
  const groups = Map.groupBy(facts, ({ datasource, kind, refsKey }) => `${datasource} ${kind} ${refsKey}`);
  const conflicting = new Set<string>();
  for (const group of groups.values()) if (group.length > 1) for (const { id } of group) conflicting.add(id);
  return facts.map((fact) =>
    fact.refs.length > 0 && conflicting.has(fact.id) ? { ...fact, isConflicting: true } : fact,
  );
}
