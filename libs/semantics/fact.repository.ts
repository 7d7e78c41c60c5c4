import { Injectable } from '@nestjs/common';

import { keysetPages, sizeOf, writeJson, type KeysetListing, type KeysetPage, type WriteSurface } from '#libs/kernel';
import type { Queryable, Transaction } from '#libs/persistence';

import { FACT_COLUMNS, factOf, FROM_FACTS, NEWEST_FIRST, VISIBLE_FACTS, type FactRow } from './fact-row.js';
import type { FactKind, FactRef, FactScope, LearnedFact } from './learned-fact.js';
import { transition, type FactEvent, type FactTrust } from './rules/fact-trust.js';

export interface NewFact {
  id: string;
  scope: FactScope;
  workspaceId: string | null;
  datasource: string;
  kind: FactKind;
  fact: string;
  refs: readonly FactRef[];
  evidenceSql: string | null;
  evidenceSummary: string | null;
  trust: FactTrust;
  fingerprint: string;
  recordedBy: string;
  recordedVia: WriteSurface;
  recordedIn: string;
  sourcePipelineId: string | null;
  sourceVersion: number | null;
  supersedes: string | null;
}

export interface FactFilter {
  datasource?: string | undefined;
  /** A table's name, or `schema.table`. */
  table?: string | undefined;
  scope?: FactScope | undefined;
  includeRetired: boolean;
  /** RFC 3339, inclusive. */
  since?: string | undefined;
}

/** What makes two facts the same one (contract 06 §11, step 6). */
export interface FactIdentity {
  scope: FactScope;
  workspaceId: string | null;
  datasource: string;
  kind: FactKind;
  refs: readonly FactRef[];
  fact: string;
}

/** Facts that say different things about the same refs are told apart by nobody but a person. */
const CONFLICTING = `f.trust <> 'retired' AND jsonb_array_length(f.refs_json) > 0 AND EXISTS (
    SELECT 1 FROM learned_facts o
     WHERE o.datasource_name = f.datasource_name AND o.kind = f.kind AND o.refs_json = f.refs_json
       AND o.trust <> 'retired' AND o.id <> f.id AND (o.scope = 'DATASOURCE' OR o.workspace_id = $1::uuid))`;

/** The same for many facts at once: the groups are gathered once. $2 = the datasource, null for all. */
const CONFLICTS = `LEFT JOIN (
    SELECT o.datasource_name, o.kind, o.refs_json FROM learned_facts o
     WHERE o.trust <> 'retired' AND jsonb_array_length(o.refs_json) > 0
       AND (o.scope = 'DATASOURCE' OR o.workspace_id = $1::uuid) AND ($2::text IS NULL OR o.datasource_name = $2)
     GROUP BY o.datasource_name, o.kind, o.refs_json HAVING count(*) > 1) c
    ON c.datasource_name = f.datasource_name AND c.kind = f.kind AND c.refs_json = f.refs_json`;
const IS_CONFLICTING = `(c.kind IS NOT NULL AND f.trust <> 'retired') AS conflicting`;

/** `learned_facts`: rows are added and marked, never edited, never deleted (seed §4.18). */
@Injectable()
export class FactRepository {
  async find(q: Queryable, workspaceId: string, id: string): Promise<LearnedFact | undefined> {
    const [row] = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, ${CONFLICTING} AS conflicting ${FROM_FACTS} WHERE f.id = $2::uuid AND ${VISIBLE_FACTS}`,
      [workspaceId, id],
    );
    return row && factOf(row);
  }

  /** Several by id; what is unknown or not visible is absent. */
  async among(q: Queryable, workspaceId: string, ids: readonly string[]): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, ${CONFLICTING} AS conflicting ${FROM_FACTS} WHERE f.id = ANY ($2::uuid[]) AND ${VISIBLE_FACTS}`,
      [workspaceId, ids],
    );
    return rows.map(factOf);
  }

  /** Newest first. */
  async list(q: Queryable, workspaceId: string, filter: FactFilter, limit: number): Promise<LearnedFact[]> {
    const { sql, params } = filtered(workspaceId, filter);
    params.push(limit);
    const rows = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, ${IS_CONFLICTING} ${FROM_FACTS} ${CONFLICTS}
        WHERE ${sql} ${NEWEST_FIRST.orderBy({})} LIMIT $${params.length}::int`,
      params,
    );
    return rows.map(factOf);
  }

  /** A page of each of several datasources' facts, in one statement; null = one page over all. */
  async pages(
    q: Queryable,
    workspaceId: string,
    datasources: readonly string[] | null,
    filter: FactFilter,
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<LearnedFact>>> {
    const { sql, params } = filtered(workspaceId, filter);
    params.push(datasources);
    const among = `${sql} AND ($${params.length}::text[] IS NULL OR f.datasource_name = ANY ($${params.length}::text[]))`;
    const beyond = NEWEST_FIRST.beyond(page, params);
    const parent = datasources === null ? `''::text` : 'f.datasource_name';
    const rows = await q.query<FactRow & { parent: string }>(
      `SELECT x.* FROM (
         SELECT ${FACT_COLUMNS}, ${IS_CONFLICTING}, ${parent} AS parent,
                row_number() OVER (PARTITION BY ${parent} ${NEWEST_FIRST.orderBy(page)}) AS place
         ${FROM_FACTS} ${CONFLICTS} WHERE ${among} AND ${beyond}) x
        WHERE x.place <= $${params.push(sizeOf(page) + 1)}::int ORDER BY x.parent, x.place`,
      params,
    );
    const found = keysetPages(rows, (row) => row.parent, page);
    return new Map([...found].map(([key, { items, ...more }]) => [key, { items: items.map(factOf), ...more }]));
  }

  /** How many facts match, by datasource; null = over all, under ''. */
  async counts(
    q: Queryable,
    workspaceId: string,
    datasources: readonly string[] | null,
    filter: FactFilter,
  ): Promise<Map<string, number>> {
    const { sql, params } = filtered(workspaceId, filter);
    params.push(datasources);
    const parent = datasources === null ? `''::text` : 'f.datasource_name';
    const rows = await q.query<{ parent: string; total: number }>(
      `SELECT ${parent} AS parent, count(*)::int AS total FROM learned_facts f
        WHERE ${sql} AND ($${params.length}::text[] IS NULL OR f.datasource_name = ANY ($${params.length}::text[])) GROUP BY 1`,
      params,
    );
    return new Map(rows.map((row) => [row.parent, row.total]));
  }

  /** Held until the transaction ends, so that two records of the same fact are judged one after the other. */
  async lockKind(tx: Transaction, datasource: string, kind: FactKind): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', [
      `learned_facts ${datasource} ${kind}`,
    ]);
  }

  /** Held until the transaction ends, so that two that add to the facts of one workspace are counted one after the other. */
  async lockShare(tx: Transaction, workspaceId: string, datasource: string): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', [
      `learned_facts of ${workspaceId} on ${datasource}`,
    ]);
  }

  async duplicateOf(q: Queryable, identity: FactIdentity): Promise<string | undefined> {
    const { scope, workspaceId, datasource, kind, refs, fact } = identity;
    const [row] = await q.query<{ id: string }>(
      `SELECT id FROM learned_facts
        WHERE datasource_name = $1 AND kind = $2 AND scope = $3 AND workspace_id IS NOT DISTINCT FROM $4::uuid
          AND refs_json = $5::jsonb AND fact = $6 AND trust <> 'retired' LIMIT 1`,
      [datasource, kind, scope, workspaceId, writeJson(refs), fact],
    );
    return row?.id;
  }

  /** False when the workspace has as many live facts about the datasource as it may have. */
  async insert(tx: Transaction, fact: NewFact, mostLive: number): Promise<boolean> {
    const inserted = await tx.execute(
      `INSERT INTO learned_facts (id, scope, workspace_id, datasource_name, kind, fact, refs_json, evidence_sql,
         evidence_summary, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in, source_pipeline_id,
         source_version, supersedes)
       SELECT $1::uuid, $2::text, $3::uuid, $4::text, $5::text, $6::text, $7::jsonb, $8::text, $9::text, $10::text,
              $11::text, $12::uuid, $13::text, $14::uuid, $15::uuid, $16::int, $17::uuid
        WHERE (SELECT count(*) FROM learned_facts o
                WHERE o.datasource_name = $4::text AND o.recorded_in = $14::uuid AND o.trust <> 'retired') < $18::int`,
      [
        fact.id,
        fact.scope,
        fact.workspaceId,
        fact.datasource,
        fact.kind,
        fact.fact,
        writeJson(fact.refs),
        fact.evidenceSql,
        fact.evidenceSummary,
        fact.trust,
        fact.fingerprint,
        fact.recordedBy,
        fact.recordedVia,
        fact.recordedIn,
        fact.sourcePipelineId,
        fact.sourceVersion,
        fact.supersedes,
        mostLive,
      ],
    );
    return inserted === 1;
  }

  /** False when it is retired already. */
  async retire(tx: Transaction, id: string, reason: string): Promise<boolean> {
    const { from, to } = transition('retired');
    const changed = await tx.execute(
      `UPDATE learned_facts SET trust = $2, retired_at = NOW(), retired_reason = $3
        WHERE id = $1::uuid AND trust = ANY ($4::text[])`,
      [id, to, reason, from],
    );
    return changed === 1;
  }

  /** False when it was retired meanwhile. */
  async verify(tx: Transaction, id: string, by: string, schemaFingerprint: string): Promise<boolean> {
    const { from, to } = transition('verified');
    const changed = await tx.execute(
      `UPDATE learned_facts SET trust = $2, schema_fingerprint = $3, verified_by = $4::uuid, verified_at = NOW()
        WHERE id = $1::uuid AND trust = ANY ($5::text[])`,
      [id, to, schemaFingerprint, by, from],
    );
    return changed === 1;
  }

  /**
   * A read of the catalog lowers trust. The fingerprint is the guard against a person who verified meanwhile: what he saw
   * is newer than what the reader compared with.
   */
  async mark(q: Queryable, event: FactEvent, facts: readonly Pick<LearnedFact, 'id' | 'fingerprint'>[]): Promise<void> {
    if (facts.length === 0) return;
    const { from, to } = transition(event);
    await q.execute(
      `UPDATE learned_facts f SET trust = $1
         FROM unnest($2::uuid[], $3::text[]) AS seen(id, fingerprint)
        WHERE f.id = seen.id AND f.schema_fingerprint = seen.fingerprint AND f.trust = ANY ($4::text[])`,
      [to, facts.map(({ id }) => id), facts.map((fact) => fact.fingerprint), from],
    );
  }

  /** Whether the workspace holds the pipeline, and the version when one is named. */
  async holdsSource(q: Queryable, workspaceId: string, pipelineId: string, version: number | null): Promise<boolean> {
    const rows = await q.query(
      `SELECT 1 FROM pipelines p WHERE p.id = $2::uuid AND p.workspace_id = $1::uuid
          AND ($3::int IS NULL OR EXISTS (
            SELECT 1 FROM pipeline_versions v WHERE v.pipeline_id = p.id AND v.version = $3::int))`,
      [workspaceId, pipelineId, version],
    );
    return rows.length > 0;
  }
}

function filtered(workspaceId: string, filter: FactFilter): { sql: string; params: unknown[] } {
  const { datasource, table, scope, includeRetired, since } = filter;
  return {
    sql: `${VISIBLE_FACTS} AND ($2::text IS NULL OR f.datasource_name = $2)
      AND ($3::text IS NULL OR EXISTS (
        SELECT 1 FROM jsonb_array_elements(f.refs_json) r
         WHERE r->>'table' = $3 OR concat_ws('.', r->>'schema', r->>'table') = $3))
      AND ($4::text IS NULL OR f.scope = $4) AND ($5 OR f.trust <> 'retired')
      AND ($6::timestamptz IS NULL OR f.recorded_at >= $6::timestamptz)`,
    params: [workspaceId, datasource ?? null, table ?? null, scope ?? null, includeRetired, since ?? null],
  };
}
