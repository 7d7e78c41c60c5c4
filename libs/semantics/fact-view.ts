import { toWireStamp } from '#libs/kernel';

import type { FactPlace, FactRef, LearnedFact } from './learned-fact.js';
import type { FactTrust } from './rules/fact-trust.js';

/** A fact as a listing of the catalog carries it. */
export interface InlineFactView {
  id: string;
  scope: string;
  kind: string;
  fact: string;
  trust: FactTrust;
  /** What a read of the catalog found changed. */
  drift?: string;
  evidence_summary?: string;
  recorded_via: string;
  recorded_at: string;
  from_this_workspace: boolean;
  source_pipeline?: { id: string; name: string };
  conflict?: true;
}

/** A fact in full. */
export interface FactView extends InlineFactView {
  datasource: string;
  refs: FactRef[];
  evidence_sql: string | null;
  source_version: number | null;
  recorded_by: string;
  verified_by: string | null;
  verified_at: string | null;
  supersedes: string | null;
  retired_at: string | null;
  retired_reason: string | null;
}

/** A fact together with what was seen of its tables at this read. */
export interface ServedFact<F extends FactPlace = LearnedFact> {
  fact: F;
  drift: string | undefined;
}

export const COLUMNS_CHANGED = 'table columns changed since this was recorded';

export function inlineFactView({ fact, drift }: ServedFact): InlineFactView {
  return {
    id: fact.id,
    scope: fact.scope,
    kind: fact.kind,
    fact: fact.fact,
    trust: fact.trust,
    ...(drift === undefined ? {} : { drift }),
    ...(fact.evidenceSummary === null ? {} : { evidence_summary: fact.evidenceSummary }),
    recorded_via: fact.recordedVia,
    recorded_at: toWireStamp(fact.recordedAt),
    from_this_workspace: fact.isFromHere,
    ...(fact.sourcePipeline === null ? {} : { source_pipeline: fact.sourcePipeline }),
    ...(fact.isConflicting ? { conflict: true } : {}),
  };
}

export function factView(fact: LearnedFact): FactView {
  return {
    ...inlineFactView({ fact, drift: storedDrift(fact) }),
    datasource: fact.datasource,
    refs: fact.refs,
    evidence_sql: fact.evidenceSql,
    source_version: fact.sourceVersion,
    recorded_by: fact.recordedBy,
    verified_by: fact.verifiedBy,
    verified_at: fact.verifiedAt === null ? null : toWireStamp(fact.verifiedAt),
    supersedes: fact.supersedes,
    retired_at: fact.retiredAt === null ? null : toWireStamp(fact.retiredAt),
    retired_reason: fact.retiredReason,
  };
}

/** What can be said of an earlier mark without looking again. */
export function storedDrift({ trust }: FactPlace): string | undefined {
  return trust === 'needs_review' ? COLUMNS_CHANGED : undefined;
}
