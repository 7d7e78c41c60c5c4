import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import {
  authoriseInstance,
  authoriseSelf,
  Invalidations,
  LastWorkspace,
  SessionIssuer,
  WorkspaceDirectory,
} from '#libs/identity';
import {
  isUuid,
  newId,
  pageOfList,
  PenstockError,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { constraintOf, Database } from '#libs/persistence';
import { NamedWorkspaces } from './named-workspaces.js';
import { displayName, workspaceName } from './workspace-input.js';
import { WorkspaceRepository } from './workspace.repository.js';
import { toHeldView, toView, type WorkspaceView } from './workspace-view.js';

/** Workspaces as people see and change them (contract 04 §7); their life and death is {@link WorkspaceLifecycle}'s. */
@Injectable()
export class WorkspaceService {
  constructor(
    private readonly db: Database,
    private readonly workspaces: WorkspaceRepository,
    private readonly directory: WorkspaceDirectory,
    private readonly addressed: NamedWorkspaces,
    private readonly sessions: SessionIssuer,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly last: LastWorkspace,
  ) {}

  /** One's own active workspaces by name, which `after` and `before` are; a super admin sees all, inactive ones too; a key sees its pin. */
  async list(principal: Principal, page: KeysetPage = {}): Promise<KeysetListing<WorkspaceView>> {
    authoriseSelf(principal, 'workspace.list_own');
    if (principal.method === 'api_key') return pageOfList(await this.#pinOf(principal), ({ name }) => name, page);
    const found = await this.workspaces.page(this.db, principal.userId, principal.superAdmin, page);
    return { ...found, items: found.items.map(toHeldView) };
  }

  async count(principal: Principal): Promise<number> {
    authoriseSelf(principal, 'workspace.list_own');
    if (principal.method === 'api_key') return principal.workspace ? 1 : 0;
    return this.workspaces.count(this.db, principal.userId, principal.superAdmin);
  }

  /** Several by id, in one statement; what is not the principal's to see is absent. */
  async among(principal: Principal, ids: readonly string[]): Promise<Map<string, WorkspaceView>> {
    authoriseSelf(principal, 'workspace.list_own');
    const reach = principal.method === 'api_key' ? ids.filter((id) => id === principal.workspace?.id) : ids;
    const rows = await this.workspaces.among(this.db, principal.userId, principal.superAdmin, reach.filter(isUuid));
    return new Map(rows.map((row) => [row.id, toHeldView(row)]));
  }

  /** As `among`, by name. */
  async named(principal: Principal, names: readonly string[]): Promise<Map<string, WorkspaceView>> {
    authoriseSelf(principal, 'workspace.list_own');
    const reach = principal.method === 'api_key' ? names.filter((name) => name === principal.workspace?.name) : names;
    const rows = await this.workspaces.named(this.db, principal.userId, principal.superAdmin, reach);
    return new Map(rows.map((row) => [row.name, toHeldView(row)]));
  }

  /** @throws `workspace.not_found`, one body for unknown, foreign and inactive */
  async read(principal: Principal, name: string): Promise<WorkspaceView> {
    const workspace = await this.addressed.open(principal, 'workspace.read', name);
    return this.#view(workspace.id, workspace.implicit ? undefined : workspace.flags);
  }

  /** @throws `workspace.validation.name_invalid`, `workspace.validation.duplicate_name` (deleted workspaces included) */
  async create(principal: Principal, body: { name: unknown; display_name?: unknown }): Promise<WorkspaceView> {
    authoriseInstance(principal, 'workspace.create');
    const name = workspaceName(body.name);
    const workspace = {
      id: newId(),
      name,
      displayName: displayName(body.display_name ?? name),
      createdBy: principal.userId,
    };
    try {
      await this.db.transaction(async (tx) => {
        await this.workspaces.insert(tx, workspace);
        const actor = { ...principal, workspace: { id: workspace.id, name, implicit: true } };
        await this.audit.append(tx, actor, 'auth.workspace.created', { name, actor: principal.userId });
      });
    } catch (error) {
      if (constraintOf(error)?.kind === 'unique') {
        throw new PenstockError('workspace.validation.duplicate_name', { details: { field: 'name', name } });
      }
      throw error;
    }
    return this.#view(workspace.id);
  }

  /** Changes the display name; the name itself is for life. */
  async update(principal: Principal, name: string, body: { display_name: unknown }): Promise<WorkspaceView> {
    const workspace = await this.addressed.open(principal, 'workspace.update', name);
    const next = displayName(body.display_name);
    await this.db.transaction(async (tx) => {
      const before = await this.workspaces.rename(tx, workspace.id, next);
      if (before === undefined) throw new PenstockError('workspace.not_found');
      if (before === next) return;
      await this.audit.append(tx, { ...principal, workspace }, 'auth.workspace.updated', {
        from: { display_name: before },
        to: { display_name: next },
      });
      this.invalidations.announce(tx, 'workspace', workspace.id);
    });
    return this.#view(workspace.id, workspace.implicit ? undefined : workspace.flags);
  }

  /**
   * The session, remembering another workspace.
   *
   * @param presented value of the session cookie the request came with
   * @throws `workspace.session_required` for a key, `workspace.not_found`, `workspace.inactive` (super admin)
   */
  async switchTo(
    principal: Principal,
    name: string,
    presented: string,
  ): Promise<{ token: string; workspace: WorkspaceView }> {
    authoriseSelf(principal, 'workspace.switch');
    const workspace = await this.directory.addressed(principal, name);
    const token = await this.sessions.reissue(principal, presented, workspace.id);
    await this.last.remember(principal.userId, workspace.id);
    return { token, workspace: await this.#view(workspace.id, workspace.implicit ? undefined : workspace.flags) };
  }

  async #pinOf({ workspace }: Principal): Promise<WorkspaceView[]> {
    return workspace ? [await this.#view(workspace.id, workspace.flags)] : [];
  }

  async #view(id: string, flags?: WorkspaceView['flags']): Promise<WorkspaceView> {
    const row = await this.workspaces.find(this.db, id);
    if (!row) throw new PenstockError('workspace.not_found');
    return toView(row, flags);
  }
}
