import { Injectable } from '@nestjs/common';
import { PenstockError, type ActingWorkspace, type Principal } from '#libs/kernel';
import { AuditLog } from '#libs/audit';
import { draftOf } from '#libs/lifecycle';
import type { Transaction } from '#libs/persistence';
import { ContentBus } from '#libs/transient';
import { refKey, type PinnedTemplate, type TemplateClosure, type TemplateRef } from './pinned-template.js';
import { TemplateCatalog, type HeldVersion } from './template-catalog.js';
import { templateNotFound } from './template-reading.js';
import { TemplateRepository, type TemplateEntity } from './template.repository.js';

/** A pin that keeps a release back. */
export interface UnreleasedPin {
  template_id: string;
  template_version: number;
  template_status: 'DRAFT' | 'DISCARDED' | 'MISSING';
}

/** Whose release takes the templates along: for the audit rows. */
export interface CascadeCause {
  pipelineId: string;
  version: number;
}

/** What a release demands of the templates below it: every one RELEASED, held so until the release commits. */
@Injectable()
export class TemplateReleases {
  constructor(
    private readonly repository: TemplateRepository,
    private readonly catalog: TemplateCatalog,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /** @throws PenstockError `template.release.import_not_released`, with every import that is not. */
  async requireReleasedImports(tx: Transaction, workspaceId: string, name: string, version: number): Promise<void> {
    const ref = { id: name, version };
    const closure = (await this.catalog.load(workspaceId, [ref], tx)).get(refKey(ref));
    if (!closure) throw templateNotFound(name, version);
    const refs = [...closure.template.imports, ...[...closure.libraries.values()].flatMap(({ imports }) => imports)];
    const pins = unreleased(refs, await this.catalog.hold(tx, workspaceId, refs));
    if (pins.length === 0) return;
    throw new PenstockError('template.release.import_not_released', {
      message: 'Release the imported libraries first.',
      details: { template_id: name, template_version: version, pins_not_released: pins },
    });
  }

  /**
   * The pins and their import closures that are not RELEASED, all versions held `FOR SHARE`. With `cascade`, DRAFT
   * ones are released in this transaction, libraries first; what is left still refuses.
   */
  async settlePins(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    refs: readonly TemplateRef[],
    cascade: CascadeCause | undefined,
  ): Promise<{ notReleased: UnreleasedPin[]; released: TemplateRef[] }> {
    const closures = await this.catalog.load(workspace.id, refs, tx);
    const found = librariesFirst([...closures.values()]);
    const released: TemplateRef[] = [];
    if (cascade) {
      const drafts = found.filter(({ status }) => status === 'DRAFT');
      const entities = await this.repository.lockAll(
        tx,
        workspace.id,
        drafts.map(({ name }) => name),
      );
      for (const template of drafts) {
        const entity = entities.find(({ id }) => id === template.templateId);
        await this.#releaseDraft(tx, workspace, principal, template, entity, cascade);
        released.push({ id: template.name, version: template.version });
      }
    }
    const all = [...refs, ...found.flatMap(({ imports }) => imports)];
    return { notReleased: unreleased(all, await this.catalog.hold(tx, workspace.id, all)), released };
  }

  async #releaseDraft(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    { name, version, bodyHash }: PinnedTemplate,
    entity: TemplateEntity | undefined,
    cause: CascadeCause,
  ): Promise<void> {
    if (!entity) throw templateNotFound(name, version);
    const draft = draftOf(await this.repository.state(tx, entity));
    const effect = { kind: 'release', version, baseHash: bodyHash } as const;
    if (draft?.version !== version || !(await this.repository.apply(tx, entity.id, effect, principal.userId))) {
      throw new PenstockError('template.version.conflict', {
        message: `The pinned draft of "${name}" changed during the release: try again.`,
        details: { template_id: name, template_version: version },
      });
    }
    await this.repository.movePointer(tx, entity.id, version);
    this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: name });
    await this.audit.append(tx, { ...principal, workspace }, 'template.version.released', {
      id: entity.id,
      name,
      version,
      via: principal.surface,
      cascade_from_pipeline_id: cause.pipelineId,
      cascade_from_version: cause.version,
    });
  }
}

/** Every template of the closures once, each after the libraries it imports. */
export function librariesFirst(closures: readonly TemplateClosure[]): PinnedTemplate[] {
  const ordered = new Map<string, PinnedTemplate>();
  const visit = (
    template: PinnedTemplate,
    libraries: TemplateClosure['libraries'],
    open: ReadonlySet<string>,
  ): void => {
    const key = `${template.name}@${template.version}`;
    if (ordered.has(key) || open.has(key)) return;
    const path = new Set([...open, key]);
    for (const ref of template.imports) {
      const library = libraries.get(refKey(ref));
      if (library) visit(library, libraries, path);
    }
    ordered.set(key, template);
  };
  for (const { template, libraries } of closures) visit(template, libraries, new Set());
  return [...ordered.values()];
}

function unreleased(refs: readonly TemplateRef[], held: ReadonlyMap<string, HeldVersion>): UnreleasedPin[] {
  const pins = new Map<string, UnreleasedPin>();
  for (const ref of refs) {
    const status = held.get(refKey(ref))?.status ?? 'MISSING';
    if (status === 'RELEASED') continue;
    pins.set(refKey(ref), {
      template_id: ref.id,
      template_version: ref.version,
      template_status: status,
    });
  }
  return [...pins.values()];
}
