import { Injectable } from '@nestjs/common';
import { keysetItems, KeysetOrder, newId, type KeysetListing, type KeysetPage } from '#libs/kernel';
import { Database, type Queryable, type Transaction } from '#libs/persistence';
import { conflicts, type PathPattern } from './path-pattern.js';
import {
  allEndpoints,
  ENDPOINT_COLUMNS,
  ENDPOINT_TABLES,
  toEndpoint,
  type PublishedEndpoint,
  type PublishedEndpointRow,
} from './published-endpoint.js';

/** Key of the advisory lock under which two publishes are judged one after the other (03 §7). */
const PUBLISH_LOCK = 0x656e6470;

const BY_PATH = new KeysetOrder({ sql: 'e.path_pattern', kind: 'text' });

export interface NewEndpoint {
  workspaceId: string;
  pattern: PathPattern;
  pipelineId: string;
  timeoutSeconds: number;
  description: string;
  isEnabled: boolean;
  createdBy: string;
}

export interface EndpointChange {
  pipelineId?: string;
  timeoutSeconds?: number;
  description?: string;
  isEnabled?: boolean;
}

@Injectable()
export class PublishedEndpointRepository {
  constructor(private readonly database: Database) {}

  /** By path pattern, which `after` and `before` are. */
  async page(workspaceId: string, page: KeysetPage): Promise<KeysetListing<PublishedEndpoint>> {
    const values: unknown[] = [workspaceId];
    const beyond = BY_PATH.beyond(page, values);
    const rows = await this.database.query<PublishedEndpointRow>(
      `SELECT ${ENDPOINT_COLUMNS} FROM ${ENDPOINT_TABLES}
        WHERE e.workspace_id = $1 AND ${beyond} ${BY_PATH.tail(page, values)}`,
      values,
    );
    const { items, ...more } = keysetItems(rows, page);
    return { items: items.map(toEndpoint), ...more };
  }

  async count(workspaceId: string): Promise<number> {
    const [row] = await this.database.query<{ total: number }>(
      'SELECT count(*)::int AS total FROM published_endpoints WHERE workspace_id = $1',
      [workspaceId],
    );
    return row?.total ?? 0;
  }

  async findByPath(q: Queryable, workspaceId: string, path: string): Promise<PublishedEndpoint | undefined> {
    const [row] = await q.query<PublishedEndpointRow>(
      `SELECT ${ENDPOINT_COLUMNS} FROM ${ENDPOINT_TABLES} WHERE e.workspace_id = $1 AND e.path_pattern = $2`,
      [workspaceId, path],
    );
    return row && toEndpoint(row);
  }

  /** Every endpoint of a workspace, by path. */
  async ofWorkspace(workspaceId: string): Promise<PublishedEndpoint[]> {
    const rows = await this.database.query<PublishedEndpointRow>(
      `SELECT ${ENDPOINT_COLUMNS} FROM ${ENDPOINT_TABLES} WHERE e.workspace_id = $1 ORDER BY e.path_pattern`,
      [workspaceId],
    );
    return rows.map(toEndpoint);
  }

  /** Endpoints of several pipelines in one statement, for lists. */
  async ofPipelines(workspaceId: string, pipelineIds: readonly string[]): Promise<PublishedEndpoint[]> {
    const rows = await this.database.query<PublishedEndpointRow>(
      `SELECT ${ENDPOINT_COLUMNS} FROM ${ENDPOINT_TABLES}
        WHERE e.workspace_id = $1 AND e.pipeline_id = ANY($2::uuid[])
        ORDER BY e.path_pattern`,
      [workspaceId, pipelineIds],
    );
    return rows.map(toEndpoint);
  }

  /** The published pattern that some URL shares with this one. Holds the publish lock until the transaction ends. */
  async findConflict(tx: Transaction, pattern: PathPattern): Promise<PublishedEndpoint | undefined> {
    await tx.execute('SELECT pg_advisory_xact_lock($1)', [PUBLISH_LOCK]);
    return (await allEndpoints(tx)).find((endpoint) => conflicts(endpoint.pattern, pattern));
  }

  async insert(tx: Transaction, endpoint: NewEndpoint): Promise<string> {
    const id = newId();
    await tx.execute(
      `INSERT INTO published_endpoints
         (id, workspace_id, path_pattern, pipeline_id, timeout_seconds, description, is_enabled, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        id,
        endpoint.workspaceId,
        endpoint.pattern.text,
        endpoint.pipelineId,
        endpoint.timeoutSeconds,
        endpoint.description,
        endpoint.isEnabled,
        endpoint.createdBy,
      ],
    );
    return id;
  }

  /** False when the row is gone. */
  async update(tx: Transaction, workspaceId: string, path: string, change: EndpointChange): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE published_endpoints
          SET pipeline_id = coalesce($3, pipeline_id),
              timeout_seconds = coalesce($4, timeout_seconds),
              description = coalesce($5, description),
              is_enabled = coalesce($6, is_enabled),
              updated_at = NOW()
        WHERE workspace_id = $1 AND path_pattern = $2`,
      [
        workspaceId,
        path,
        change.pipelineId ?? null,
        change.timeoutSeconds ?? null,
        change.description ?? null,
        change.isEnabled ?? null,
      ],
    );
    return changed === 1;
  }

  /** The id of the row that went, if it was there. */
  async remove(tx: Transaction, workspaceId: string, path: string): Promise<string | undefined> {
    const [row] = await tx.query<{ id: string }>(
      'DELETE FROM published_endpoints WHERE workspace_id = $1 AND path_pattern = $2 RETURNING id',
      [workspaceId, path],
    );
    return row?.id;
  }
}
