import { Injectable } from '@nestjs/common';
import {
  keysetItems,
  KeysetOrder,
  keysetPages,
  type ApiKeyKind,
  type KeysetListing,
  type KeysetPage,
  type Scope,
} from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

/** A key as the authenticator needs one. */
export interface ApiKeyCredential {
  id: string;
  userId: string;
  workspaceId: string;
  keyHash: string;
  kind: ApiKeyKind;
  scopes: readonly string[];
  expiresAt: string | null;
}

/** A key as people see one; the hash is not among its columns. */
export interface ApiKeyRow {
  id: string;
  name: string;
  kind: ApiKeyKind;
  scopes: Scope[];
  userId: string;
  ownerName: string;
  workspaceId: string;
  workspaceName: string;
  isRevoked: boolean;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  lastUsedIp: string | null;
  lastUsedUserAgent: string | null;
}

export interface NewApiKey {
  id: string;
  userId: string;
  workspaceId: string;
  name: string;
  keyHash: string;
  kind: ApiKeyKind;
  scopes: readonly Scope[];
  expiresAt: Date | null;
}

/** Whose keys a listing shows. */
export type KeySelection = { userId: string } | { workspaceId: string } | { id: string };

const VIEW = `SELECT k.id, k.name, k.kind, k.scopes, k.user_id AS "userId", u.display_name AS "ownerName",
    k.workspace_id AS "workspaceId", w.name AS "workspaceName", k.is_revoked AS "isRevoked",
    k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.last_used_at AS "lastUsedAt",
    host(k.last_used_ip) AS "lastUsedIp", k.last_used_user_agent AS "lastUsedUserAgent"
  FROM api_keys k JOIN users u ON u.id = k.user_id JOIN workspaces w ON w.id = k.workspace_id`;

const NEWEST_FIRST = new KeysetOrder(
  { sql: 'k.created_at', kind: 'timestamptz', descending: true },
  { sql: 'k.id', kind: 'text' },
);

/** A key's place in a list, for `after` and `before`. */
export function keyPlace({ createdAt, id }: ApiKeyRow): string {
  return KeysetOrder.place(createdAt, id);
}

@Injectable()
export class ApiKeyRepository {
  /** Undefined for an unknown and for a revoked key alike. */
  async findLive(q: Queryable, id: string): Promise<ApiKeyCredential | undefined> {
    const [key] = await q.query<ApiKeyCredential>(
      `SELECT id, user_id AS "userId", workspace_id AS "workspaceId", key_hash AS "keyHash", kind, scopes,
              expires_at AS "expiresAt"
       FROM api_keys WHERE id = $1 AND NOT is_revoked`,
      [id],
    );
    return key;
  }

  async find(q: Queryable, id: string): Promise<ApiKeyRow | undefined> {
    const [key] = await q.query<ApiKeyRow>(`${VIEW} WHERE k.id = $1`, [id]);
    return key;
  }

  async insert(q: Queryable, key: NewApiKey): Promise<void> {
    await q.execute(
      `INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash, scopes, expires_at, kind)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [key.id, key.userId, key.workspaceId, key.name, key.keyHash, key.scopes, key.expiresAt, key.kind],
    );
  }

  /** The newest first. */
  async page(q: Queryable, selection: KeySelection, page: KeysetPage): Promise<KeysetListing<ApiKeyRow>> {
    const [where, value] = predicate(selection);
    const values: unknown[] = [value];
    const beyond = NEWEST_FIRST.beyond(page, values);
    const rows = await q.query<ApiKeyRow>(
      `${VIEW} WHERE ${where} AND ${beyond} ${NEWEST_FIRST.tail(page, values)}`,
      values,
    );
    return keysetItems(rows, page);
  }

  /** As `page`, one for each of several owners, in one statement. */
  async pagesOfOwners(
    q: Queryable,
    owners: readonly string[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<ApiKeyRow>>> {
    const values: unknown[] = [owners];
    const beyond = NEWEST_FIRST.beyond(page, values);
    const rows = await q.query<ApiKeyRow>(
      `SELECT page.* FROM unnest($1::uuid[]) AS owner(id) CROSS JOIN LATERAL (
         ${VIEW} WHERE k.user_id = owner.id AND ${beyond} ${NEWEST_FIRST.tail(page, values)}) page`,
      values,
    );
    return keysetPages(rows, ({ userId }) => userId, page);
  }

  async count(q: Queryable, selection: KeySelection): Promise<number> {
    const [where, value] = predicate(selection);
    const [row] = await q.query<{ total: number }>(`SELECT count(*)::int AS total FROM api_keys k WHERE ${where}`, [
      value,
    ]);
    return row?.total ?? 0;
  }

  /** False when it was revoked before. */
  async revoke(q: Queryable, id: string): Promise<boolean> {
    const revoked = await q.execute('UPDATE api_keys SET is_revoked = TRUE WHERE id = $1 AND NOT is_revoked', [id]);
    return revoked === 1;
  }

  /** At most one write a minute and key, whichever instance sees it. */
  async touch(q: Queryable, id: string, ip: string | null, userAgent: string | null): Promise<void> {
    await q.execute(
      `UPDATE api_keys SET last_used_at = NOW(), last_used_ip = $2, last_used_user_agent = $3
       WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= NOW() - INTERVAL '1 minute')`,
      [id, ip, userAgent],
    );
  }
}

function predicate(selection: KeySelection): [where: string, value: string] {
  if ('userId' in selection) return ['k.user_id = $1', selection.userId];
  if ('workspaceId' in selection) return ['k.workspace_id = $1', selection.workspaceId];
  return ['k.id = $1', selection.id];
}
