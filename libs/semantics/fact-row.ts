import { isJsonObject, KeysetOrder, readJson, type WriteSurface } from '#libs/kernel';

import type { FactKind, FactRef, FactScope, LearnedFact } from './learned-fact.js';
import type { FactTrust } from './rules/fact-trust.js';

/** A row of `learned_facts` as one workspace reads it. */
export interface FactRow {
  id: string;
  scope: FactScope;
  datasource_name: string;
  kind: FactKind;
  fact: string;
  refs_json: string;
  evidence_sql: string | null;
  evidence_summary: string | null;
  trust: FactTrust;
  schema_fingerprint: string;
  recorded_by: string;
  recorded_via: WriteSurface;
  recorded_at: string;
  from_here: boolean;
  pipeline_id: string | null;
  pipeline_name: string | null;
  source_version: number | null;
  verified_by: string | null;
  verified_at: string | null;
  supersedes: string | null;
  retired_at: string | null;
  retired_reason: string | null;
  conflicting: boolean;
}

/** $1 = the workspace that reads: it sees what is granted to it, of team rules only its own (contract 06 §11). */
export const VISIBLE_FACTS = visibleFacts('f');

function visibleFacts(fact: string): string {
  return `(${fact}.scope = 'DATASOURCE' OR ${fact}.workspace_id = $1::uuid) AND EXISTS (
    SELECT 1 FROM datasources d JOIN datasource_workspaces g ON g.datasource_name = d.name AND g.workspace_id = $1::uuid
     WHERE d.name = ${fact}.datasource_name AND NOT d.is_deleted)`;
}

/**
 * What a fact says of another thing is shown to who may read that thing: the version of a pipeline of its own, the fact
 * that was superseded where that one is visible.
 */
export const FACT_COLUMNS = `f.id, f.scope, f.datasource_name, f.kind, f.fact, f.refs_json, f.evidence_sql, f.evidence_summary, f.trust,
  f.schema_fingerprint, f.recorded_by, f.recorded_via, f.recorded_at, f.recorded_in = $1::uuid AS from_here,
  p.id AS pipeline_id, p.name AS pipeline_name, CASE WHEN p.id IS NOT NULL THEN f.source_version END AS source_version,
  f.verified_by, f.verified_at,
  (SELECT s.id FROM learned_facts s WHERE s.id = f.supersedes AND ${visibleFacts('s')}) AS supersedes,
  f.retired_at, f.retired_reason`;

export const FROM_FACTS = `FROM learned_facts f LEFT JOIN pipelines p ON p.id = f.source_pipeline_id AND p.workspace_id = $1::uuid`;

export const NEWEST_FIRST = new KeysetOrder(
  { sql: 'f.recorded_at', kind: 'timestamptz', descending: true },
  { sql: 'f.id', kind: 'uuid', descending: true },
);

export function factOf(row: FactRow): LearnedFact {
  return {
    id: row.id,
    scope: row.scope,
    datasource: row.datasource_name,
    kind: row.kind,
    fact: row.fact,
    refs: refsOf(row.refs_json),
    refsKey: row.refs_json,
    evidenceSql: row.evidence_sql,
    evidenceSummary: row.evidence_summary,
    trust: row.trust,
    fingerprint: row.schema_fingerprint,
    recordedBy: row.recorded_by,
    recordedVia: row.recorded_via,
    recordedAt: row.recorded_at,
    isFromHere: row.from_here,
    sourcePipeline: row.pipeline_id === null ? null : { id: row.pipeline_id, name: row.pipeline_name ?? '' },
    sourceVersion: row.source_version,
    verifiedBy: row.verified_by,
    verifiedAt: row.verified_at,
    supersedes: row.supersedes,
    retiredAt: row.retired_at,
    retiredReason: row.retired_reason,
    isConflicting: row.conflicting,
  };
}

export function refsOf(json: string): FactRef[] {
  const refs = readJson(json);
  return (Array.isArray(refs) ? refs : []).flatMap((ref) => {
    if (!isJsonObject(ref) || typeof ref['table'] !== 'string') return [];
    const { schema, table, column } = ref;
    return [
      {
        ...(typeof schema === 'string' ? { schema } : {}),
        table,
        ...(typeof column === 'string' ? { column } : {}),
      },
    ];
  });
}
