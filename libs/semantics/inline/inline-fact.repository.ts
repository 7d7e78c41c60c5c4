import { Injectable } from '@nestjs/common';

import { writeJson } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

import { FACT_COLUMNS, factOf, FROM_FACTS, NEWEST_FIRST, refsOf, VISIBLE_FACTS, type FactRow } from '../fact-row.js';
import type { FactPlace, LearnedFact } from '../learned-fact.js';

type PlaceRow = Pick<FactRow, 'id' | 'kind' | 'refs_json' | 'trust' | 'schema_fingerprint' | 'from_here'>;

/** Most facts of one datasource that a listing of its tables or columns considers. */
const INLINE_CAP = 20_000;

/** Where there are more facts than are shown, what other workspaces recorded never crowds out one's own. */
const OWN_FIRST = `(f.recorded_in = $1::uuid) DESC, f.recorded_at DESC, f.id DESC`;

/** Reads the live facts that stand beside the objects of a catalog. */
@Injectable()
export class InlineFactRepository {
  /**
   * Where the live facts of one datasource stand, or those of one of its tables, newest first. Without their conflicts:
   * whoever has all facts of a datasource, or of a table, sees those himself.
   */
  async places(q: Queryable, workspaceId: string, datasource: string, table?: string): Promise<FactPlace[]> {
    const rows = await q.query<PlaceRow>(
      `SELECT f.* FROM (
         SELECT f.id, f.kind, f.refs_json, f.trust, f.schema_fingerprint, f.recorded_at,
                f.recorded_in = $1::uuid AS from_here FROM learned_facts f
          WHERE f.datasource_name = $2 AND f.trust <> 'retired' AND ($3::jsonb IS NULL OR f.refs_json @> $3::jsonb)
            AND ${VISIBLE_FACTS} ORDER BY ${OWN_FIRST} LIMIT ${INLINE_CAP}) f
        ${NEWEST_FIRST.orderBy({})}`,
      [workspaceId, datasource, table === undefined ? null : writeJson([{ table }])],
    );
    return rows.map(({ id, kind, refs_json, trust, schema_fingerprint, from_here }) => ({
      id,
      datasource,
      kind,
      refs: refsOf(refs_json),
      refsKey: refs_json,
      trust,
      fingerprint: schema_fingerprint,
      isFromHere: from_here,
      isConflicting: false,
    }));
  }

  /** Several by id, without their conflicts. */
  async texts(q: Queryable, workspaceId: string, ids: readonly string[]): Promise<Map<string, LearnedFact>> {
    const rows = await q.query<FactRow>(
      `SELECT ${FACT_COLUMNS}, FALSE AS conflicting ${FROM_FACTS} WHERE f.id = ANY ($2::uuid[]) AND ${VISIBLE_FACTS}`,
      [workspaceId, ids],
    );
    return new Map(rows.map((row) => [row.id, factOf(row)]));
  }

  /**
   * What a list of datasources shows beside each: windows, sampling rates and the team's own rules, newest first, of each
   * datasource and scope at most `most`. Conflicts are told of all that there are; two in conflict are of one kind.
   */
  async ofDatasources(
    q: Queryable,
    workspaceId: string,
    names: readonly string[],
    most: number,
  ): Promise<LearnedFact[]> {
    const rows = await q.query<FactRow>(
      `WITH live AS (
         SELECT f.id, jsonb_array_length(f.refs_json) > 0
                  AND count(*) OVER (PARTITION BY f.datasource_name, f.kind, f.refs_json) > 1 AS conflicting,
                row_number() OVER (PARTITION BY f.datasource_name, f.scope ORDER BY ${OWN_FIRST}) AS place
           FROM learned_facts f
          WHERE f.datasource_name = ANY ($2::text[]) AND f.trust <> 'retired' AND ${VISIBLE_FACTS}
            AND (f.kind IN ('window', 'sampling') OR f.scope = 'WORKSPACE'))
       SELECT ${FACT_COLUMNS}, x.conflicting ${FROM_FACTS} JOIN live x ON x.id = f.id AND x.place <= $3::int
        ${NEWEST_FIRST.orderBy({})}`,
      [workspaceId, names, most],
    );
    return rows.map(factOf);
  }
}
