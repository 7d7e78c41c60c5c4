import { Injectable } from '@nestjs/common';
import { Configuration, PenstockError, type ActingWorkspace, type Principal } from '#libs/kernel';
import { AuditLog, type AuditDetails } from '#libs/audit';
import { authorise, type OperationId } from '#libs/identity';
import {
  decide,
  draftOf,
  parseIfMatch,
  refusal,
  requireIfMatch,
  working,
  type Allowed,
  type EntityState,
  type Verb,
  type VerbInputs,
} from '#libs/lifecycle';
import { Database, type Transaction } from '#libs/persistence';
import { ExclusiveDrafts, postureOf, TemplateReleases, versionedTransaction } from '#libs/templates';
import { ContentBus } from '#libs/transient';
import { PipelinePinGuard } from './composition/pipeline-pin-guard.js';
import { pipelinePins, templatePins } from './document/pipeline-document.js';
import { readStoredDocument, storedTree } from './document/stored-document.js';
import { pipelineNotFound } from './pipeline-reading.js';
import { ExecutionPurge, PublishedEndpointReferences, ReleaseGate } from './ports.js';
import { checksFailed, overrideReason } from './release-refusals.js';
import { PipelineRepository, type PipelineEntity } from './pipeline.repository.js';
import { pipelineView, type PipelineView } from './pipeline-views.js';
import { DocumentValidation } from './validation/document-validation.js';
import { ReferenceGuard } from './validation/reference-guard.js';

export interface ReleaseOptions {
  /** Releases pinned DRAFT templates in the same transaction, libraries first; otherwise they refuse the release. */
  releasePinnedTemplates?: boolean;
  /** Why failed checks do not matter, 10 characters or more; releases all the same, and is audited. */
  overrideChecksReason?: string;
}

export interface PurgeOptions {
  /** Also purges templates that are nothing but a draft and that nothing else uses. */
  includeExclusiveDraftTemplates?: boolean;
}

/** What a purge took away, and the draft templates that only this pipeline used. */
export interface PurgeReport {
  purged: boolean;
  exclusive_draft_templates: string[];
  exclusive_draft_templates_purged: string[];
}

type PipelineEvent =
  | 'pipeline.version.released'
  | 'pipeline.version.discarded'
  | 'pipeline.version.restored'
  | 'pipeline.version.purged'
  | 'pipeline.purged'
  | 'pipeline.current_switched';

/** A verb under way: the locked pipeline, what it was, who acts. */
interface Act {
  tx: Transaction;
  workspace: ActingWorkspace;
  principal: Principal;
  entity: PipelineEntity;
  state: EntityState;
}

/** Release, discard, restore, switch and purge of pipelines (contract 05 §10, §11). */
@Injectable()
export class PipelineLifecycle {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: PipelineRepository,
    private readonly validation: DocumentValidation,
    private readonly guard: ReferenceGuard,
    private readonly pins: PipelinePinGuard,
    private readonly templates: TemplateReleases,
    private readonly exclusives: ExclusiveDrafts,
    private readonly executions: ExecutionPurge,
    private readonly endpoints: PublishedEndpointReferences,
    private readonly gate: ReleaseGate,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /**
   * Releases the draft with the given hash. Its stored body passes every rule again, outside any transaction; then one
   * transaction demands every pin RELEASED, flips, and moves the pointer. A crash before leaves the draft as it was.
   */
  async release(
    principal: Principal,
    pipelineId: string,
    ifMatch: string | undefined,
    options: ReleaseOptions = {},
  ): Promise<PipelineView> {
    const workspace = authorise(principal, 'pipeline.release');
    this.#requireAuthoring();
    const baseHash = requireIfMatch(ifMatch);
    const reason = overrideReason(options.overrideChecksReason);
    const draft = await this.repository.version(workspace.id, pipelineId, undefined);
    if (!draft) throw pipelineNotFound(pipelineId);
    if (draft.status !== 'DRAFT' || draft.bodyHash !== baseHash) {
      const state = await this.repository.state(this.database, { ...draft, id: draft.pipelineId });
      this.#decide('release', { entity: draft, state }, { baseHash });
      throw refusal('pipeline', { reason: 'conflict', subject: working(state) });
    }
    const { document } = await this.validation.accept(workspace.id, storedTree(draft.body));
    const stored = { pipelineId: draft.pipelineId, version: draft.version };
    const failed = await this.gate.judge(principal, { workspaceId: workspace.id, document, stored });
    if (failed.length > 0 && reason === undefined) throw checksFailed(failed);
    return this.#act(principal, 'pipeline.release', pipelineId, async (act) => {
      const decision = this.#decide('release', act, { baseHash });
      await this.repository.lockVersion(act.tx, act.entity.id, draft.version);
      await this.guard.holdAllButTemplates(act.tx, workspace.id, document);
      const pins = templatePins(document);
      const cause = { pipelineId: act.entity.id, version: draft.version };
      const { notReleased, released } = await this.templates.settlePins(
        act.tx,
        workspace,
        principal,
        pins,
        options.releasePinnedTemplates ? cause : undefined,
      );
      if (notReleased.length > 0) {
        throw new PenstockError('pipeline.release.template_not_released', {
          message: 'Release the pinned templates first, or release them together with the pipeline.',
          details: { ...notReleased[0], pins_not_released: notReleased },
        });
      }
      await this.#carryOut(act, decision);
      await this.repository.describe(act.tx, act.entity.id, document.displayName, document.description);
      await this.#record(act, 'pipeline.version.released', draft.version, {
        templates_released: released,
        ...(failed.length > 0 ? { checks_overridden: failed.map(({ id }) => id), override_reason: reason } : {}),
      });
      return draft.version;
    });
  }

  async discard(principal: Principal, pipelineId: string, version: number): Promise<PipelineView> {
    return this.#act(principal, 'pipeline.discard', pipelineId, async (act) => {
      const decision = this.#decide('discard', act, { version });
      await this.repository.lockVersion(act.tx, act.entity.id, version);
      await this.pins.refuseWhilePinned(act.tx, act.workspace.id, act.entity.name, version);
      await this.#carryOut(act, decision);
      await this.#record(act, 'pipeline.version.discarded', version);
      return version;
    });
  }

  async restore(principal: Principal, pipelineId: string, version: number): Promise<PipelineView> {
    return this.#act(principal, 'pipeline.restore', pipelineId, async (act) => {
      const decision = this.#decide('restore', act, { version });
      const row = await this.repository.version(act.workspace.id, pipelineId, version, act.tx);
      const document = row && readStoredDocument(row.body);
      if (document) await this.pins.refuseDiscardedPins(act.tx, act.workspace.id, pipelinePins(document));
      await this.#carryOut(act, decision);
      await this.#record(act, 'pipeline.version.restored', version);
      return version;
    });
  }

  /** Moves the pointer by hand, down too; possible also where authoring is disabled. */
  async switchCurrent(principal: Principal, pipelineId: string, version: number): Promise<PipelineView> {
    return this.#act(principal, 'pipeline.switch', pipelineId, async (act) => {
      const decision = this.#decide('switch', act, { version });
      await this.#carryOut(act, decision);
      await this.#record(act, 'pipeline.current_switched', version, { from: act.state.currentVersion, to: version });
      return version;
    });
  }

  /** Deletes the draft with the given hash, its executions and their events. */
  async purgeDraft(principal: Principal, pipelineId: string, ifMatch: string | undefined): Promise<void> {
    authorise(principal, 'pipeline.purge');
    const baseHash = requireIfMatch(ifMatch);
    await this.#act(principal, 'pipeline.purge', pipelineId, async (act) => {
      const draft = draftOf(act.state);
      if (!draft) throw refusal('pipeline', { reason: 'not_draft', subject: working(act.state) });
      await this.#purge(act, this.#decide('purge', act, { version: draft.version, baseHash }), draft.version);
      return undefined;
    });
  }

  /** Deletes one version, which must be a draft. A hash that is sent is honoured. */
  async purgeVersion(principal: Principal, pipelineId: string, version: number, ifMatch?: string): Promise<void> {
    const baseHash = parseIfMatch(ifMatch);
    await this.#act(principal, 'pipeline.purge', pipelineId, async (act) => {
      await this.#purge(act, this.#decide('purge', act, { version, baseHash }), version);
      return undefined;
    });
  }

  /** Deletes a pipeline that is nothing but its draft. */
  async purge(
    principal: Principal,
    pipelineId: string,
    options: PurgeOptions = {},
    ifMatch?: string,
  ): Promise<PurgeReport> {
    const baseHash = parseIfMatch(ifMatch);
    let report: PurgeReport = { purged: false, exclusive_draft_templates: [], exclusive_draft_templates_purged: [] };
    await this.#act(principal, 'pipeline.purge', pipelineId, async (act) => {
      const decision = this.#decide('purgeEntity', act, { baseHash });
      const version = act.state.versions[0]!.version;
      const row = await this.repository.version(act.workspace.id, pipelineId, version, act.tx);
      const document = row && readStoredDocument(row.body);
      const pinned = document ? templatePins(document).map(({ id }) => id) : [];
      await this.#purge(act, decision, version);
      const purge = options.includeExclusiveDraftTemplates === true;
      const exclusive = await this.exclusives.settle(act.tx, act.workspace, principal, pinned, purge);
      report = {
        purged: true,
        exclusive_draft_templates: exclusive,
        exclusive_draft_templates_purged: purge ? exclusive : [],
      };
      return undefined;
    });
    return report;
  }

  /** Executions reference their version, so they go first; a launch that comes too late meets a missing row. */
  async #purge(act: Act, decision: Allowed, version: number): Promise<void> {
    const { tx, entity } = act;
    const whole = decision.effect.kind === 'deleteEntity';
    await this.repository.lockVersion(tx, entity.id, version);
    if (whole) {
      await this.pins.refuseWhilePinned(tx, act.workspace.id, entity.name);
      const endpoints = await this.endpoints.namesFor(tx, entity.id);
      if (endpoints.length > 0) {
        throw new PenstockError('pipeline.version.pinned', {
          message: 'Published endpoints serve this pipeline: unpublish them first.',
          details: { endpoints },
        });
      }
    }
    const executions = await this.executions.purge(tx, entity.id, whole ? undefined : version);
    if (whole) await this.repository.deleteCheckRuns(tx, entity.id);
    await this.#carryOut(act, decision);
    await this.#record(act, whole ? 'pipeline.purged' : 'pipeline.version.purged', version, { executions });
  }

  /** Locks the pipeline, runs the verb in one transaction, and reads back the version it returns. */
  async #act<R extends number | undefined>(
    principal: Principal,
    operation: OperationId,
    pipelineId: string,
    verb: (act: Act) => Promise<R>,
  ): Promise<R extends number ? PipelineView : void> {
    const workspace = authorise(principal, operation);
    if (operation !== 'pipeline.switch') this.#requireAuthoring();
    const view = await versionedTransaction(this.database, 'pipeline', async (tx) => {
      const entity = await this.repository.lock(tx, workspace.id, pipelineId);
      if (!entity) throw pipelineNotFound(pipelineId);
      const state = await this.repository.state(tx, entity);
      const version = await verb({ tx, workspace, principal, entity, state });
      this.content.announce(tx, { kind: 'pipeline', workspaceId: workspace.id, id: entity.id });
      if (version === undefined) return undefined;
      const row = await this.repository.version(workspace.id, pipelineId, version, tx);
      if (!row) throw pipelineNotFound(pipelineId, version);
      return pipelineView(row);
    });
    return view as R extends number ? PipelineView : void;
  }

  #decide<V extends Verb>(
    verb: V,
    { entity, state }: { entity: { id?: string; pipelineId?: string }; state: EntityState },
    input: VerbInputs[V],
  ): Allowed {
    const decision = decide(verb, state, input, postureOf(this.configuration));
    if (decision.allowed) return decision;
    if (decision.reason === 'not_found') {
      throw pipelineNotFound(entity.id ?? entity.pipelineId ?? '', 'version' in input ? input.version : undefined);
    }
    throw refusal('pipeline', decision);
  }

  async #carryOut({ tx, entity, state, principal }: Act, { effect, currentVersion }: Allowed): Promise<void> {
    if (!(await this.repository.apply(tx, entity.id, effect, principal.userId))) {
      throw refusal('pipeline', { reason: 'conflict', subject: working(await this.repository.state(tx, entity)) });
    }
    if (effect.kind !== 'deleteEntity' && currentVersion !== state.currentVersion) {
      await this.repository.movePointer(tx, entity.id, currentVersion);
    }
  }

  async #record(
    { tx, entity, workspace, principal }: Act,
    event: PipelineEvent,
    version: number,
    more: AuditDetails<'pipeline.version.released'> = {},
  ): Promise<void> {
    const details = { id: entity.id, name: entity.name, version, via: principal.surface, ...more };
    await this.audit.append(tx, { ...principal, workspace }, event, details);
  }

  #requireAuthoring(): void {
    if (!postureOf(this.configuration).authoringEnabled) throw refusal('pipeline', { reason: 'authoring_disabled' });
  }
}
