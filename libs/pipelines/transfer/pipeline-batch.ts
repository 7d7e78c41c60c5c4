import { Injectable } from '@nestjs/common';
import {
  Configuration,
  PenstockError,
  validationError,
  type ActingWorkspace,
  type Failure,
  type JsonObject,
  type JsonValue,
  type Principal,
} from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { offeredTemplates, TemplateTransfer, type ImportedTemplate, type ReadTemplateFile } from '#libs/templates';
import { pipelineKey, PinnedPipelines } from '../composition/pinned-pipelines.js';
import { pipelinePins, type PipelineDocument } from '../document/pipeline-document.js';
import { normalForm } from '../document/stored-document.js';
import { PipelineRepository, type PipelineEntity } from '../pipeline.repository.js';
import { ReleaseGate, type FailedCheck } from '../ports.js';
import { DocumentValidation } from '../validation/document-validation.js';
import { belowFirst } from './below-first.js';
import { readBatchEntries, type BatchEntry } from './batch-entry.js';
import { importRefusal, nameTaken, versionTaken, wrongHash } from './import-refusals.js';
import { ReleasePlacement } from './release-placement.js';

/** A batch as it could be read. */
export interface ReleaseBatch {
  templates: readonly ReadTemplateFile[];
  pipelines: readonly BatchEntry[];
}

/** An entry that may be stored. `document` is absent where the same release stands here already. */
export interface JudgedEntry {
  entry: BatchEntry;
  stored: JsonObject;
  document?: PipelineDocument;
}

/** A batch that may be stored, children before the parents that pin them. */
export interface JudgedBatch {
  templates: readonly ReadTemplateFile[];
  pipelines: readonly JudgedEntry[];
}

/** What became of one pipeline. */
export interface BatchedPipeline {
  id: string;
  name: string;
  version: number;
  imported: boolean;
  /** Whether it became the current version now. */
  switched: boolean;
}

/** Releases of several pipelines with the templates they need, judged and landed as a whole (contract 05 §13). */
@Injectable()
export class PipelineBatch {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: PipelineRepository,
    private readonly pinned: PinnedPipelines,
    private readonly validation: DocumentValidation,
    private readonly placement: ReleasePlacement,
    private readonly templates: TemplateTransfer,
    private readonly gate: ReleaseGate,
  ) {}

  /** @throws PenstockError with every failure of the first list that has any */
  async read(sent: { templates: JsonValue | undefined; pipelines: JsonValue | undefined }): Promise<ReleaseBatch> {
    const most = this.configuration.get('datapipelines.limits.max-import-entries');
    const pipelines = readBatchEntries('pipelines', sent.pipelines, most);
    return { templates: await this.templates.read('templates', sent.templates), pipelines };
  }

  /**
   * Everything that can be judged without a metadata transaction: hashes, numbers, every rule of a save, and the checks
   * of what is new here on the datasources of this deployment. The checks leave no history and cannot be overridden.
   *
   * @throws PenstockError with what refuses, of all entries at once
   */
  async judge(principal: Principal, workspace: ActingWorkspace, batch: ReleaseBatch): Promise<JudgedBatch> {
    const identified = await Promise.all(batch.pipelines.map((entry) => this.#identify(workspace, entry)));
    const defects = identified.flatMap(({ failures }) => failures);
    if (defects.length > 0) throw validationError(defects);
    const fresh = identified.filter(({ standing }) => !standing);
    const children = await this.pinned.shapes(
      fresh.flatMap(({ entry, form, stored }) =>
        form ? [{ name: form.name, version: entry.mark.version, body: stored }] : [],
      ),
    );
    const offered = offeredTemplates(batch.templates);
    const judged = new Map<BatchEntry, JudgedEntry>();
    const failures: Failure[] = [];
    for (const { entry, existing } of fresh) {
      const options = { offered, children, ...(existing ? { immutableName: existing.name } : {}) };
      const found = await this.validation.judge(workspace.id, entry.body, options);
      failures.push(...found.failures.map((failure) => ({ ...failure, path: `${entry.path}.${failure.path}` })));
      if (found.document) judged.set(entry, { entry, stored: found.stored, document: found.document });
    }
    if (failures.length > 0) throw importRefusal(failures, '');
    await this.#requireChecks(principal, workspace, [...judged.values()]);
    const all = identified.map(({ entry, stored }) => judged.get(entry) ?? { entry, stored });
    return { templates: batch.templates, pipelines: childrenFirst(all) };
  }

  /** Stores the whole in the caller's transaction; a release that stands here already is left as it is. */
  async store(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    { templates, pipelines }: JudgedBatch,
  ): Promise<{ templates: ImportedTemplate[]; pipelines: BatchedPipeline[] }> {
    const entities = new Map<string, PipelineEntity>();
    const byId = [...pipelines].sort((one, other) => (one.entry.id < other.entry.id ? -1 : 1));
    for (const judged of byId) {
      if (entities.has(judged.entry.id)) continue;
      entities.set(judged.entry.id, await this.#entity(tx, workspace, principal, judged));
    }
    const stored = await this.templates.store(tx, workspace, principal, templates, { raisePointers: true });
    const placed: BatchedPipeline[] = [];
    for (const judged of pipelines) {
      const { entry } = judged;
      const entity = entities.get(entry.id)!;
      const { version, imported } = await this.#place(tx, workspace, principal, entity, judged);
      const first = imported && entity.currentVersion === null;
      if (first) entity.currentVersion = version;
      const raised = entry.current && (await this.placement.raise(tx, workspace, principal, entity.id, version));
      const switched = first || raised;
      placed.push({ id: entity.id, name: entity.name, version, imported, switched });
    }
    return { templates: stored, pipelines: placed };
  }

  /** Which pipeline an entry is here, and whether its release stands already. */
  async #identify(workspace: ActingWorkspace, entry: BatchEntry) {
    const { mark, path, body } = entry;
    const { stored, document: form } = normalForm(body);
    const failures: Failure[] = [];
    const hash = await this.repository.hash(this.database, stored);
    if (hash !== mark.bodyHash) failures.push(wrongHash(path, mark.bodyHash, hash));
    const existing = await this.repository.find(workspace.id, entry.id);
    const { versions } = existing ? await this.repository.state(this.database, existing) : { versions: [] };
    const here = versions.find(({ version }) => version === mark.version);
    const standing = here?.status === 'RELEASED' && here.bodyHash === hash;
    if (here && !standing) failures.push(versionTaken(path, { version: mark.version, hash }, here));
    return { entry, stored, form, existing, standing, failures };
  }

  async #requireChecks(
    principal: Principal,
    workspace: ActingWorkspace,
    entries: readonly JudgedEntry[],
  ): Promise<void> {
    const checks: (FailedCheck & { pipeline: string; pipeline_version: number })[] = [];
    for (const { entry, document } of entries) {
      if (!document) continue;
      const failed = await this.gate.judge(principal, { workspaceId: workspace.id, document });
      const of = { pipeline: document.name, pipeline_version: entry.mark.version };
      checks.push(...failed.map((check) => ({ ...of, ...check })));
    }
    if (checks.length === 0) return;
    throw new PenstockError('pipeline.check.failed', {
      message: `${checks.length} of the release checks did not pass on this deployment's own data; nothing was stored.`,
      details: { checks },
    });
  }

  /** Takes the index row, made now where there is none. An import at the same moment may make it first. */
  async #entity(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    { entry, stored, document }: JudgedEntry,
  ): Promise<PipelineEntity> {
    const find = () => this.repository.lock(tx, workspace.id, entry.id);
    const entity =
      (await find()) ?? (document && (await this.#create(tx, workspace, principal, entry, document))) ?? (await find());
    const name = String(stored['name']);
    if (!entity || entity.name !== name) throw nameTaken(name, entry.id);
    return entity;
  }

  async #create(
    tx: Transaction,
    workspace: ActingWorkspace,
    { userId }: Principal,
    { id }: BatchEntry,
    document: PipelineDocument,
  ): Promise<PipelineEntity | undefined> {
    const made = await this.repository.createEntity(tx, workspace.id, id, document, userId);
    return made === undefined ? undefined : { id: made, name: document.name, currentVersion: null };
  }

  /** @throws `pipeline.import.version_conflict` where a release that stood here at the judgement does so no more */
  async #place(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    entity: PipelineEntity,
    { entry, stored, document }: JudgedEntry,
  ) {
    if (document) return this.placement.place(tx, workspace, principal, entity, entry, { document, stored });
    const standing = await this.placement.standing(entity, entry, stored, tx);
    const { version, bodyHash: hash } = entry.mark;
    if (!standing) throw validationError([versionTaken(entry.path, { version, hash }, undefined)]);
    return { version, imported: false };
  }
}

/** Each entry after those of the batch that it pins; a circle was refused before. */
function childrenFirst(entries: readonly JudgedEntry[]): JudgedEntry[] {
  const keyOf = ({ stored, entry }: JudgedEntry) =>
    pipelineKey({ name: String(stored['name']), version: entry.mark.version });
  const byKey = new Map(entries.map((each) => [keyOf(each), each]));
  return belowFirst(entries, ({ document }) =>
    document ? pipelinePins(document).flatMap((ref) => byKey.get(pipelineKey(ref)) ?? []) : [],
  );
}
