import { Injectable } from '@nestjs/common';
import type { ActingWorkspace, Principal } from '#libs/kernel';
import { AuditLog } from '#libs/audit';
import type { Transaction } from '#libs/persistence';
import { ContentBus } from '#libs/transient';
import { TemplatePins } from './template-pins.js';
import { TemplateRepository } from './template.repository.js';

/** Templates that lose their only user when a pipeline is purged (contract 05 §10). */
@Injectable()
export class ExclusiveDrafts {
  constructor(
    private readonly repository: TemplateRepository,
    private readonly pins: TemplatePins,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /**
   * Of `names`, those that are nothing but a draft, pinned by no stored pipeline version and imported by no template;
   * asked after the pipeline's own pins are gone, in the transaction that took them. `purge` deletes them too.
   */
  async settle(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    names: readonly string[],
    purge: boolean,
  ): Promise<string[]> {
    const exclusive: string[] = [];
    for (const entity of await this.repository.lockAll(tx, workspace.id, [...new Set(names)])) {
      const [only, ...others] = (await this.repository.state(tx, entity)).versions;
      if (!only || only.status !== 'DRAFT' || others.length > 0) continue;
      await this.repository.lockVersion(tx, entity.id, only.version);
      const { references } = await this.pins.pinsOf(tx, workspace.id, entity.name);
      const importers = await this.repository.importers(tx, workspace.id, entity.name);
      if (references.length > 0 || importers.length > 0) continue;
      exclusive.push(entity.name);
      if (!purge) continue;
      await this.repository.apply(tx, entity.id, { kind: 'deleteEntity', version: only.version }, principal.userId);
      this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: entity.name });
      await this.audit.append(tx, { ...principal, workspace }, 'template.purged', {
        id: entity.id,
        name: entity.name,
        version: only.version,
        via: principal.surface,
      });
    }
    return exclusive.sort();
  }
}
