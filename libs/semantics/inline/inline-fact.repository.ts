import { Injectable } from '@nestjs/common';

import { writeJson } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

import { FACT_COLUMNS, factOf, FROM_FACTS, NEWEST_FIRST, refsOf, VISIBLE_FACTS, type FactRow } from '../fact-row.js';
import type { FactPlace, LearnedFact } from '../learned-fact.js';

type PlaceRow = Pick<FactRow, 'id' | 'kind' | 'refs_json' | 'trust' | 'schema_fingerprint'>;

/** Most facts of one datasource that a listing of its tables or columns considers. */
const INLINE_CAP = 20_000;

/** Reads the live facts that stand beside the objects of a catalog. */
@Injectable()
export class InlineFactRepository {
  /**
   * Where the live facts of one datasource stand, newest first. Without their conflicts: whoever has all facts of a
   * datasource, or of a table, sees those himself.
   */
  async places(q: Queryable, workspaceId: string, datasource: string): Promise<FactPlace[]> {
    const rows = await q.query<PlaceRow>(
      `SELECT f.id, f.kind, f.refs_json, f.trust, f.schema_fingerprint FROM learned_facts f
        WHERE f.datasource_name = $2 AND f.trust <> 'retired' AND ${VISIBLE_FACTS}
        ORDER BY ${NEWEST_FIRST} LIMIT ${INLINE_CAP}`,
      [workspaceId, datasource],
    );
    return rows.map(({ id, kind, refs_json, trust, schema_fingerprint }) => ({
      id,
      datasource,
      kind,
      refs: refsOf(refs_json),
      refsKey: refs_json,
      trust,
      fingerprint: schema_fingerprint,
      isConflicting: false,
    }));
  }

  /** Live facts that name one table, or columns of it, newest first; conflicts as above. */
  async ofTable(q: Queryable, workspaceId: string, datasource: string, table: string): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, FALSE AS conflicting ${FROM_FACTS}
        WHERE f.datasource_name = $2 AND f.trust <> 'retired' AND ${VISIBLE_FACTS} AND f.refs_json @> $3::jsonb
        ORDER BY ${NEWEST_FIRST} LIMIT ${INLINE_CAP}`,
      [workspaceId, datasource, writeJson([{ table }])],
    );
    return rows.map(factOf);
  }

  /** Several by id, without their conflicts. */
  async texts(q: Queryable, workspaceId: string, ids: readonly string[]): Promise<Map<string, LearnedFact>> {
    const rows = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, FALSE AS conflicting ${FROM_FACTS} WHERE f.id = ANY ($2::uuid[]) AND ${VISIBLE_FACTS}`,
      [workspaceId, ids],
    );
    return new Map(rows.map((row) => [row.id, factOf(row)]));
  }

  /** What a list of datasources shows beside each: windows, sampling rates and the team's own rules; conflicts as above. */
  async ofDatasources(q: Queryable, workspaceId: string, names: readonly string[]): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, FALSE AS conflicting ${FROM_FACTS}
        WHERE f.datasource_name = ANY ($2::text[]) AND f.trust <> 'retired' AND ${VISIBLE_FACTS}
          AND (f.kind IN ('window', 'sampling') OR f.scope = 'WORKSPACE')
        ORDER BY ${NEWEST_FIRST} LIMIT ${INLINE_CAP}`,
      [workspaceId, names],
    );
    return rows.map(factOf);
  }
}
