import { Injectable } from '@nestjs/common';
import {
  Clock,
  Configuration,
  PenstockError,
  validationError,
  type ActingWorkspace,
  type JsonObject,
  type Principal,
} from '#libs/kernel';
import { AuditLog } from '#libs/audit';
import { authorise } from '#libs/identity';
import { decide, nextVersion } from '#libs/lifecycle';
import { Database, type Transaction } from '#libs/persistence';
import {
  offeredTemplates,
  postureOf,
  TemplateReleases,
  TemplateTransfer,
  versionedTransaction,
  type ImportedTemplate,
} from '#libs/templates';
import { ContentBus } from '#libs/transient';
import { templatePins } from '../document/pipeline-document.js';
import { readStoredDocument } from '../document/stored-document.js';
import { pipelineNotFound } from '../pipeline-reading.js';
import { PipelineCatalog } from '../pipeline-catalog.js';
import { PipelineRepository, type PipelineEntity } from '../pipeline.repository.js';
import { ReleaseGate } from '../ports.js';
import { checksFailed } from '../release-refusals.js';
import { pipelineView, type PipelineView } from '../pipeline-views.js';
import { DocumentValidation, type Judgement } from '../validation/document-validation.js';
import { ReferenceGuard } from '../validation/reference-guard.js';
import { importRefusal, missingTemplates, nameTaken, versionTaken, wrongHash } from './import-refusals.js';
import { pipelineRecord, readPipelineFile, type PipelineFile, type ReadPipelineFile } from './pipeline-file.js';

/** What an import did: the version as it stands, and whether it and each template are new here. */
export interface PipelineImportReport {
  pipeline: PipelineView;
  imported: boolean;
  templates: readonly ImportedTemplate[];
}

/** Pipelines as files: one released version with the templates it needs, out and in (contract 05 §12). */
@Injectable()
export class PipelineTransfer {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly clock: Clock,
    private readonly repository: PipelineRepository,
    private readonly catalog: PipelineCatalog,
    private readonly validation: DocumentValidation,
    private readonly guard: ReferenceGuard,
    private readonly templates: TemplateTransfer,
    private readonly releases: TemplateReleases,
    private readonly gate: ReleaseGate,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /**
   * The pointer's version if it is RELEASED, else the highest RELEASED one.
   * @throws PenstockError `pipeline.promotion.not_released` for a pipeline that was never released
   */
  async export(
    principal: Principal,
    pipelineId: string,
    options: { includeTemplates: boolean },
  ): Promise<PipelineFile> {
    const workspace = authorise(principal, 'pipeline.read');
    const entity = await this.repository.find(workspace.id, pipelineId);
    if (!entity) throw pipelineNotFound(pipelineId);
    const { versions } = await this.repository.state(this.database, entity);
    const released = versions.filter(({ status }) => status === 'RELEASED');
    const chosen = released.find(({ version }) => version === entity.currentVersion) ?? released.at(-1);
    if (!chosen) {
      throw new PenstockError('pipeline.promotion.not_released', {
        message: `The pipeline "${entity.name}" has no released version: release it first, then export.`,
        details: { pipeline_id: pipelineId },
      });
    }
    const row = await this.repository.version(workspace.id, pipelineId, chosen.version);
    if (!row) throw pipelineNotFound(pipelineId, chosen.version);
    const document = options.includeTemplates ? readStoredDocument(row.body) : undefined;
    const pins = document ? templatePins(document) : [];
    const templates = await this.templates.files(workspace.id, pins);
    return {
      pipeline: pipelineRecord(row),
      templates,
      manifest: {
        pipeline_id: row.pipelineId,
        pipeline_version: row.version,
        template_count: templates.length,
        exported_at: this.clock.now().toISOString(),
      },
    };
  }

  /**
   * Lands a file RELEASED at its own number, with its templates, all or nothing. What stands here already with the
   * same hash is left alone. Rules run outside the transaction, on the templates of the file as if they were stored.
   */
  async import(principal: Principal, sent: JsonObject): Promise<PipelineImportReport> {
    const workspace = authorise(principal, 'pipeline.import');
    const { file, failures } = readPipelineFile(sent);
    if (failures.length > 0) throw validationError(failures);
    const templates = file.templates === undefined ? [] : await this.templates.read('templates', file.templates);
    const existing = await this.#existing(workspace.id, file);
    const judged = await this.validation.judge(workspace.id, file.body, {
      offered: offeredTemplates(templates),
      ...(existing ? { immutableName: existing.name } : {}),
    });
    const here = existing && (await this.#standing(existing, file, judged.stored));
    if (here === undefined && judged.failures.length > 0) throw importRefusal(judged.failures, file.path);
    if (here === undefined && judged.document) {
      const failed = await this.gate.judge(principal, { workspaceId: workspace.id, document: judged.document });
      if (failed.length > 0) throw checksFailed(failed);
    }
    return versionedTransaction(this.database, 'pipeline', async (tx) => {
      const entity = existing ?? (await this.#create(tx, workspace, principal, file, judged));
      if (!(await this.repository.lock(tx, workspace.id, entity.id))) throw pipelineNotFound(entity.id);
      const stored = await this.templates.store(tx, workspace, principal, templates);
      const placed =
        here === undefined
          ? await this.#place(tx, workspace, principal, entity, file, judged)
          : { ...here, imported: false };
      const row = await this.repository.version(workspace.id, entity.id, placed.version, tx);
      if (!row) throw pipelineNotFound(entity.id, placed.version);
      return { pipeline: pipelineView(row, judged.warnings), imported: placed.imported, templates: stored };
    });
  }

  /** The release of this number, when it is here with the very content of the file: nothing is left to judge. */
  async #standing(
    existing: PipelineEntity,
    { mark }: ReadPipelineFile,
    stored: JsonObject,
  ): Promise<{ version: number } | undefined> {
    if (mark.version === undefined) return undefined;
    const { versions } = await this.repository.state(this.database, existing);
    const found = versions.find(({ version, status }) => version === mark.version && status === 'RELEASED');
    if (found?.bodyHash !== mark.bodyHash || mark.bodyHash === undefined) return undefined;
    const same = (await this.repository.hash(this.database, stored)) === mark.bodyHash;
    return same ? { version: mark.version } : undefined;
  }

  /** The pipeline a file is about: by its id, or by its name when the file has no id. */
  async #existing(workspaceId: string, { id, body }: ReadPipelineFile): Promise<PipelineEntity | undefined> {
    const { name } = body;
    const found = id ?? (typeof name === 'string' ? await this.catalog.idOf(workspaceId, name) : undefined);
    return found === undefined ? undefined : this.repository.find(workspaceId, found);
  }

  async #create(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    file: ReadPipelineFile,
    { document }: Judgement,
  ): Promise<PipelineEntity> {
    if (!document) throw new TypeError('a body without failures has a document');
    const id = await this.repository.createEntity(tx, workspace.id, file.id, document, principal.userId);
    if (id === undefined) throw nameTaken(document.name, file.id);
    return { id, name: document.name, currentVersion: null };
  }

  async #place(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    { id, name }: PipelineEntity,
    { mark, path }: ReadPipelineFile,
    { document, stored }: Judgement,
  ): Promise<{ version: number; imported: boolean }> {
    const entity = await this.repository.lock(tx, workspace.id, id);
    if (!document || !entity) throw pipelineNotFound(id);
    const hash = await this.repository.hash(tx, stored);
    if (mark.bodyHash !== undefined && mark.bodyHash !== hash) throw wrongHash(path, mark.bodyHash, hash);
    const state = await this.repository.state(tx, entity);
    const decision = decide('import', state, { version: mark.version, bodyHash: hash }, postureOf(this.configuration));
    const version = mark.version ?? nextVersion(state.versions);
    if (!decision.allowed) throw versionTaken(path, { version, hash }, decision.subject);
    if (decision.effect.kind !== 'insertReleased') return { version, imported: false };
    await this.guard.hold(tx, workspace.id, document);
    const pins = templatePins(document);
    const { notReleased } = await this.releases.settlePins(tx, workspace, principal, pins, undefined);
    if (notReleased.length > 0) throw missingTemplates(notReleased);
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
}
