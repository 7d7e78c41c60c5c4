import type { FactPlace, FactRef } from '../learned-fact.js';
import { tableKey } from './fact-refs.js';
import { digestIn } from './fingerprint.js';

/** A fact and the refs of it that a listing does not show. */
export interface MissingRefs<F extends FactPlace = FactPlace> {
  fact: F;
  refs: FactRef[];
}

/** A read that showed nothing proves nothing: only a complete listing of all tables tells that one is gone (06 §11). */
export function tablesGone<F extends FactPlace>(facts: readonly F[], listed: ReadonlySet<string>): MissingRefs<F>[] {
  return missing(facts, (ref) => !listed.has(tableKey(ref)));
}

export interface ColumnsDrift<F extends FactPlace> {
  gone: MissingRefs<F>[];
  /** The columns they name are there, and the table is not as it was. */
  changed: F[];
}

/** Compares facts with the columns of one table, `key`, as they are now. No columns at all prove nothing. */
export function columnsDrift<F extends FactPlace>(
  facts: readonly F[],
  key: string,
  columns: ReadonlySet<string>,
  digest: string,
): ColumnsDrift<F> {
  if (columns.size === 0) return { gone: [], changed: [] };
  const gone = missing(facts, (ref) => tableKey(ref) === key && ref.column !== undefined && !columns.has(ref.column));
  const going = new Set(gone.map(({ fact }) => fact.id));
  const changed = facts.filter((fact) => {
    const before = digestIn(fact.fingerprint, key);
    return before !== undefined && before !== digest && !going.has(fact.id);
  });
  return { gone, changed };
}

function missing<F extends FactPlace>(facts: readonly F[], isMissing: (ref: FactRef) => boolean): MissingRefs<F>[] {
  return facts.flatMap((fact) => {
    const refs = fact.refs.filter(isMissing);
    return refs.length === 0 ? [] : [{ fact, refs }];
  });
}

/** `column X no longer exists`, `table X no longer exists`: of the first that is gone. */
export function goneText(refs: readonly FactRef[], what: 'table' | 'column'): string {
  const [first] = refs;
  const name = what === 'column' ? first?.column : first && tableKey(first);
  return `${what} ${name ?? ''} no longer exists`;
}
