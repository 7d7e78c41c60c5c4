import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import {
  Clock,
  PenstockError,
  toWireStamp,
  type ApiKeyKind,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { Database } from '#libs/persistence';
import { SuperAdminReach } from '../access/super-admin-reach.js';
import { WorkspaceDirectory } from '../access/workspace-directory.js';
import { authorise, authoriseInstance, authoriseSelf, workspaceOf } from '../authorise.js';
import { IdentitySettings } from '../identity-settings.js';
import { Invalidations } from '../liveness/invalidations.js';
import { SecretHasher } from '../passwords/secret-hasher.js';
import { ApiKeyRepository, keyPlace, type ApiKeyRow, type KeySelection } from './api-key.repository.js';
import { KeyBindingWriter } from './key-bindings.js';
import { isKeyId, mintKey } from './key-format.js';
import { admitKey, type KeyRequest } from './key-request.js';

/** A key as people see one, wire form; the secret is never part of it. */
export interface ApiKeyRecord {
  id: string;
  name: string;
  kind: ApiKeyKind;
  scopes: string[];
  owner: { id: string; display_name: string };
  workspace: { id: string; name: string };
  is_revoked: boolean;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  last_used_ip: string | null;
  last_used_user_agent: string | null;
}

/** Issue, list and revoke API keys (contract 04 §6.1). */
@Injectable()
export class ApiKeyService {
  constructor(
    private readonly db: Database,
    private readonly keys: ApiKeyRepository,
    private readonly directory: WorkspaceDirectory,
    private readonly reach: SuperAdminReach,
    private readonly hasher: SecretHasher,
    private readonly bindings: KeyBindingWriter,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly settings: IdentitySettings,
    private readonly clock: Clock,
  ) {}

  /**
   * A key pinned for life to the workspace the session acts in. `key` is shown this once.
   *
   * @throws the refusals of {@link admitKey}; `auth.session.required` for a key, which must not mint a sibling
   */
  async create(principal: Principal, request: KeyRequest): Promise<{ apiKey: ApiKeyRecord; key: string }> {
    if (request.kind === 'server') authoriseInstance(principal, 'server_key.create');
    else authorise(principal, 'api_key.create');
    const workspace = workspaceOf(principal);
    const { defaultScopes, keyMaxLifetimeDays } = this.settings;
    // Whoever may author reaches every scope a key can have, so no further bound on the scopes is needed.
    const admitted = admitKey(request, { now: this.clock.now(), defaultScopes, maxLifetimeDays: keyMaxLifetimeDays });
    const { name, kind, scopes, bindings, expiresAt } = admitted;
    const { id, key } = mintKey();
    const keyHash = await this.hasher.hash(key);
    const row = await this.db.transaction(async (tx) => {
      const { userId } = principal;
      await this.keys.insert(tx, { id, userId, workspaceId: workspace.id, name, keyHash, kind, scopes, expiresAt });
      if (bindings.length > 0) await this.bindings.bind(tx, principal, id, bindings);
      await this.audit.append(tx, { ...principal, keyId: id }, 'auth.api_key.created', {
        name,
        kind,
        scopes,
        bindings,
        expires_at: expiresAt,
      });
      return this.keys.find(tx, id);
    });
    if (!row) throw new PenstockError('internal', { message: 'The new key was not found in its own transaction.' });
    return { apiKey: toRecord(row), key };
  }

  /**
   * One's own keys of every workspace, the newest first; a key sees only itself. `all`: every key of the workspace the
   * session acts in, for its administrators.
   */
  async list(
    principal: Principal,
    request: { all?: boolean },
    page: KeysetPage,
  ): Promise<KeysetListing<{ apiKey: ApiKeyRecord; cursor: string }>> {
    return withCursors(await this.keys.page(this.db, this.#selection(principal, request.all ?? false), page));
  }

  async count(principal: Principal, request: { all?: boolean }): Promise<number> {
    return this.keys.count(this.db, this.#selection(principal, request.all ?? false));
  }

  /** Keys of other people, for super administrators: one page each, in one statement; nobody's keys are absent. */
  async listOfOwners(
    principal: Principal,
    owners: readonly string[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<{ apiKey: ApiKeyRecord; cursor: string }>>> {
    authoriseInstance(principal, 'user.read');
    const found = await this.keys.pagesOfOwners(this.db, owners, page);
    const shown = [...found.values()].flatMap(({ items }) => items.map(pinOf));
    await this.reach.into(principal, 'user.read', shown);
    return new Map([...found].map(([owner, listing]) => [owner, withCursors(listing)]));
  }

  async countOfOwner(principal: Principal, owner: string): Promise<number> {
    authoriseInstance(principal, 'user.read');
    return this.keys.count(this.db, { userId: owner });
  }

  /** Own keys by id, for a key itself alone; what is not the principal's is absent. */
  async own(principal: Principal, id: string): Promise<ApiKeyRecord | undefined> {
    authoriseSelf(principal, 'api_key.own');
    if (principal.keyId !== undefined && principal.keyId !== id) return undefined;
    const row = isKeyId(id) ? await this.keys.find(this.db, id) : undefined;
    return row?.userId === principal.userId ? toRecord(row) : undefined;
  }

  /**
   * Ends a key; ending it again changes nothing. Its owner may, an administrator of its workspace, a super admin, and
   * the key itself.
   *
   * @throws `auth.api_key.not_found` for an unknown and for a foreign key alike
   */
  async revoke(principal: Principal, id: string): Promise<void> {
    authoriseSelf(principal, 'api_key.own');
    const row = isKeyId(id) ? await this.keys.find(this.db, id) : undefined;
    if (!row || !(await this.#mayRevoke(principal, row))) throw new PenstockError('auth.api_key.not_found');
    if (row.userId !== principal.userId) await this.reach.into(principal, 'api_key.own', [pinOf(row)]);
    await this.db.transaction(async (tx) => {
      if (!(await this.keys.revoke(tx, id))) return;
      const workspace = {
        id: row.workspaceId,
        name: row.workspaceName,
        implicit: await this.#isImplicit(principal, row),
      };
      await this.audit.append(tx, { ...principal, keyId: id, workspace }, 'auth.api_key.revoked', {
        owner_id: row.userId,
        actor: principal.userId,
        reason: row.userId === principal.userId ? 'owner' : 'administrator',
      });
      this.invalidations.announce(tx, 'api_key', id);
    });
  }

  #selection(principal: Principal, all: boolean): KeySelection {
    if (all) return { workspaceId: authorise(principal, 'api_key.manage').id };
    authoriseSelf(principal, 'api_key.own');
    return principal.keyId === undefined ? { userId: principal.userId } : { id: principal.keyId };
  }

  async #mayRevoke(principal: Principal, row: ApiKeyRow): Promise<boolean> {
    if (principal.method === 'api_key') return principal.keyId === row.id;
    if (row.userId === principal.userId || principal.superAdmin) return true;
    const held = await this.directory.membershipsOf(principal.userId);
    return held.some(({ workspaceId, admin }) => workspaceId === row.workspaceId && admin);
  }

  async #isImplicit(principal: Principal, row: ApiKeyRow): Promise<boolean> {
    if (!principal.superAdmin || row.userId === principal.userId) return false;
    const held = await this.directory.membershipsOf(principal.userId);
    return !held.some(({ workspaceId }) => workspaceId === row.workspaceId);
  }
}

function pinOf({ workspaceId: id, workspaceName: name }: ApiKeyRow) {
  return { id, name };
}

function withCursors({ items, ...more }: KeysetListing<ApiKeyRow>) {
  return { items: items.map((row) => ({ apiKey: toRecord(row), cursor: keyPlace(row) })), ...more };
}

function toRecord(row: ApiKeyRow): ApiKeyRecord {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    scopes: row.scopes,
    owner: { id: row.userId, display_name: row.ownerName },
    workspace: { id: row.workspaceId, name: row.workspaceName },
    is_revoked: row.isRevoked,
    created_at: toWireStamp(row.createdAt),
    expires_at: row.expiresAt === null ? null : toWireStamp(row.expiresAt),
    last_used_at: row.lastUsedAt === null ? null : toWireStamp(row.lastUsedAt),
    last_used_ip: row.lastUsedIp,
    last_used_user_agent: row.lastUsedUserAgent,
  };
}
