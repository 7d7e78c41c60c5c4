import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { isUuid } from '#libs/kernel';
import type { VersionStatus } from '#libs/lifecycle';
import { Database, type Queryable } from '#libs/persistence';
import type { PipelineDocument, PipelineRef } from './document/pipeline-document.js';
import { readStoredDocument } from './document/stored-document.js';

/** One version of a pipeline, ready to be launched. */
export interface RunnableVersion {
  pipelineId: string;
  workspaceId: string;
  name: string;
  version: number;
  status: VersionStatus;
  bodyHash: string;
  document: PipelineDocument;
  /** The stored text of the document. */
  body: string;
  /** Microseconds, `YYYY-MM-DDTHH:MM:SS.ffffffZ`; null while it was never released. */
  releasedAt: string | null;
}

interface RunnableRow {
  pipelineId: string;
  workspaceId: string;
  name: string;
  version: number;
  status: VersionStatus;
  bodyHash: string;
  body: string;
  releasedAt: string | null;
}

const COLUMNS_FROM = `
  SELECT p.id AS "pipelineId", p.workspace_id AS "workspaceId", p.name, v.version, v.status,
         v.body_hash AS "bodyHash", v.body_json AS body, v.released_at AS "releasedAt"
    FROM pipelines p JOIN pipeline_versions v ON v.pipeline_id = p.id
   WHERE p.workspace_id = $1 AND v.status <> 'DISCARDED'`;
const SELECT = `${COLUMNS_FROM} AND p.id = $2`;
const SELECT_BY_NAME = `${COLUMNS_FROM} AND p.name = $2`;

/** Characters of bodies whose documents are kept. */
const MAX_KEPT_CHARS = 8 * 1024 * 1024;

/** What executions and endpoints ask of a pipeline. Authorises nothing: its callers did. */
@Injectable()
export class PipelineCatalog {
  /** By version and hash of the body: what is read out of the same text is the same. */
  readonly #documents = new LRUCache<string, PipelineDocument>({ maxSize: MAX_KEPT_CHARS });

  constructor(private readonly database: Database) {}

  /**
   * The version to run: the given one exactly, else the working one (the draft, else the pointer's).
   * Undefined for an unknown pipeline or version, a discarded one, or another workspace's: all alike.
   */
  async forRun(
    workspaceId: string,
    pipelineId: string,
    version?: number,
    q: Queryable = this.database,
  ): Promise<RunnableVersion | undefined> {
    if (!isUuid(pipelineId)) return undefined;
    const rows =
      version === undefined
        ? await q.query<RunnableRow>(
            `${SELECT} AND (v.status = 'DRAFT' OR v.version = p.current_version)
              ORDER BY (v.status = 'DRAFT') DESC LIMIT 1`,
            [workspaceId, pipelineId],
          )
        : await q.query<RunnableRow>(`${SELECT} AND v.version = $3::bigint`, [workspaceId, pipelineId, version]);
    return this.#runnable(rows[0]);
  }

  /** The version the pointer names, which endpoints serve; undefined while it names none. */
  async released(
    workspaceId: string,
    pipelineId: string,
    q: Queryable = this.database,
  ): Promise<RunnableVersion | undefined> {
    if (!isUuid(pipelineId)) return undefined;
    const rows = await q.query<RunnableRow>(`${SELECT} AND v.version = p.current_version`, [workspaceId, pipelineId]);
    return this.#runnable(rows[0]);
  }

  /** The version a PIPELINE node pins, by name. Undefined when the workspace has none, or it was discarded. */
  async pinned(
    workspaceId: string,
    { name, version }: PipelineRef,
    q: Queryable = this.database,
  ): Promise<RunnableVersion | undefined> {
    const rows = await q.query<RunnableRow>(`${SELECT_BY_NAME} AND v.version = $3::bigint`, [
      workspaceId,
      name,
      version,
    ]);
    return this.#runnable(rows[0]);
  }

  /** The id of a pipeline by its name, inside the workspace. */
  async idOf(workspaceId: string, name: string, q: Queryable = this.database): Promise<string | undefined> {
    const rows = await q.query<{ id: string }>('SELECT id FROM pipelines WHERE workspace_id = $1 AND name = $2', [
      workspaceId,
      name,
    ]);
    return rows[0]?.id;
  }

  #runnable(row: RunnableRow | undefined): RunnableVersion | undefined {
    if (!row) return undefined;
    const { body } = row;
    const kept = `${row.pipelineId} ${row.version} ${row.bodyHash}`;
    const document = this.#documents.get(kept) ?? readStoredDocument(body);
    if (document) this.#documents.set(kept, document, { size: body.length });
    return document && { ...row, document };
  }
}
