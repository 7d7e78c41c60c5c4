import { Injectable } from '@nestjs/common';
import { isUuid, writeJson, type JsonObject, type KeysetPage, type WriteSurface } from '#libs/kernel';
import {
  effectStatement,
  lockVersionStatement,
  PIPELINE_TABLES,
  pointerStatement,
  statesStatement,
  versionCountsStatement,
  versionPagesStatement,
  type Effect,
  type EntityState,
  type VersionColumns,
  type VersionState,
  type VersionStatus,
} from '#libs/lifecycle';
import { Database, type Queryable, type Transaction } from '#libs/persistence';
import type { PipelineRef } from './document/pipeline-document.js';

/** The row of `pipelines`, as a lock holder sees it. */
export interface PipelineEntity {
  id: string;
  name: string;
  currentVersion: number | null;
}

/** Everything a read of one version shows. */
export interface PipelineVersionRow extends VersionColumns {
  pipelineId: string;
  name: string;
  displayName: string;
  description: string;
  owner: string;
  entityCreatedAt: string;
  entityUpdatedAt: string;
  /** JSON text of the stored document. */
  body: string;
  createdVia: WriteSurface;
  updatedVia: WriteSurface;
}

/** What the pointer of a pipeline names. */
export interface CurrentVersion {
  pipelineId: string;
  name: string;
  displayName: string;
  version: number;
  status: VersionStatus;
  bodyHash: string;
}

/** A node that could pin a newer release of its template. */
export interface TemplateUpgrade {
  node_id: string;
  template_id: string;
  pinned_version: number;
  latest_released: number;
}

/** Who writes, and on which surface: stamped on version rows, the person always, never a key. */
export interface Writer {
  userId: string;
  surface: WriteSurface;
}

/** What the index row repeats of a body. */
export interface IndexFields {
  name: string;
  displayName: string;
  description: string;
}

/** A list of versions leaves their bodies in the database. */
const versionSelect = (body: 'v.body_json' | 'NULL', which = 'e.id = $2'): string => `
  SELECT e.id AS "pipelineId", e.name, e.display_name AS "displayName", e.description, e.owner_id AS owner,
         e.current_version AS "currentVersion", e.created_at AS "entityCreatedAt", e.updated_at AS "entityUpdatedAt",
         EXISTS (SELECT FROM pipeline_versions s WHERE s.pipeline_id = e.id AND s.status <> 'DISCARDED') AS live,
         v.version, v.status, ${body} AS body, v.body_hash AS "bodyHash", v.created_at AS "createdAt",
         v.created_by AS "createdBy", v.created_via AS "createdVia", v.updated_at AS "updatedAt",
         v.updated_by AS "updatedBy", v.updated_via AS "updatedVia", v.released_at AS "releasedAt",
         v.released_by AS "releasedBy", v.discarded_at AS "discardedAt", v.discarded_by AS "discardedBy",
         d.version AS "draftVersion", d.body_hash AS "draftHash", d.updated_by AS "draftUpdatedBy",
         d.updated_at AS "draftUpdatedAt"
    FROM pipelines e
    JOIN pipeline_versions v ON v.pipeline_id = e.id
    LEFT JOIN pipeline_versions d ON d.pipeline_id = e.id AND d.status = 'DRAFT'
   WHERE e.workspace_id = $1 AND ${which}`;

/** The one hash expression: over the stored JSONB, computed where the row is written (contract 01 §1). */
const hashOf = (n: number): string => `encode(sha256(convert_to(($${n}::jsonb)::text, 'UTF8')), 'hex')`;

/** SQL of `pipelines` and `pipeline_versions`. Every write takes part in the caller's transaction. */
@Injectable()
export class PipelineRepository {
  constructor(private readonly database: Database) {}

  /** Version 1 as a draft, pointer NULL; the unique name is the guard. Returns the new id. */
  async create(
    tx: Transaction,
    workspaceId: string,
    fields: IndexFields,
    body: JsonObject,
    writer: Writer,
  ): Promise<string> {
    const [row] = await tx.query<{ id: string }>(
      `WITH entity AS (
         INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id)
         VALUES ($2, $3, $4, $5, $6) RETURNING id)
       INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash,
                                      updated_by, updated_at, created_via, updated_via, created_by)
       SELECT id, 1, $1::jsonb, 'DRAFT', ${hashOf(1)}, $6, NOW(), $7, $7, $6 FROM entity
       RETURNING pipeline_id AS id`,
      [
        writeJson(body),
        workspaceId,
        fields.name,
        fields.displayName,
        fields.description,
        writer.userId,
        writer.surface,
      ],
    );
    return row!.id;
  }

  async find(workspaceId: string, id: string, q: Queryable = this.database): Promise<PipelineEntity | undefined> {
    return this.#entity(q, workspaceId, id, '');
  }

  /** Takes the index row, which serialises every write and verb on the pipeline (contract 05 §10.1). */
  async lock(tx: Transaction, workspaceId: string, id: string): Promise<PipelineEntity | undefined> {
    return this.#entity(tx, workspaceId, id, 'FOR NO KEY UPDATE');
  }

  async #entity(q: Queryable, workspaceId: string, id: string, lock: string): Promise<PipelineEntity | undefined> {
    if (!isUuid(id)) return undefined;
    const rows = await q.query<PipelineEntity>(
      `SELECT e.id, e.name, e.current_version AS "currentVersion"
         FROM pipelines e WHERE e.workspace_id = $1 AND e.id = $2 ${lock}`,
      [workspaceId, id],
    );
    return rows[0];
  }

  async state(q: Queryable, entity: Pick<PipelineEntity, 'id' | 'currentVersion'>): Promise<EntityState> {
    const { sql, values } = statesStatement(PIPELINE_TABLES, entity.id);
    return { versions: await q.query<VersionState>(sql, values), currentVersion: entity.currentVersion };
  }

  async lockVersion(tx: Transaction, pipelineId: string, version: number): Promise<void> {
    const { sql, values } = lockVersionStatement(PIPELINE_TABLES, pipelineId, version);
    await tx.query(sql, values);
  }

  /** The hash a body would have, for the comparison with the version it is based on. */
  async hash(q: Queryable, body: JsonObject): Promise<string> {
    const [row] = await q.query<{ hash: string }>(`SELECT ${hashOf(1)} AS hash`, [writeJson(body)]);
    return row!.hash;
  }

  async insertDraft(
    tx: Transaction,
    pipelineId: string,
    version: number,
    body: JsonObject,
    writer: Writer,
  ): Promise<void> {
    await tx.execute(
      `INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash,
                                      updated_by, updated_at, created_via, updated_via, created_by)
       VALUES ($2, $3, $1::jsonb, 'DRAFT', ${hashOf(1)}, $4, NOW(), $5, $5, $4)`,
      [writeJson(body), pipelineId, version, writer.userId, writer.surface],
    );
  }

  /** The index row of an imported pipeline, under the file's id if it has one; undefined when name or id are taken. */
  async createEntity(
    tx: Transaction,
    workspaceId: string,
    id: string | undefined,
    fields: IndexFields,
    owner: string,
  ): Promise<string | undefined> {
    const [row] = await tx.query<{ id: string }>(
      `INSERT INTO pipelines (id, workspace_id, name, display_name, description, owner_id)
       VALUES (COALESCE($1::uuid, gen_random_uuid()), $2, $3, $4, $5, $6)
       ON CONFLICT DO NOTHING RETURNING id`,
      [id ?? null, workspaceId, fields.name, fields.displayName, fields.description, owner],
    );
    return row?.id;
  }

  /** A release that was made elsewhere; `releasedAt` is when, now if it is not known. */
  async insertReleased(
    tx: Transaction,
    pipelineId: string,
    version: number,
    body: JsonObject,
    importedBy: string,
    releasedAt: string | undefined,
  ): Promise<void> {
    await tx.execute(
      `INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash,
                                      created_by, released_by, released_at)
       VALUES ($2, $3, $1::jsonb, 'RELEASED', ${hashOf(1)}, $4, $4, COALESCE($5::timestamptz, NOW()))`,
      [writeJson(body), pipelineId, version, importedBy, releasedAt ?? null],
    );
  }

  /** False when the draft no longer has the base hash. */
  async overwriteDraft(
    tx: Transaction,
    pipelineId: string,
    effect: { version: number; baseHash: string },
    body: JsonObject,
    writer: Writer,
  ): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE pipeline_versions
          SET body_json = $1::jsonb, body_hash = ${hashOf(1)}, updated_by = $4, updated_at = NOW(), updated_via = $5
        WHERE pipeline_id = $2 AND version = $3 AND status = 'DRAFT' AND body_hash = $6`,
      [writeJson(body), pipelineId, effect.version, writer.userId, writer.surface, effect.baseHash],
    );
    return changed === 1;
  }

  /** The index row follows the body when version 1 is still a draft, and at each release. */
  async describe(tx: Transaction, pipelineId: string, displayName: string, description: string): Promise<void> {
    await tx.execute(
      `UPDATE pipelines SET display_name = $2, description = $3, updated_at = NOW()
        WHERE id = $1 AND (display_name, description) IS DISTINCT FROM ($2, $3)`,
      [pipelineId, displayName, description],
    );
  }

  /** Carries out an effect without a body; false when its guard found the row changed. */
  async apply(tx: Transaction, pipelineId: string, effect: Effect, actorId: string): Promise<boolean> {
    const statement = effectStatement(PIPELINE_TABLES, pipelineId, effect, actorId);
    return statement === undefined || (await tx.execute(statement.sql, statement.values)) > 0;
  }

  async movePointer(tx: Transaction, pipelineId: string, version: number | null): Promise<void> {
    const { sql, values } = pointerStatement(PIPELINE_TABLES, pipelineId, version);
    await tx.execute(sql, values);
  }

  /** Check runs go only with their pipeline (seed §4.20). */
  async deleteCheckRuns(tx: Transaction, pipelineId: string): Promise<void> {
    await tx.execute('DELETE FROM pipeline_check_runs WHERE pipeline_id = $1', [pipelineId]);
  }

  /** One version, or the one that a read without a number shows: the working one, else the highest. */
  async version(
    workspaceId: string,
    id: string,
    version: number | undefined,
    q: Queryable = this.database,
  ): Promise<PipelineVersionRow | undefined> {
    if (!isUuid(id)) return undefined;
    const rows = await q.query<PipelineVersionRow>(
      `${versionSelect('v.body_json')} AND ($3::bigint IS NULL OR v.version = $3)
        ORDER BY (v.status = 'DRAFT') DESC, (v.version = e.current_version) DESC NULLS LAST, v.version DESC LIMIT 1`,
      [workspaceId, id, version ?? null],
    );
    return rows[0];
  }

  /** The nodes of a version whose template has a higher release than the one they pin, in their order. */
  async upgrades({
    pipelineId,
    version,
  }: Pick<PipelineVersionRow, 'pipelineId' | 'version'>): Promise<TemplateUpgrade[]> {
    return this.database.query<TemplateUpgrade>(
      `SELECT n.node->>'id' AS node_id, t.name AS template_id, n.pinned AS pinned_version,
              r.latest AS latest_released
         FROM pipelines p
         JOIN pipeline_versions v ON v.pipeline_id = p.id
        CROSS JOIN LATERAL (
          SELECT x.node, x.place, (x.node->'template'->>'version')::int AS pinned
            FROM jsonb_array_elements(v.body_json->'nodes') WITH ORDINALITY AS x(node, place)) AS n
         JOIN templates t ON t.workspace_id = p.workspace_id AND t.name = n.node->'template'->>'id'
        CROSS JOIN LATERAL (
          SELECT max(tv.version) AS latest
            FROM template_versions tv WHERE tv.template_id = t.id AND tv.status = 'RELEASED') AS r
        WHERE p.id = $1 AND v.version = $2 AND r.latest > n.pinned
        ORDER BY n.place`,
      [pipelineId, version],
    );
  }

  /** Versions of several pipelines by number, in one statement; absent ones are absent. */
  async versionsAmong(
    workspaceId: string,
    refs: readonly { pipelineId: string; version: number }[],
    { withBody }: { withBody: boolean },
  ): Promise<PipelineVersionRow[]> {
    const known = refs.filter(({ pipelineId }) => isUuid(pipelineId));
    if (known.length === 0) return [];
    return this.database.query<PipelineVersionRow>(
      versionSelect(
        withBody ? 'v.body_json' : 'NULL',
        '(e.id, v.version) IN (SELECT * FROM unnest($2::uuid[], $3::int[]))',
      ),
      [workspaceId, known.map(({ pipelineId }) => pipelineId), known.map(({ version }) => version)],
    );
  }

  /** Versions by the name of their pipeline and their number, as pins name them; absent ones are absent. */
  async versionsNamed(workspaceId: string, refs: readonly PipelineRef[]): Promise<PipelineVersionRow[]> {
    if (refs.length === 0) return [];
    return this.database.query<PipelineVersionRow>(
      versionSelect('v.body_json', '(e.name, v.version) IN (SELECT * FROM unnest($2::text[], $3::int[]))'),
      [workspaceId, refs.map(({ name }) => name), refs.map(({ version }) => version)],
    );
  }

  /** The version that each pipeline's pointer names, by name; pipelines without one are absent. */
  async currentVersions(workspaceId: string): Promise<CurrentVersion[]> {
    return this.database.query<CurrentVersion>(
      `SELECT e.id AS "pipelineId", e.name, e.display_name AS "displayName", v.version, v.status,
              v.body_hash AS "bodyHash"
         FROM pipelines e JOIN pipeline_versions v ON v.pipeline_id = e.id AND v.version = e.current_version
        WHERE e.workspace_id = $1 ORDER BY e.name COLLATE "C"`,
      [workspaceId],
    );
  }

  /** A page of versions of each of several pipelines, highest first, without bodies, in one statement. */
  async versionPages(workspaceId: string, ids: readonly string[], page: KeysetPage): Promise<PipelineVersionRow[]> {
    const selection = {
      sql: versionSelect('NULL', 'e.id = ANY($2::uuid[])'),
      values: [workspaceId, ids.filter(isUuid)],
    };
    const { sql, values } = versionPagesStatement(selection, 'pipelineId', page);
    return this.database.query<PipelineVersionRow>(sql, values);
  }

  /** How many versions each of several pipelines has. */
  async versionCounts(workspaceId: string, ids: readonly string[]): Promise<Map<string, number>> {
    const { sql, values } = versionCountsStatement(PIPELINE_TABLES, workspaceId, 'id', ids.filter(isUuid));
    const rows = await this.database.query<{ entity: string; count: number }>(sql, values);
    return new Map(rows.map(({ entity, count }) => [entity, count]));
  }

  async versions(workspaceId: string, id: string): Promise<PipelineVersionRow[]> {
    if (!isUuid(id)) return [];
    return this.database.query<PipelineVersionRow>(`${versionSelect('NULL')} ORDER BY v.version DESC`, [
      workspaceId,
      id,
    ]);
  }
}
