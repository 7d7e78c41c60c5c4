/** How far a fact is to be believed (contract 06 §11). */
export const FACT_TRUSTS = ['asserted', 'observed', 'verified', 'needs_review', 'stale', 'retired'] as const;
export type FactTrust = (typeof FACT_TRUSTS)[number];

/**
 * What happens to a fact. `columns_changed` and `ref_gone` are what a read of the catalog finds; `verified` is a
 * person's act; `retired` a person's or key's, also when another fact supersedes it.
 */
export const FACT_EVENTS = ['columns_changed', 'ref_gone', 'verified', 'retired'] as const;
export type FactEvent = (typeof FACT_EVENTS)[number];

/** From which states an event leads where. A machine only lowers trust; nothing leaves `retired`. */
const TRANSITIONS: Readonly<Record<FactEvent, { from: readonly FactTrust[]; to: FactTrust }>> = {
  columns_changed: { from: ['asserted', 'observed', 'verified'], to: 'needs_review' },
  ref_gone: { from: ['asserted', 'observed', 'verified', 'needs_review'], to: 'stale' },
  verified: { from: ['asserted', 'observed', 'verified', 'needs_review', 'stale'], to: 'verified' },
  retired: { from: ['asserted', 'observed', 'verified', 'needs_review', 'stale'], to: 'retired' },
};

/** The guard and the outcome of an event, for the WHERE and the SET of its statement. */
export function transition(event: FactEvent): { from: readonly FactTrust[]; to: FactTrust } {
  return TRANSITIONS[event];
}

/** The trust after an event; the same where the event does nothing. */
export function trustAfter(trust: FactTrust, event: FactEvent): FactTrust {
  const { from, to } = TRANSITIONS[event];
  return from.includes(trust) ? to : trust;
}

/** A fact about the data that a query bears out is `observed`; a team's own rule is always `asserted`. */
export function birthTrust(scope: 'DATASOURCE' | 'WORKSPACE', hasEvidence: boolean): FactTrust {
  return scope === 'DATASOURCE' && hasEvidence ? 'observed' : 'asserted';
}
