import { Injectable } from '@nestjs/common';
import { Configuration, validationError, type ActingWorkspace, type JsonObject, type Principal } from '#libs/kernel';
import { AuditLog } from '#libs/audit';
import { decide, nextVersion } from '#libs/lifecycle';
import { Database, type Queryable, type Transaction } from '#libs/persistence';
import { postureOf, TemplateReleases } from '#libs/templates';
import { ContentBus } from '#libs/transient';
import { templatePins, type PipelineDocument } from '../document/pipeline-document.js';
import { pipelineNotFound } from '../pipeline-reading.js';
import { PipelineRepository, type PipelineEntity } from '../pipeline.repository.js';
import { ReferenceGuard } from '../validation/reference-guard.js';
import type { Judgement } from '../validation/document-validation.js';
import { missingTemplates, nameTaken, versionTaken, wrongHash } from './import-refusals.js';
import type { ReadPipelineFile } from './pipeline-file.js';

/** Where a file's release ended up; `imported` is false when it stood there already. */
export interface PlacedRelease {
  version: number;
  imported: boolean;
}

/** Lands releases that were made elsewhere, RELEASED at their own numbers (contract 05 §12). */
@Injectable()
export class ReleasePlacement {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: PipelineRepository,
    private readonly guard: ReferenceGuard,
    private readonly releases: TemplateReleases,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /** The release of this number, when it is here with the very content of the file: nothing is left to judge. */
  async standing(
    existing: PipelineEntity,
    { mark }: ReadPipelineFile,
    stored: JsonObject,
    q: Queryable = this.database,
  ): Promise<{ version: number } | undefined> {
    if (mark.version === undefined) return undefined;
    const { versions } = await this.repository.state(q, existing);
    const found = versions.find(({ version, status }) => version === mark.version && status === 'RELEASED');
    if (found?.bodyHash !== mark.bodyHash || mark.bodyHash === undefined) return undefined;
    const same = (await this.repository.hash(q, stored)) === mark.bodyHash;
    return same ? { version: mark.version } : undefined;
  }

  /** @throws `pipeline.validation.duplicate_name` for a name or id of another pipeline */
  async create(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    file: ReadPipelineFile,
    { document }: Pick<Judgement, 'document'>,
  ): Promise<PipelineEntity> {
    if (!document) throw new TypeError('a body without failures has a document');
    const id = await this.repository.createEntity(tx, workspace.id, file.id, document, principal.userId);
    if (id === undefined) throw nameTaken(document.name, file.id);
    return { id, name: document.name, currentVersion: null };
  }

  /** Stores the release, or finds it stored. A pointer that is set stays where it is. */
  async place(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    { id, name }: PipelineEntity,
    { mark, path }: ReadPipelineFile,
    { document, stored }: Pick<Judgement, 'document' | 'stored'>,
  ): Promise<PlacedRelease> {
    const entity = await this.repository.lock(tx, workspace.id, id);
    if (!document || !entity) throw pipelineNotFound(id);
    const hash = await this.repository.hash(tx, stored);
    if (mark.bodyHash !== undefined && mark.bodyHash !== hash)
      throw validationError([wrongHash(path, mark.bodyHash, hash)]);
    const state = await this.repository.state(tx, entity);
    const decision = decide('import', state, { version: mark.version, bodyHash: hash }, postureOf(this.configuration));
    const version = mark.version ?? nextVersion(state.versions);
    if (!decision.allowed) throw validationError([versionTaken(path, { version, hash }, decision.subject)]);
    if (decision.effect.kind !== 'insertReleased') return { version, imported: false };
    await this.#requirePins(tx, workspace, principal, document);
    await this.repository.insertReleased(tx, entity.id, version, stored, principal.userId, mark.releasedAt);
    if (decision.currentVersion !== entity.currentVersion) {
      await this.repository.movePointer(tx, entity.id, decision.currentVersion);
    }
    if (version === nextVersion(state.versions)) {
      await this.repository.describe(tx, entity.id, document.displayName, document.description);
    }
    this.content.announce(tx, { kind: 'pipeline', workspaceId: workspace.id, id: entity.id });
    await this.audit.append(tx, { ...principal, workspace }, 'pipeline.version.released', {
      id: entity.id,
      name,
      version,
      via: principal.surface,
    });
    return { version, imported: true };
  }

  /**
   * Makes a release that stands here the current one, if its number is higher than that of the current one: what serves
   * never falls back behind what it is.
   * @returns whether the pointer moved
   */
  async raise(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    pipelineId: string,
    version: number,
  ): Promise<boolean> {
    const entity = await this.repository.lock(tx, workspace.id, pipelineId);
    if (!entity) throw pipelineNotFound(pipelineId);
    const { id, name, currentVersion: from } = entity;
    if (version <= (from ?? 0)) return false;
    await this.repository.movePointer(tx, id, version);
    this.content.announce(tx, { kind: 'pipeline', workspaceId: workspace.id, id });
    await this.audit.append(tx, { ...principal, workspace }, 'pipeline.current_switched', {
      id,
      name,
      version,
      from,
      to: version,
      via: principal.surface,
    });
    return true;
  }

  async #requirePins(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    document: PipelineDocument,
  ): Promise<void> {
    await this.guard.hold(tx, workspace.id, document);
    const pins = templatePins(document);
    const { notReleased } = await this.releases.settlePins(tx, workspace, principal, pins, undefined);
    if (notReleased.length > 0) throw missingTemplates(notReleased);
  }
}
