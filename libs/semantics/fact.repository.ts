import { Injectable } from '@nestjs/common';

import {
  isJsonObject,
  readJson,
  writeJson,
  type KeysetListing,
  type KeysetPage,
  type WriteSurface,
} from '#libs/kernel';
import { keysetPages } from '#libs/lifecycle';
import type { Queryable, Transaction } from '#libs/persistence';

import type { FactKind, FactRef, FactScope, LearnedFact } from './learned-fact.js';
import { transition, type FactEvent, type FactTrust } from './rules/fact-trust.js';

interface FactRow {
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

/** $1 = the workspace that reads: it sees what is granted to it, of team rules only its own (contract 06 §11). */
const VISIBLE = `(f.scope = 'DATASOURCE' OR f.workspace_id = $1::uuid) AND EXISTS (
    SELECT 1 FROM datasources d JOIN datasource_workspaces g ON g.datasource_name = d.name AND g.workspace_id = $1::uuid
     WHERE d.name = f.datasource_name AND NOT d.is_deleted)`;

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

const COLUMNS = `f.id, f.scope, f.datasource_name, f.kind, f.fact, f.refs_json, f.evidence_sql, f.evidence_summary, f.trust,
  f.schema_fingerprint, f.recorded_by, f.recorded_via, f.recorded_at, f.recorded_in = $1::uuid AS from_here,
  p.id AS pipeline_id, p.name AS pipeline_name, f.source_version, f.verified_by, f.verified_at, f.supersedes,
  f.retired_at, f.retired_reason`;

const FROM = `FROM learned_facts f LEFT JOIN pipelines p ON p.id = f.source_pipeline_id AND p.workspace_id = $1::uuid`;

const NEWEST_FIRST = 'f.recorded_at DESC, f.id DESC';

/** Most facts of one datasource that a listing of its tables or columns considers. */
const INLINE_CAP = 20_000;

/** `learned_facts`: rows are added and marked, never edited, never deleted (seed §4.18). */
@Injectable()
export class FactRepository {
  async find(q: Queryable, workspaceId: string, id: string): Promise<LearnedFact | undefined> {
    const [row] = await q.query<FactRow>(
      `SELECT ${COLUMNS}, ${CONFLICTING} AS conflicting ${FROM} WHERE f.id = $2::uuid AND ${VISIBLE}`,
      [workspaceId, id],
    );
    return row && factOf(row);
  }

  /** Several by id; what is unknown or not visible is absent. */
  async among(q: Queryable, workspaceId: string, ids: readonly string[]): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `SELECT ${COLUMNS}, ${CONFLICTING} AS conflicting ${FROM} WHERE f.id = ANY ($2::uuid[]) AND ${VISIBLE}`,
      [workspaceId, ids],
    );
    return rows.map(factOf);
  }

  /** Newest first. */
  async list(q: Queryable, workspaceId: string, filter: FactFilter, limit: number): Promise<LearnedFact[]> {
    const { sql, params } = filtered(workspaceId, filter);
    params.push(limit);
    const rows = await q.query<FactRow>(
      `SELECT ${COLUMNS}, ${IS_CONFLICTING} ${FROM} ${CONFLICTS}
        WHERE ${sql} ORDER BY ${NEWEST_FIRST} LIMIT $${params.length}::int`,
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
    page: KeysetPage & { beyond?: { at: string; id: string } | undefined },
  ): Promise<Map<string, KeysetListing<LearnedFact>>> {
    const backwards = page.last !== undefined || page.before !== undefined;
    const { sql, params } = filtered(workspaceId, filter);
    params.push(datasources);
    let where = `${sql} AND ($${params.length}::text[] IS NULL OR f.datasource_name = ANY ($${params.length}::text[]))`;
    if (page.beyond) {
      params.push(page.beyond.at, page.beyond.id);
      const place = `($${params.length - 1}::timestamptz, $${params.length}::uuid)`;
      where += ` AND (f.recorded_at, f.id) ${backwards ? '>' : '<'} ${place}`;
    }
    params.push(((backwards ? page.last : page.first) ?? 50) + 1);
    const order = backwards ? 'f.recorded_at, f.id' : NEWEST_FIRST;
    const parent = datasources === null ? `''::text` : 'f.datasource_name';
    const rows = await q.query<FactRow & { parent: string }>(
      `SELECT x.* FROM (
         SELECT ${COLUMNS}, ${IS_CONFLICTING}, ${parent} AS parent,
                row_number() OVER (PARTITION BY ${parent} ORDER BY ${order}) AS place
         ${FROM} ${CONFLICTS} WHERE ${where}) x
        WHERE x.place <= $${params.length}::int ORDER BY x.parent, x.place`,
      params,
    );
    const normal = backwards ? { ...page, last: page.last ?? 50 } : page;
    const found = keysetPages(rows, (row) => row.parent, normal);
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

  /**
   * Live facts of one datasource for its listings, newest first; of one table when it is named. Without their conflicts:
   * whoever has all facts of a table sees those himself.
   */
  async inline(q: Queryable, workspaceId: string, datasource: string, table?: string): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `SELECT ${COLUMNS}, FALSE AS conflicting ${FROM}
        WHERE f.datasource_name = $2 AND f.trust <> 'retired' AND ${VISIBLE}
          AND ($3::jsonb IS NULL OR f.refs_json @> $3::jsonb)
        ORDER BY ${NEWEST_FIRST} LIMIT ${INLINE_CAP}`,
      [workspaceId, datasource, table === undefined ? null : writeJson([{ table }])],
    );
    return rows.map(factOf);
  }

  /** What a list of datasources shows beside each: windows, sampling rates and the team's own rules; conflicts as above. */
  async ofDatasources(q: Queryable, workspaceId: string, names: readonly string[]): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `SELECT ${COLUMNS}, FALSE AS conflicting ${FROM}
        WHERE f.datasource_name = ANY ($2::text[]) AND f.trust <> 'retired' AND ${VISIBLE}
          AND (f.kind IN ('window', 'sampling') OR f.scope = 'WORKSPACE')
        ORDER BY ${NEWEST_FIRST} LIMIT ${INLINE_CAP}`,
      [workspaceId, names],
    );
    return rows.map(factOf);
  }

  /** Held until the transaction ends, so that two records of the same fact are judged one after the other. */
  async lockKind(tx: Transaction, datasource: string, kind: FactKind): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', [
      `learned_facts ${datasource} ${kind}`,
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

  async insert(tx: Transaction, fact: NewFact): Promise<void> {
    await tx.execute(
      `INSERT INTO learned_facts (id, scope, workspace_id, datasource_name, kind, fact, refs_json, evidence_sql,
         evidence_summary, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in, source_pipeline_id,
         source_version, supersedes)
       VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
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
      ],
    );
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
    sql: `${VISIBLE} AND ($2::text IS NULL OR f.datasource_name = $2)
      AND ($3::text IS NULL OR EXISTS (
        SELECT 1 FROM jsonb_array_elements(f.refs_json) r
         WHERE r->>'table' = $3 OR concat_ws('.', r->>'schema', r->>'table') = $3))
      AND ($4::text IS NULL OR f.scope = $4) AND ($5 OR f.trust <> 'retired')
      AND ($6::timestamptz IS NULL OR f.recorded_at >= $6::timestamptz)`,
    params: [workspaceId, datasource ?? null, table ?? null, scope ?? null, includeRetired, since ?? null],
  };
}

function factOf(row: FactRow): LearnedFact {
  return {
    id: row.id,
    scope: row.scope,
    datasource: row.datasource_name,
    kind: row.kind,
    fact: row.fact,
    refs: refsOf(row.refs_json),
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

function refsOf(json: string): FactRef[] {
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
