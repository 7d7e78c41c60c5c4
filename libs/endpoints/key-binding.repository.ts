import { Injectable } from '@nestjs/common';
import { Database, type Queryable, type Transaction } from '#libs/persistence';

/** A row of `endpoint_key_bindings` with the key's name. */
export interface KeyBinding {
  pathPrefix: string;
  apiKeyId: string;
  keyName: string;
  workspaceId: string;
  createdBy: string;
  createdAt: string;
}

interface Row {
  path_prefix: string;
  api_key_id: string;
  key_name: string;
  workspace_id: string;
  created_by: string;
  created_at: string;
}

const SELECT = `
  SELECT b.path_prefix, b.api_key_id, k.name AS key_name, b.workspace_id, b.created_by, b.created_at
    FROM endpoint_key_bindings b JOIN api_keys k ON k.id = b.api_key_id`;

const LIVE_ENDPOINT_KEY = `k.kind = 'endpoint' AND NOT k.is_revoked AND (k.expires_at IS NULL OR k.expires_at > NOW())`;

@Injectable()
export class KeyBindingRepository {
  constructor(private readonly database: Database) {}

  /** All bindings of the deployment: the serving path keeps them in memory. A revoked key's row still decides. */
  async all(): Promise<KeyBinding[]> {
    return (await this.database.query<Row>(SELECT)).map(toBinding);
  }

  async list(workspaceId: string, q: Queryable = this.database): Promise<KeyBinding[]> {
    const rows = await q.query<Row>(
      `${SELECT} WHERE b.workspace_id = $1 ORDER BY b.path_prefix, k.name, b.api_key_id`,
      [workspaceId],
    );
    return rows.map(toBinding);
  }

  async find(q: Queryable, workspaceId: string, prefix: string, keyId: string): Promise<KeyBinding | undefined> {
    const [row] = await q.query<Row>(
      `${SELECT} WHERE b.workspace_id = $1 AND b.path_prefix = $2 AND b.api_key_id = $3`,
      [workspaceId, prefix, keyId],
    );
    return row && toBinding(row);
  }

  /** Whether the row is new; binding twice is no conflict. */
  async insert(
    tx: Transaction,
    workspaceId: string,
    prefix: string,
    keyId: string,
    createdBy: string,
  ): Promise<boolean> {
    const inserted = await tx.execute(
      `INSERT INTO endpoint_key_bindings (path_prefix, api_key_id, workspace_id, created_by)
       VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
      [prefix, keyId, workspaceId, createdBy],
    );
    return inserted === 1;
  }

  async remove(tx: Transaction, workspaceId: string, prefix: string, keyId: string): Promise<boolean> {
    const removed = await tx.execute(
      'DELETE FROM endpoint_key_bindings WHERE workspace_id = $1 AND path_prefix = $2 AND api_key_id = $3',
      [workspaceId, prefix, keyId],
    );
    return removed === 1;
  }

  /**
   * The key that an id or name means, an endpoint key before others of its name: among the keys of `ownerId`, or all. With
   * `boundAt` the one that is bound there, revoked or not: its row still decides, so it must be possible to take it away.
   */
  async findEndpointKey(
    q: Queryable,
    workspaceId: string,
    key: { id?: string; name?: string },
    ownerId: string | undefined,
    boundAt: string | undefined,
  ): Promise<{ id: string; kind: string } | undefined> {
    const [row] = await q.query<{ id: string; kind: string }>(
      `SELECT k.id, k.kind FROM api_keys k
         LEFT JOIN endpoint_key_bindings b
           ON b.api_key_id = k.id AND b.workspace_id = k.workspace_id AND b.path_prefix = $5
        WHERE k.workspace_id = $1 AND (NOT k.is_revoked OR $5::text IS NOT NULL)
          AND ($2::text IS NOT NULL OR $3::text IS NOT NULL)
          AND ($2::text IS NULL OR k.id = $2) AND ($3::text IS NULL OR k.name = $3)
          AND ($4::uuid IS NULL OR k.user_id = $4)
        ORDER BY (k.kind = 'endpoint') DESC, (b.api_key_id IS NOT NULL) DESC, k.created_at DESC LIMIT 1`,
      [workspaceId, key.id ?? null, key.name ?? null, ownerId ?? null, boundAt ?? null],
    );
    return row;
  }

  /** The newest live endpoint key of each name; names without one are absent. */
  async keysNamed(q: Queryable, workspaceId: string, names: readonly string[]): Promise<Map<string, string>> {
    if (names.length === 0) return new Map();
    const rows = await q.query<{ id: string; name: string }>(
      `SELECT DISTINCT ON (k.name) k.id, k.name FROM api_keys k
        WHERE k.workspace_id = $1 AND k.name = ANY($2::text[]) AND ${LIVE_ENDPOINT_KEY}
        ORDER BY k.name, k.created_at DESC, k.id`,
      [workspaceId, names],
    );
    return new Map(rows.map(({ id, name }) => [name, id]));
  }

  async liveKeyNames(workspaceId: string): Promise<string[]> {
    const rows = await this.database.query<{ name: string }>(
      `SELECT DISTINCT k.name COLLATE "C" AS name FROM api_keys k
        WHERE k.workspace_id = $1 AND ${LIVE_ENDPOINT_KEY} ORDER BY 1`,
      [workspaceId],
    );
    return rows.map(({ name }) => name);
  }

  /** Whether the prefix is a node at or above a path that the workspace publishes. */
  async publishesBelow(q: Queryable, workspaceId: string, prefix: string): Promise<boolean> {
    const [row] = await q.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM published_endpoints
                       WHERE workspace_id = $1 AND (path_pattern = $2 OR starts_with(path_pattern, $2 || '/'))) AS found`,
      [workspaceId, prefix],
    );
    return row?.found ?? false;
  }
}

function toBinding(row: Row): KeyBinding {
  return {
    pathPrefix: row.path_prefix,
    apiKeyId: row.api_key_id,
    keyName: row.key_name,
    workspaceId: row.workspace_id,
    createdBy: row.created_by,
    createdAt: row.created_at,
  };
}
