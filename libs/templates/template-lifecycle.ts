import { Injectable } from '@nestjs/common';
import { Configuration, PenstockError, validationError, type ActingWorkspace, type Principal } from '#libs/kernel';
import { AuditLog } from '#libs/audit';
import { authorise, type OperationId } from '#libs/identity';
import {
  decide,
  draftOf,
  refusal,
  requireIfMatch,
  parseIfMatch,
  working,
  type Allowed,
  type EntityState,
  type Verb,
  type VerbInputs,
} from '#libs/lifecycle';
import { Database, type Transaction } from '#libs/persistence';
import { ContentBus } from '#libs/transient';
import { postureOf } from './posture.js';
import { readImports } from './template-catalog.js';
import { TemplatePins } from './template-pins.js';
import { templateNotFound } from './template-reading.js';
import { TemplateReleases } from './template-releases.js';
import { TemplateRepository, type TemplateEntity } from './template.repository.js';
import { TemplateValidation } from './template-validation.js';
import { templateView, type TemplateView } from './template-views.js';
import { versionedTransaction } from './versioned-transaction.js';

/** A verb under way: the locked template, what it was, and what was decided. */
interface Act {
  tx: Transaction;
  workspace: ActingWorkspace;
  entity: TemplateEntity;
  state: EntityState;
}

/** Release, discard, restore, switch and purge of templates (contract 05 §10). */
@Injectable()
export class TemplateLifecycle {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: TemplateRepository,
    private readonly validation: TemplateValidation,
    private readonly releases: TemplateReleases,
    private readonly pins: TemplatePins,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /** Releases the draft with the given hash, after its body passed every rule again and every import is RELEASED. */
  async release(principal: Principal, name: string, ifMatch: string | undefined): Promise<TemplateView> {
    const workspace = authorise(principal, 'template.release');
    this.#requireAuthoring();
    const baseHash = requireIfMatch(ifMatch);
    const draft = await this.repository.version(workspace.id, name, undefined);
    if (draft?.status === 'DRAFT' && draft.bodyHash === baseHash) {
      const failures = await this.validation.judge(workspace.id, `${name}@${draft.version}`, {
        body: draft.body,
        isLibrary: draft.isLibrary,
        imports: readImports(draft.imports),
      });
      if (failures.length > 0) throw validationError(failures);
    }
    return this.#act(principal, 'template.release', name, async (act) => {
      const decision = this.#decide('release', act, { baseHash });
      const version = draftOf(act.state)!.version;
      await this.repository.lockVersion(act.tx, act.entity.id, version);
      await this.releases.requireReleasedImports(act.tx, workspace.id, name, version);
      await this.#carryOut(act, decision, principal);
      await this.#record(act, principal, 'template.version.released', { version });
      return version;
    });
  }

  /**
   * Deletes the draft. A key may only take back its owner's own template that nobody released or uses
   * (contract 05 §11).
   */
  async purgeDraft(principal: Principal, name: string, ifMatch: string | undefined): Promise<void> {
    authorise(principal, 'template.purge_draft');
    const baseHash = requireIfMatch(ifMatch);
    await this.#purge(principal, 'template.purge_draft', name, baseHash, (act) => {
      const draft = draftOf(act.state);
      if (!draft) throw refusal('template', { reason: 'not_draft', subject: working(act.state) });
      const own = act.entity.createdBy === principal.userId && act.state.versions.length === 1;
      if (principal.method === 'api_key' && !own) {
        throw new PenstockError('auth.session.required', { details: { operation: 'template.purge_draft' } });
      }
      return draft.version;
    });
  }

  /** Deletes one version, which must be a draft. */
  async purgeVersion(principal: Principal, name: string, version: number, ifMatch?: string): Promise<void> {
    await this.#purge(principal, 'template.purge', name, parseIfMatch(ifMatch), () => version);
  }

  /** Deletes a template that is nothing but its draft. */
  async purge(principal: Principal, name: string, ifMatch?: string): Promise<void> {
    const baseHash = parseIfMatch(ifMatch);
    await this.#act(principal, 'template.purge', name, async (act) => {
      const decision = this.#decide('purgeEntity', act, { baseHash });
      const version = act.state.versions[0]!.version;
      await this.repository.lockVersion(act.tx, act.entity.id, version);
      await this.#requireUnused(act);
      await this.#carryOut(act, decision, principal);
      await this.#record(act, principal, 'template.purged', { version });
      return undefined;
    });
  }

  async discard(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.#act(principal, 'template.discard', name, async (act) => {
      const decision = this.#decide('discard', act, { version });
      await this.repository.lockVersion(act.tx, act.entity.id, version);
      await this.#requireUnused(act, version);
      await this.#carryOut(act, decision, principal);
      await this.#record(act, principal, 'template.version.discarded', { version });
      return version;
    });
  }

  async restore(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.#act(principal, 'template.restore', name, async (act) => {
      const decision = this.#decide('restore', act, { version });
      await this.#carryOut(act, decision, principal);
      await this.#record(act, principal, 'template.version.restored', { version });
      return version;
    });
  }

  /** Moves the pointer by hand, down too; possible also where authoring is disabled. */
  async switchCurrent(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.#act(principal, 'template.switch', name, async (act) => {
      const decision = this.#decide('switch', act, { version });
      await this.#carryOut(act, decision, principal);
      await this.#record(act, principal, 'template.current_switched', {
        version,
        from: act.state.currentVersion,
        to: version,
      });
      return version;
    });
  }

  async #purge(
    principal: Principal,
    operation: OperationId,
    name: string,
    baseHash: string | undefined,
    choose: (act: Act) => number,
  ): Promise<void> {
    await this.#act(principal, operation, name, async (act) => {
      const version = choose(act);
      const decision = this.#decide('purge', act, { version, baseHash });
      await this.repository.lockVersion(act.tx, act.entity.id, version);
      await this.#requireUnused(act, decision.effect.kind === 'deleteEntity' ? undefined : version);
      await this.#carryOut(act, decision, principal);
      const whole = decision.effect.kind === 'deleteEntity';
      await this.#record(act, principal, whole ? 'template.purged' : 'template.version.purged', { version });
      return undefined;
    });
  }

  /** Locks the template, runs the verb in one transaction, and reads back the version it returns. */
  async #act<R extends number | undefined>(
    principal: Principal,
    operation: OperationId,
    name: string,
    verb: (act: Act) => Promise<R>,
  ): Promise<R extends number ? TemplateView : void> {
    const workspace = authorise(principal, operation);
    if (operation !== 'template.switch') this.#requireAuthoring();
    const view = await versionedTransaction(this.database, 'template', async (tx) => {
      const entity = await this.repository.lock(tx, workspace.id, name);
      if (!entity) throw templateNotFound(name);
      const version = await verb({ tx, workspace, entity, state: await this.repository.state(tx, entity) });
      this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: entity.name });
      if (version === undefined) return undefined;
      const row = await this.repository.version(workspace.id, name, version, tx);
      if (!row) throw templateNotFound(name, version);
      return templateView(row);
    });
    return view as R extends number ? TemplateView : void;
  }

  #decide<V extends Verb>(verb: V, act: Act, input: VerbInputs[V]): Allowed {
    const decision = decide(verb, act.state, input, postureOf(this.configuration));
    if (decision.allowed) return decision;
    if (decision.reason === 'not_found') {
      throw templateNotFound(act.entity.name, 'version' in input ? input.version : undefined);
    }
    throw refusal('template', decision);
  }

  async #carryOut(act: Act, { effect, currentVersion }: Allowed, principal: Principal): Promise<void> {
    const { tx, entity, state } = act;
    if (!(await this.repository.apply(tx, entity.id, effect, principal.userId))) {
      const now = await this.repository.state(tx, entity);
      throw refusal('template', { reason: 'conflict', subject: working(now) });
    }
    if (effect.kind !== 'deleteEntity' && currentVersion !== state.currentVersion) {
      await this.repository.movePointer(tx, entity.id, currentVersion);
    }
  }

  async #requireUnused({ tx, workspace, entity }: Act, version?: number): Promise<void> {
    const { referencing_pipelines, references } = await this.pins.pinsOf(tx, workspace.id, entity.name, version);
    const referencing_templates = await this.repository.importers(tx, workspace.id, entity.name, version);
    if (references.length === 0 && referencing_templates.length === 0) return;
    throw new PenstockError('template.in_use', {
      message: 'Pipelines or templates use this version: point them to another version first.',
      details: { template_id: entity.name, referencing_pipelines, references, referencing_templates },
    });
  }

  async #record(
    { tx, entity, workspace }: Act,
    principal: Principal,
    event:
      | 'template.version.released'
      | 'template.version.discarded'
      | 'template.version.restored'
      | 'template.version.purged'
      | 'template.purged'
      | 'template.current_switched',
    details: { version: number; from?: number | null; to?: number | null },
  ): Promise<void> {
    await this.audit.append(tx, { ...principal, workspace }, event, {
      id: entity.id,
      name: entity.name,
      via: principal.surface,
      ...details,
    });
  }

  #requireAuthoring(): void {
    if (!postureOf(this.configuration).authoringEnabled) throw refusal('template', { reason: 'authoring_disabled' });
  }
}
