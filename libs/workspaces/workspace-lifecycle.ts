import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { authoriseInstance, Invalidations, SuperAdminReach, type OperationId } from '#libs/identity';
import { PenstockError, type Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { strandedCounts, WorkspaceRepository, type WorkspaceRow } from './workspace.repository.js';
import { toView, type WorkspaceView } from './workspace-view.js';

/**
 * active ⇄ inactive → deleted, a super admin's in a session (contract 04 §7.1). Deactivation purges nothing and is
 * undone by reactivation; deletion takes an empty workspace.
 */
@Injectable()
export class WorkspaceLifecycle {
  constructor(
    private readonly db: Database,
    private readonly workspaces: WorkspaceRepository,
    private readonly audit: AuditLog,
    private readonly invalidations: Invalidations,
    private readonly reach: SuperAdminReach,
  ) {}

  /**
   * Deactivating an inactive workspace changes nothing. What nobody reaches from now on is counted in the trail; runs
   * that are under way go on.
   *
   * @throws `workspace.not_found`
   */
  async deactivate(principal: Principal, name: string): Promise<WorkspaceView> {
    authoriseInstance(principal, 'workspace.lifecycle');
    return this.#change(principal, name, async (tx, row) => {
      if (!(await this.workspaces.deactivate(tx, row.id, principal.userId))) return;
      const actor = acting(principal, row);
      await this.audit.append(tx, actor, 'workspace.deactivated', { actor: principal.userId });
      const counts = strandedCounts(await this.workspaces.contents(tx, row.id));
      if (counts) await this.audit.append(tx, actor, 'auth.workspace.stranded_content', { counts });
      this.invalidations.announce(tx, 'workspace', row.id);
    });
  }

  /** Reactivating an active workspace changes nothing. @throws `workspace.not_found` */
  async reactivate(principal: Principal, name: string): Promise<WorkspaceView> {
    authoriseInstance(principal, 'workspace.lifecycle');
    return this.#change(principal, name, async (tx, row) => {
      if (!(await this.workspaces.reactivate(tx, row.id))) return;
      await this.audit.append(tx, acting(principal, row), 'workspace.reactivated', { actor: principal.userId });
      this.invalidations.announce(tx, 'workspace', row.id);
    });
  }

  /** @throws `workspace.in_use` with `counts` while it holds content or live keys, `workspace.not_found` */
  async remove(principal: Principal, name: string): Promise<void> {
    authoriseInstance(principal, 'workspace.delete');
    await this.#within(principal, 'workspace.delete', { name, against: 'content' }, async (tx, row) => {
      const counts = await this.workspaces.contents(tx, row.id);
      if (Object.values(counts).some((count) => count > 0)) {
        throw new PenstockError('workspace.in_use', { details: { counts } });
      }
      const members = await this.workspaces.markDeleted(tx, row.id);
      await this.audit.append(tx, acting(principal, row), 'auth.workspace.deleted', { name, actor: principal.userId });
      this.invalidations.announce(tx, 'workspace', row.id);
      for (const userId of members) this.invalidations.announce(tx, 'membership', userId);
    });
  }

  async #change(
    principal: Principal,
    name: string,
    change: (tx: Transaction, row: WorkspaceRow) => Promise<void>,
  ): Promise<WorkspaceView> {
    return this.#within(principal, 'workspace.lifecycle', { name, against: 'changes' }, async (tx, row) => {
      await change(tx, row);
      const now = await this.workspaces.find(tx, row.id);
      return toView(now ?? row);
    });
  }

  /** A super admin leaves his row whatever becomes of the act: a refused one told him what the workspace holds. */
  async #within<T>(
    principal: Principal,
    operation: OperationId,
    { name, against }: { name: string; against: 'changes' | 'content' },
    act: (tx: Transaction, row: WorkspaceRow) => Promise<T>,
  ): Promise<T> {
    const reached: WorkspaceRow[] = [];
    try {
      return await this.db.transaction(async (tx) => {
        const row = await this.#locked(tx, name, against);
        reached[0] = row;
        return act(tx, row);
      });
    } finally {
      await this.reach.into(principal, operation, reached);
    }
  }

  async #locked(tx: Transaction, name: string, against: 'changes' | 'content'): Promise<WorkspaceRow> {
    const row = await this.workspaces.lockByName(tx, name, against);
    if (!row) throw new PenstockError('workspace.not_found');
    return row;
  }
}

/** The row is about this workspace, wherever the super admin's session happens to be. */
function acting(principal: Principal, { id, name }: WorkspaceRow) {
  const member = principal.workspace?.id === id && !principal.workspace.implicit;
  return { ...principal, workspace: { id, name, implicit: !member } };
}
