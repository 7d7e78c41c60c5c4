import { Injectable } from '@nestjs/common';

import { AuditLog } from '#libs/audit';
import { DatasourceAccess, type DatasourceRecord } from '#libs/datasources';
import { authorise } from '#libs/identity';
import {
  Configuration,
  newId,
  PenstockError,
  type ActingWorkspace,
  type JsonObject,
  type Principal,
} from '#libs/kernel';
import { constraintOf, Database, type Queryable, type Transaction } from '#libs/persistence';

import { factNotFound, refuseForeign } from '../fact-access.js';
import { FactRepository, type FactIdentity } from '../fact.repository.js';
import type { FactRef, LearnedFact } from '../learned-fact.js';
import { refText } from '../rules/fact-refs.js';
import { birthTrust } from '../rules/fact-trust.js';
import { Evidence } from './evidence.js';
import { idOf, readFactBody, type FactBody } from './fact-body.js';
import { LiveRefs, type ResolvedRefs } from './live-refs.js';

export interface RecordedFact {
  fact: LearnedFact;
  /** Tables that the text names and the refs did not. */
  refsAdded: FactRef[];
}

/** Records what somebody found out. Its checks run in the contract's order; a refusal leaves nothing behind (06 §11). */
@Injectable()
export class FactRecording {
  readonly #mostLive: number;

  constructor(
    private readonly db: Database,
    private readonly facts: FactRepository,
    private readonly datasources: DatasourceAccess,
    private readonly liveRefs: LiveRefs,
    private readonly evidence: Evidence,
    private readonly audit: AuditLog,
    configuration: Configuration,
  ) {
    this.#mostLive = configuration.get('datapipelines.semantics.max-live-facts-per-datasource');
  }

  async record(
    principal: Principal,
    datasource: string,
    body: JsonObject,
    gaveUp?: AbortSignal,
  ): Promise<RecordedFact> {
    const workspace = authorise(principal, 'semantic.record');
    const source = await this.datasources.live(workspace.id, datasource);
    if (!source) throw datasourceNotFound(datasource);
    const given = readFactBody(body);
    const pipelineId = await this.#sourcePipeline(workspace, given);
    const resolved = await this.liveRefs.ofFact(source, given.refs, given.fact, gaveUp);
    const identity = identityOf(workspace, source, given, resolved);
    await this.#refuseDuplicate(this.db, identity);
    const summary =
      given.evidenceSql === null ? null : await this.evidence.summary(principal, source, given.evidenceSql, gaveUp);
    const id = newId();
    const insert = {
      ...identity,
      id,
      evidenceSql: given.evidenceSql,
      evidenceSummary: given.evidenceSummary ?? (summary === '' ? null : summary),
      trust: birthTrust(given.scope, given.evidenceSql !== null),
      fingerprint: resolved.fingerprint,
      recordedBy: principal.userId,
      recordedVia: principal.surface,
      recordedIn: workspace.id,
      sourcePipelineId: pipelineId,
      sourceVersion: given.sourceVersion,
      supersedes: given.supersedes === null ? null : (idOf(given.supersedes) ?? null),
    };
    try {
      const fact = await this.db.transaction(async (tx) => {
        await this.facts.lockKind(tx, source.name, given.kind);
        await this.#holdDatasource(tx, workspace, source.name);
        await this.#refuseDuplicate(tx, identity);
        await this.#supersede(tx, principal, workspace, given);
        await this.facts.lockShare(tx, workspace.id, source.name);
        if (!(await this.facts.insert(tx, insert, this.#mostLive))) throw this.#tooMany(source.name);
        await this.audit.append(tx, principal, 'semantics.recorded', {
          fact_id: id,
          kind: given.kind,
          scope: given.scope,
          datasource: source.name,
          refs: resolved.refs.map(refText),
          trust: insert.trust,
          via: principal.surface,
        });
        return await this.facts.find(tx, workspace.id, id);
      });
      if (!fact) throw factNotFound(id);
      return { fact, refsAdded: resolved.added };
    } catch (error) {
      // The pipeline was purged between the look and the insert.
      if (constraintOf(error)?.name === 'learned_facts_source_pipeline_id_fkey')
        throw pipelineNotFound(pipelineId ?? '');
      throw error;
    }
  }

  #tooMany(datasource: string): PenstockError {
    const limit = this.#mostLive;
    return new PenstockError('semantics.too_many_facts', {
      message: `This workspace holds ${limit} live facts about the datasource, which is the limit.`,
      details: { datasource, limit },
    });
  }

  async #sourcePipeline(workspace: ActingWorkspace, given: FactBody): Promise<string | null> {
    if (given.sourcePipelineId === null) return null;
    const id = idOf(given.sourcePipelineId);
    const { sourceVersion } = given;
    if (id === undefined || !(await this.facts.holdsSource(this.db, workspace.id, id, sourceVersion)))
      throw pipelineNotFound(given.sourcePipelineId, sourceVersion);
    return id;
  }

  async #refuseDuplicate(q: Queryable, identity: FactIdentity): Promise<void> {
    const existing = await this.facts.duplicateOf(q, identity);
    if (existing !== undefined) throw new PenstockError('semantics.duplicate', { details: { existing_id: existing } });
  }

  /** A grant revoked since the first look is seen here, and one revoked from now on waits for the commit. */
  async #holdDatasource(tx: Transaction, workspace: ActingWorkspace, name: string): Promise<void> {
    const held = await this.datasources.visibleForShare(tx, workspace.id, [name]);
    if (!held.has(name)) throw datasourceNotFound(name);
  }

  async #supersede(
    tx: Transaction,
    principal: Principal,
    workspace: ActingWorkspace,
    { supersedes }: FactBody,
  ): Promise<void> {
    if (supersedes === null) return;
    const id = idOf(supersedes);
    const old = id === undefined ? undefined : await this.facts.find(tx, workspace.id, id);
    if (!old || old.trust === 'retired') throw factNotFound(supersedes);
    refuseForeign(workspace, 'semantic.retire', old);
    if (!(await this.facts.retire(tx, old.id, 'superseded'))) throw factNotFound(supersedes);
    await this.audit.append(tx, principal, 'semantics.retired', {
      fact_id: old.id,
      kind: old.kind,
      scope: old.scope,
      datasource: old.datasource,
      trust: 'retired',
      via: principal.surface,
      reason: 'superseded',
    });
  }
}

function identityOf(
  workspace: ActingWorkspace,
  { name }: DatasourceRecord,
  { scope, kind, fact }: FactBody,
  { refs }: ResolvedRefs,
): FactIdentity {
  return { scope, workspaceId: scope === 'WORKSPACE' ? workspace.id : null, datasource: name, kind, refs, fact };
}

function datasourceNotFound(datasource: string): PenstockError {
  return new PenstockError('datasource.not_found', { details: { datasource } });
}

function pipelineNotFound(id: string, version: number | null = null): PenstockError {
  return new PenstockError('pipeline.execution.not_found', {
    message: 'There is no such pipeline version in this workspace.',
    details: {
      pipeline_id: id.slice(0, 64).toWellFormed(),
      ...(version === null ? {} : { pipeline_version: version }),
    },
  });
}
