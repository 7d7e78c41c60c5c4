import { Injectable } from '@nestjs/common';
import { Clock, PenstockError, validationError, type JsonObject, type Principal } from '#libs/kernel';
import { authorise } from '#libs/identity';
import { Database } from '#libs/persistence';
import { offeredTemplates, TemplateTransfer, versionedTransaction, type ImportedTemplate } from '#libs/templates';
import { templatePins } from '../document/pipeline-document.js';
import { readStoredDocument } from '../document/stored-document.js';
import { pipelineNotFound } from '../pipeline-reading.js';
import { PipelineCatalog } from '../pipeline-catalog.js';
import { PipelineRepository, type PipelineEntity } from '../pipeline.repository.js';
import { ReleaseGate } from '../ports.js';
import { checksFailed } from '../release-refusals.js';
import { pipelineView, type PipelineView } from '../pipeline-views.js';
import { DocumentValidation } from '../validation/document-validation.js';
import { importRefusal } from './import-refusals.js';
import { pipelineRecord, readPipelineFile, type PipelineFile, type ReadPipelineFile } from './pipeline-file.js';
import { ReleasePlacement } from './release-placement.js';

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
    private readonly clock: Clock,
    private readonly repository: PipelineRepository,
    private readonly catalog: PipelineCatalog,
    private readonly validation: DocumentValidation,
    private readonly placement: ReleasePlacement,
    private readonly templates: TemplateTransfer,
    private readonly gate: ReleaseGate,
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
    const here = existing && (await this.placement.standing(existing, file, judged.stored));
    if (here === undefined && judged.failures.length > 0) throw importRefusal(judged.failures, file.path);
    if (here === undefined && judged.document) {
      const failed = await this.gate.judge(principal, { workspaceId: workspace.id, document: judged.document });
      if (failed.length > 0) throw checksFailed(failed);
    }
    return versionedTransaction(this.database, 'pipeline', async (tx) => {
      const entity = existing ?? (await this.placement.create(tx, workspace, principal, file, judged));
      if (!(await this.repository.lock(tx, workspace.id, entity.id))) throw pipelineNotFound(entity.id);
      const stored = await this.templates.store(tx, workspace, principal, templates);
      const placed =
        here === undefined
          ? await this.placement.place(tx, workspace, principal, entity, file, judged)
          : { ...here, imported: false };
      const row = await this.repository.version(workspace.id, entity.id, placed.version, tx);
      if (!row) throw pipelineNotFound(entity.id, placed.version);
      return { pipeline: pipelineView(row, judged.warnings), imported: placed.imported, templates: stored };
    });
  }

  /** The pipeline a file is about: by its id, or by its name when the file has no id. */
  async #existing(workspaceId: string, { id, body }: ReadPipelineFile): Promise<PipelineEntity | undefined> {
    const { name } = body;
    const found = id ?? (typeof name === 'string' ? await this.catalog.idOf(workspaceId, name) : undefined);
    return found === undefined ? undefined : this.repository.find(workspaceId, found);
  }
}
