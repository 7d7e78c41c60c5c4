import type { Queryable } from '#libs/persistence';
import { parsePathPattern, type PathPattern } from './path-pattern.js';

/** A row of `published_endpoints` with the name of what it serves. */
export interface PublishedEndpoint {
  id: string;
  workspaceId: string;
  workspaceActive: boolean;
  pattern: PathPattern;
  pipelineId: string;
  pipelineName: string;
  timeoutSeconds: number;
  description: string;
  isEnabled: boolean;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
}

export interface PublishedEndpointRow {
  id: string;
  workspace_id: string;
  workspace_active: boolean;
  path_pattern: string;
  pipeline_id: string;
  pipeline_name: string;
  timeout_seconds: number;
  description: string;
  is_enabled: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
}

export const ENDPOINT_COLUMNS = `
  e.id, e.workspace_id, (NOT w.is_deleted AND w.deactivated_at IS NULL) AS workspace_active, e.path_pattern,
  e.pipeline_id, p.name AS pipeline_name, e.timeout_seconds, e.description, e.is_enabled, e.created_by, e.created_at,
  e.updated_at`;
export const ENDPOINT_TABLES = `
  published_endpoints e JOIN pipelines p ON p.id = e.pipeline_id JOIN workspaces w ON w.id = e.workspace_id`;

export function toEndpoint(row: PublishedEndpointRow): PublishedEndpoint {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    workspaceActive: row.workspace_active,
    pattern: parsePathPattern(row.path_pattern),
    pipelineId: row.pipeline_id,
    pipelineName: row.pipeline_name,
    timeoutSeconds: row.timeout_seconds,
    description: row.description,
    isEnabled: row.is_enabled,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Every row of the deployment: the registry matches in memory, so no plan depends on the shape of a pattern. */
export async function allEndpoints(q: Queryable): Promise<PublishedEndpoint[]> {
  const rows = await q.query<PublishedEndpointRow>(`SELECT ${ENDPOINT_COLUMNS} FROM ${ENDPOINT_TABLES}`);
  return rows.map(toEndpoint);
}
