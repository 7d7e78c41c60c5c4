import type { WriteSurface } from '#libs/kernel';
import type { FactTrust } from './rules/fact-trust.js';

export const FACT_SCOPES = ['DATASOURCE', 'WORKSPACE'] as const;
export type FactScope = (typeof FACT_SCOPES)[number];

/** Each kind has one scope (contract 06 §11). */
export const FACT_KINDS = {
  unit: 'DATASOURCE',
  time_zone: 'DATASOURCE',
  sampling: 'DATASOURCE',
  grain: 'DATASOURCE',
  window: 'DATASOURCE',
  enum_meaning: 'DATASOURCE',
  join: 'DATASOURCE',
  caveat: 'DATASOURCE',
  format: 'DATASOURCE',
  definition: 'WORKSPACE',
  exclusion: 'WORKSPACE',
  preference: 'WORKSPACE',
} as const satisfies Record<string, FactScope>;
export type FactKind = keyof typeof FACT_KINDS;

/** A table or a column of one. `schema` has dots where the dialect has several levels; absent where it has none. */
export interface FactRef {
  schema?: string;
  table: string;
  column?: string;
}

/** What decides where a fact stands and what a read of the catalog does to it. */
export interface FactPlace {
  id: string;
  datasource: string;
  kind: FactKind;
  refs: FactRef[];
  /** The refs as the database writes them: equal texts are equal refs. */
  refsKey: string;
  trust: FactTrust;
  /** `tableKey=sha256` entries joined by `;` (seed §4.18). */
  fingerprint: string;
  /** Recorded by somebody who acted in the reading workspace. */
  isFromHere: boolean;
  /** Another live fact that the workspace sees says something else of the same kind about the same refs. */
  isConflicting: boolean;
}

/** A stored fact as one workspace reads it. Stamps have microseconds. */
export interface LearnedFact extends FactPlace {
  scope: FactScope;
  fact: string;
  evidenceSql: string | null;
  evidenceSummary: string | null;
  recordedBy: string;
  recordedVia: WriteSurface;
  recordedAt: string;
  /** Only when the reading workspace holds the pipeline. */
  sourcePipeline: { id: string; name: string } | null;
  /** As the pipeline. */
  sourceVersion: number | null;
  verifiedBy: string | null;
  verifiedAt: string | null;
  /** Only when the reading workspace sees that fact. */
  supersedes: string | null;
  retiredAt: string | null;
  retiredReason: string | null;
}
