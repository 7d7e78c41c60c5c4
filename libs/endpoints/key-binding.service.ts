import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { authorise } from '#libs/identity';
import { PenstockError, type ActingWorkspace, type Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { EndpointRegistry } from './endpoint-registry.js';
import { keyBindingView, type KeyBindingView } from './endpoint-views.js';
import { KeyBindingRepository, type KeyBinding } from './key-binding.repository.js';
import { parsePathPattern } from './path-pattern.js';

export interface BindingAddress {
  pathPrefix: string;
  apiKeyId?: string;
  apiKeyName?: string;
}

/** Which endpoint keys authorise which node of the tree (03 §7, 04 §6.3). */
@Injectable()
export class KeyBindingService {
  constructor(
    private readonly database: Database,
    private readonly bindings: KeyBindingRepository,
    private readonly registry: EndpointRegistry,
    private readonly audit: AuditLog,
  ) {}

  async list(principal: Principal): Promise<KeyBindingView[]> {
    return (await this.bindings.list(authorise(principal, 'endpoint.read').id)).map(keyBindingView);
  }

  /**
   * @throws `endpoint.path_invalid` for a prefix above nothing that the workspace publishes,
   *   `auth.api_key.not_found` for a key the caller cannot name, `endpoint.key_kind_refused` for another kind of key
   */
  async bind(principal: Principal, address: BindingAddress): Promise<KeyBindingView> {
    const workspace = authorise(principal, 'api_key.bind');
    return this.database.transaction(async (tx) => {
      const keyId = await this.#resolveKey(tx, principal, workspace, address);
      await this.bindInTransaction(tx, principal, workspace, keyId, address.pathPrefix);
      return keyBindingView(
        (await this.bindings.find(tx, workspace.id, nodeOf(address.pathPrefix), keyId)) as KeyBinding,
      );
    });
  }

  /** Part of minting an endpoint key: the bindings stand or fall with it. */
  async bindInTransaction(
    tx: Transaction,
    principal: Principal,
    workspace: ActingWorkspace,
    keyId: string,
    pathPrefix: string,
  ): Promise<void> {
    const prefix = nodeOf(pathPrefix);
    if (prefix !== '/' && !(await this.bindings.publishesBelow(tx, workspace.id, prefix))) {
      throw new PenstockError('endpoint.path_invalid', {
        message: `“${prefix.slice(0, 64)}” is not at or above a path that this workspace publishes.`,
        details: { reason: 'not_published', path_prefix: prefix.slice(0, 64) },
      });
    }
    if (!(await this.bindings.insert(tx, workspace.id, prefix, keyId, principal.userId))) return;
    await this.audit.append(tx, principal, 'endpoint.key_bound', { api_key_id: keyId, path_prefix: prefix });
    tx.afterCommit(() => this.registry.announceChange());
  }

  /** Also of a key that was revoked or has expired. @throws `auth.api_key.not_found`; nothing bound there is no error */
  async unbind(principal: Principal, address: BindingAddress): Promise<void> {
    const workspace = authorise(principal, 'api_key.bind');
    const prefix = nodeOf(address.pathPrefix);
    await this.database.transaction(async (tx) => {
      const keyId = await this.#resolveKey(tx, principal, workspace, address, prefix);
      if (!(await this.bindings.remove(tx, workspace.id, prefix, keyId))) return;
      await this.audit.append(tx, principal, 'endpoint.key_unbound', { api_key_id: keyId, path_prefix: prefix });
      tx.afterCommit(() => this.registry.announceChange());
    });
  }

  async #resolveKey(
    tx: Transaction,
    principal: Principal,
    workspace: ActingWorkspace,
    { apiKeyId, apiKeyName }: BindingAddress,
    boundAt?: string,
  ): Promise<string> {
    const mayManageAll = workspace.flags.admin || workspace.superAdmin;
    const key = await this.bindings.findEndpointKey(
      tx,
      workspace.id,
      { id: apiKeyId, name: apiKeyName },
      mayManageAll ? undefined : principal.userId,
      boundAt,
    );
    if (!key) throw new PenstockError('auth.api_key.not_found');
    if (key.kind !== 'endpoint') {
      throw new PenstockError('endpoint.key_kind_refused', { details: { reason: 'binding_kind', kind: key.kind } });
    }
    return key.id;
  }
}

/** `/`, or a node spelled like a pattern. */
function nodeOf(prefix: string): string {
  return prefix === '/' ? '/' : parsePathPattern(prefix).text;
}
