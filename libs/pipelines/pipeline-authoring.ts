import { Injectable } from '@nestjs/common';
import {
  Configuration,
  listedFailures,
  PenstockError,
  type Failure,
  type JsonValue,
  type Principal,
} from '#libs/kernel';
import { authorise } from '#libs/identity';
import { decide, newRootRefusal, refusal, requireIfMatch, working } from '#libs/lifecycle';
import { constraintOf, Database, type Transaction } from '#libs/persistence';
import { postureOf, versionedTransaction } from '#libs/templates';
import { ContentBus } from '#libs/transient';
import type { DocumentWarning } from './document/notes.js';
import { PipelineBrowseRepository } from './pipeline-browse.repository.js';
import { pipelineNotFound } from './pipeline-reading.js';
import { PipelineRepository, type PipelineEntity } from './pipeline.repository.js';
import { pipelineView, type PipelineView } from './pipeline-views.js';
import { DocumentValidation, type AcceptedDocument } from './validation/document-validation.js';
import { ReferenceGuard } from './validation/reference-guard.js';

/** Answer of a validation that stores nothing. */
export interface ValidationReport {
  valid: boolean;
  failures: readonly Failure[];
  /** There are more than the failures listed. */
  truncated?: true;
  warnings: readonly DocumentWarning[];
  /** Of the normal form: the hash a save of this body would have; null when it would be refused (contract 10 §1). */
  body_hash: string | null;
}

/** Creates pipelines and writes their drafts; every write passes every rule (contract 01 §10). */
@Injectable()
export class PipelineAuthoring {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: PipelineRepository,
    private readonly validation: DocumentValidation,
    private readonly guard: ReferenceGuard,
    private readonly browse: PipelineBrowseRepository,
    private readonly content: ContentBus,
  ) {}

  /**
   * Version 1 as a draft; the pointer names nothing until the first release. `confirmNewRoot`: over MCP a new top-level
   * folder is made on purpose only.
   */
  async create(
    principal: Principal,
    body: JsonValue,
    options: { confirmNewRoot?: boolean } = {},
  ): Promise<PipelineView> {
    const workspace = authorise(principal, 'pipeline.create');
    this.#requireAuthoring();
    const accepted = await this.validation.accept(workspace.id, body);
    const { document, stored } = accepted;
    if (principal.surface === 'mcp' && options.confirmNewRoot !== true) {
      const refused = newRootRefusal('pipeline', document.name, await this.browse.roots(workspace.id));
      if (refused) throw refused;
    }
    try {
      return await versionedTransaction(this.database, 'pipeline', async (tx) => {
        await this.guard.hold(tx, workspace.id, document);
        const id = await this.repository.create(tx, workspace.id, document, stored, principal);
        this.content.announce(tx, { kind: 'pipeline', workspaceId: workspace.id, id });
        return this.#view(tx, workspace.id, id, 1, accepted.warnings);
      });
    } catch (error) {
      if (constraintOf(error)?.name !== 'uq_pipelines_workspace_name') throw error;
      throw new PenstockError('pipeline.validation.duplicate_name', {
        message: 'A pipeline of this workspace already has this name; names stay taken, discarded pipelines included.',
        details: { name: document.name },
      });
    }
  }

  /**
   * Writes the whole body: copy-on-write over a release, in place over a draft, nothing when it equals the release it
   * is based on. A pipeline is never renamed.
   */
  async update(
    principal: Principal,
    pipelineId: string,
    body: JsonValue,
    ifMatch: string | undefined,
  ): Promise<PipelineView> {
    const workspace = authorise(principal, 'pipeline.update');
    this.#requireAuthoring();
    const baseHash = requireIfMatch(ifMatch);
    const existing = await this.repository.find(workspace.id, pipelineId);
    if (!existing) throw pipelineNotFound(pipelineId);
    const accepted = await this.validation.accept(workspace.id, body, { immutableName: existing.name });
    return versionedTransaction(this.database, 'pipeline', async (tx) => {
      const entity = await this.repository.lock(tx, workspace.id, pipelineId);
      if (!entity) throw pipelineNotFound(pipelineId);
      const version = await this.#write(tx, workspace.id, entity, accepted, baseHash, principal);
      this.content.announce(tx, { kind: 'pipeline', workspaceId: workspace.id, id: entity.id });
      return this.#view(tx, workspace.id, pipelineId, version, accepted.warnings);
    });
  }

  /** Judges a body as a save would, and stores nothing. */
  async validate(principal: Principal, body: JsonValue): Promise<ValidationReport> {
    const workspace = authorise(principal, 'pipeline.validate');
    const { failures, warnings, stored } = await this.validation.judge(workspace.id, body);
    const valid = failures.length === 0;
    const body_hash = valid ? await this.repository.hash(this.database, stored) : null;
    return { valid, ...listedFailures(failures), warnings, body_hash };
  }

  /** The number of the version that now holds the body. */
  async #write(
    tx: Transaction,
    workspaceId: string,
    entity: PipelineEntity,
    { document, stored }: AcceptedDocument,
    baseHash: string,
    principal: Principal,
  ): Promise<number> {
    const state = await this.repository.state(tx, entity);
    const base = working(state);
    const sameBody = base?.status === 'RELEASED' && base.bodyHash === (await this.repository.hash(tx, stored));
    const decision = decide('write', state, { baseHash, sameBody }, postureOf(this.configuration));
    if (!decision.allowed) throw refusal('pipeline', decision);
    const { effect } = decision;
    if (effect.kind === 'none') return base!.version;
    await this.guard.hold(tx, workspaceId, document);
    if (effect.kind === 'insertDraft') {
      await this.repository.insertDraft(tx, entity.id, effect.version, stored, principal);
      return effect.version;
    }
    if (effect.kind !== 'overwriteDraft') throw refusal('pipeline', { reason: 'conflict', subject: base });
    if (!(await this.repository.overwriteDraft(tx, entity.id, effect, stored, principal))) {
      throw refusal('pipeline', { reason: 'conflict', subject: working(await this.repository.state(tx, entity)) });
    }
    if (state.versions.length === 1) {
      // Nothing of it was ever released, so the draft is all that lists can show.
      await this.repository.describe(tx, entity.id, document.displayName, document.description);
    }
    return effect.version;
  }

  async #view(
    tx: Transaction,
    workspaceId: string,
    id: string,
    version: number,
    warnings: readonly DocumentWarning[],
  ): Promise<PipelineView> {
    const row = await this.repository.version(workspaceId, id, version, tx);
    if (!row) throw pipelineNotFound(id, version);
    return pipelineView(row, warnings);
  }

  #requireAuthoring(): void {
    if (!postureOf(this.configuration).authoringEnabled) throw refusal('pipeline', { reason: 'authoring_disabled' });
  }
}
