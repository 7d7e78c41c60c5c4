import { Injectable } from '@nestjs/common';
import {
  isStamp,
  type ApiKeyKind,
  type KeysetListing,
  type KeysetPage,
  type OffsetPage,
  type Scope,
} from '#libs/kernel';
import type { Queryable } from '#libs/persistence';
import { isKeyId } from './key-format.js';

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

/** Where a list goes on; null for a text that is no cursor of ours. */
function placeOf(cursor: string): { createdAt: string; id: string } | null {
  const [createdAt = '', id = '', ...more] = cursor.split('~');
  return more.length === 0 && isStamp(createdAt) && isKeyId(id) ? { createdAt, id } : null;
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

  async list(q: Queryable, selection: KeySelection, page: OffsetPage): Promise<ApiKeyRow[]> {
    const [where, value] = predicate(selection);
    return q.query<ApiKeyRow>(`${VIEW} WHERE ${where} ORDER BY k.created_at DESC, k.id LIMIT $2 OFFSET $3`, [
      value,
      page.limit,
      page.offset,
    ]);
  }

  /** By key, the newest first: `after` and `before` are `<created_at>~<id>`; undefined for one that is no such text. */
  async keyset(q: Queryable, selection: KeySelection, page: KeysetPage): Promise<KeysetListing<ApiKeyRow> | undefined> {
    const backwards = page.last !== undefined;
    const cursor = backwards ? page.before : page.after;
    const place = cursor === undefined ? undefined : placeOf(cursor);
    if (place === null) return undefined;
    const [where, value] = predicate(selection);
    const size = page.last ?? page.first ?? 50;
    const rows = await q.query<ApiKeyRow>(
      `${VIEW} WHERE ${where} AND ${beyond(backwards)} ORDER BY ${order(backwards)} LIMIT $4`,
      [value, place?.createdAt ?? null, place?.id ?? null, size + 1],
    );
    return pageOf(rows, size, backwards, place !== undefined);
  }

  /** As `keyset`, one page for each of several owners, in one statement. */
  async keysetOfOwners(
    q: Queryable,
    owners: readonly string[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<ApiKeyRow>> | undefined> {
    const backwards = page.last !== undefined;
    const cursor = backwards ? page.before : page.after;
    const place = cursor === undefined ? undefined : placeOf(cursor);
    if (place === null) return undefined;
    const size = page.last ?? page.first ?? 50;
    const rows = await q.query<ApiKeyRow>(
      `SELECT page.* FROM unnest($1::uuid[]) AS owner(id) CROSS JOIN LATERAL (
         ${VIEW} WHERE k.user_id = owner.id AND ${beyond(backwards)}
         ORDER BY ${order(backwards)} LIMIT $4) page`,
      [owners, place?.createdAt ?? null, place?.id ?? null, size + 1],
    );
    const byOwner = Map.groupBy(rows, ({ userId }) => userId);
    return new Map([...byOwner].map(([owner, found]) => [owner, pageOf(found, size, backwards, place !== undefined)]));
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

/** The rows behind a place, `$2` and `$3`. */
function beyond(backwards: boolean): string {
  const rows = backwards
    ? '(k.created_at > $2 OR (k.created_at = $2 AND k.id < $3))'
    : '(k.created_at < $2 OR (k.created_at = $2 AND k.id > $3))';
  return `($2::timestamptz IS NULL OR ${rows})`;
}

function order(backwards: boolean): string {
  return backwards ? 'k.created_at, k.id DESC' : 'k.created_at DESC, k.id';
}

function pageOf(
  rows: readonly ApiKeyRow[],
  size: number,
  backwards: boolean,
  placed: boolean,
): KeysetListing<ApiKeyRow> {
  const more = rows.length > size;
  const items = rows.slice(0, size);
  return backwards
    ? { items: items.reverse(), hasNext: placed, hasPrevious: more }
    : { items, hasNext: more, hasPrevious: placed };
}
