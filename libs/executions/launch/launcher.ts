import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import { isPenstockError, newId, PenstockError, validationError, writeJson, type Principal } from '#libs/kernel';
import { constraintOf } from '#libs/persistence';
import {
  bindParameters,
  encodeContext,
  PipelineCatalog,
  type BoundParameters,
  type RunnableVersion,
} from '#libs/pipelines';
import { TemplateCatalog } from '#libs/templates';
import type { TypedValue } from '#libs/typesystem';
import { rootLineage } from '../family/lineage.js';
import { ExecutionInstance } from '../instance/execution-instance.js';
import type { Reservation } from '../instance/run-registry.js';
import type { UserLease } from '../instance/user-leases.js';
import { ExecutionInserts, type RecordedExecution } from '../records/execution-inserts.js';
import { FinishedRuns } from '../records/finished-runs.js';
import { sourcesOf, usesTempdb } from '../run/node-limits.js';
import type { MemoryReservation } from '../staging/memory-budget.js';
import { DependencyGraph } from '../scheduling/dependency-graph.js';
import { Idempotency, refuseBadKey, requestHash, type Claimed, type OwnClaim } from './idempotency.js';
import type { Launched, LaunchRequest } from './launch-request.js';
import { LaunchTemplates } from './launch-templates.js';
import { VersionMoved } from './version-moved.js';

/** What a launch holds until its row exists; a refusal gives all of it back. */
interface Holding {
  stream?: UserLease;
  claim?: OwnClaim;
  slot?: UserLease;
  place?: Reservation;
  memory?: MemoryReservation;
}

interface Bound {
  pipeline: RunnableVersion;
  values: ReadonlyMap<string, TypedValue>;
  /** Given for calculator keys. */
  calculated: ReadonlyMap<string, TypedValue>;
  graph: DependencyGraph;
}

/** Starts executions, for every door (contract 02 §2). Nothing before the row leaves a trace. */
@Injectable()
export class Launcher {
  readonly #templates: LaunchTemplates;

  constructor(
    private readonly pipelines: PipelineCatalog,
    templates: TemplateCatalog,
    private readonly inserts: ExecutionInserts,
    private readonly idempotency: Idempotency,
    private readonly finishedRuns: FinishedRuns,
    private readonly instance: ExecutionInstance,
  ) {
    this.#templates = new LaunchTemplates(templates);
  }

  /** Resolves when the row exists; the run goes on by itself. The refusals and their order are those of §2. */
  async launch(principal: Principal, request: LaunchRequest): Promise<Launched> {
    const workspace = authorise(principal, request.triggeredVia === 'ENDPOINT' ? 'endpoint.serve' : 'pipeline.execute');
    this.instance.refuseWhileDraining();
    const bound = await this.#bind(workspace.id, request);
    const executionId = request.executionId ?? newId();
    const held: Holding = {};
    try {
      if (request.idempotencyKey === undefined) await this.#takeLeases(principal, request, executionId, held);
      else {
        if (!request.detached) held.stream = await this.instance.leases.stream(principal.userId, newId());
        const claimed = await this.#claim(principal, request, executionId);
        if (claimed?.kind === 'attach') return this.#attach(claimed.executionId, held);
        held.claim = claimed?.claim;
        held.slot = await this.instance.leases.slot(principal.userId, executionId);
      }
      this.#takePlace(bound.pipeline, held);
      return await this.#start(principal, request, bound, executionId, held);
    } catch (error) {
      await this.#giveBack(held);
      throw error;
    }
  }

  /** Seconds the result of such a launch is kept, counted from its publication. */
  resultTtlSeconds(asked: number | undefined): number {
    return this.instance.resultTtlSeconds(asked);
  }

  /** Pipeline and version in the workspace, its values and its graph. */
  async #bind(workspaceId: string, request: LaunchRequest): Promise<Bound> {
    const { pipelineId, version, runnable } = request;
    const pipeline = runnable ?? (await this.pipelines.forRun(workspaceId, pipelineId, version));
    if (pipeline?.workspaceId !== workspaceId) throw new PenstockError('pipeline.execution.not_found');
    const { parameters } = request;
    const bound: BoundParameters =
      typeof parameters === 'function' ? parameters(pipeline.document) : bindParameters(pipeline.document, parameters);
    if (!bound.ok) throw validationError(bound.failures);
    return {
      pipeline,
      values: bound.values,
      calculated: bound.calculated,
      graph: DependencyGraph.of(pipeline.document.nodes),
    };
  }

  async #claim(principal: Principal, request: LaunchRequest, executionId: string): Promise<Claimed | undefined> {
    const { idempotencyKey: key, parameters } = request;
    if (key === undefined || typeof parameters === 'function') return undefined;
    refuseBadKey(key);
    const hash = requestHash(request.pipelineId, request.version, parameters);
    try {
      const claimed = await this.idempotency.claim(principal.userId, key, hash, executionId);
      if (claimed.kind === 'attach') this.instance.metrics.idempotencyHit();
      return claimed;
    } catch (error) {
      if (isPenstockError(error) && error.status === 409) this.instance.metrics.idempotencyConflict();
      throw error;
    }
  }

  #attach(executionId: string, { stream }: Holding): Launched {
    const running = this.instance.finished(executionId);
    const { finishedRuns } = this;
    return {
      executionId,
      replayed: true,
      stream,
      get finished() {
        return running ?? finishedRuns.whenEnded(executionId);
      },
    };
  }

  /** With no claim between them, stream and slot are asked for together; a refused stream is still told first. */
  async #takeLeases(principal: Principal, request: LaunchRequest, executionId: string, held: Holding): Promise<void> {
    const { leases } = this.instance;
    const [stream, slot] = await Promise.allSettled([
      request.detached ? undefined : leases.stream(principal.userId, newId()),
      leases.slot(principal.userId, executionId),
    ]);
    if (stream.status === 'fulfilled') held.stream = stream.value;
    if (slot.status === 'fulfilled') held.slot = slot.value;
    for (const asked of [stream, slot]) if (asked.status === 'rejected') throw asked.reason;
  }

  /** A place on this instance, and memory if a node needs it. */
  #takePlace(pipeline: RunnableVersion, held: Holding): void {
    const { runs, staging } = this.instance;
    // Asked again: from the reservation on, a drain waits for this launch.
    this.instance.refuseWhileDraining();
    held.place = runs.reserve();
    if (!held.place) throw instanceFull(runs.limit);
    if (!usesTempdb(pipeline.document)) return;
    held.memory = staging.reserve(pipeline.document.settings.tempdbMaxMemoryMb);
    if (!held.memory) throw instanceFull(runs.limit, 'staging_memory');
  }

  async #start(
    principal: Principal,
    request: LaunchRequest,
    bound: Bound,
    executionId: string,
    held: Holding,
  ): Promise<Launched> {
    const { pipeline, values, calculated, graph } = bound;
    const templates = await this.#templates.of(pipeline);
    const parametersJson =
      typeof request.parameters === 'function'
        ? encodeContext(new Map([...values, ...calculated]))
        : writeJson(request.parameters);
    const { startedAt, sources } = await this.#insert(principal, request, pipeline, executionId, parametersJson);
    const run = this.instance.prepare({
      executionId,
      correlationId: principal.correlationId,
      userId: principal.userId,
      pipeline,
      graph,
      templates,
      values,
      calculated,
      parametersJson,
      startedAt,
      attached: !request.detached,
      lineage: rootLineage(executionId),
      memory: held.memory,
      sources,
      trail: request.trail,
      resultTtlSeconds: request.resultTtlSeconds,
      resultPageRows: request.resultPageRows,
    });
    held.place?.enter(run);
    if (held.claim && !(await held.claim.confirm())) run.fail(idempotencyLost());
    return { executionId, replayed: false, finished: this.instance.begin(run, held.slot), stream: held.stream };
  }

  /** No row, no side effect: a row that cannot be written ends the launch, and one that may not be as well. */
  async #insert(
    principal: Principal,
    request: LaunchRequest,
    pipeline: RunnableVersion,
    executionId: string,
    parametersJson: string,
  ): Promise<RecordedExecution> {
    let recorded: RecordedExecution | undefined;
    try {
      recorded = await this.inserts.insert({
        executionId,
        pipelineId: pipeline.pipelineId,
        pipelineVersion: pipeline.version,
        parametersJson,
        triggeredBy: principal.userId,
        triggeredVia: request.triggeredVia,
        correlationId: principal.correlationId,
        lineage: rootLineage(executionId),
        datasources: sourcesOf(pipeline.document),
        ...(request.remembered ? { standingBody: pipeline.bodyHash } : {}),
        ...(request.trail ? { trail: request.trail } : {}),
      });
    } catch (error) {
      // Purged since it was read.
      if (constraintOf(error)?.kind === 'foreign_key') throw new PenstockError('pipeline.execution.not_found');
      throw new PenstockError('pipeline.execution.aborted', {
        message: 'The execution could not be recorded, so it was not started.',
        details: { reason: 'record_unavailable' },
        cause: error,
      });
    }
    if (!recorded) throw new VersionMoved();
    return recorded;
  }

  async #giveBack({ stream, claim, slot, place, memory }: Holding): Promise<void> {
    place?.release();
    memory?.release();
    const releases = await Promise.allSettled([stream?.release(), slot?.release(), claim?.release()]);
    for (const release of releases) {
      if (release.status === 'rejected')
        this.instance.logger.warn('A refused launch left a claim behind.', { error: release.reason });
    }
  }
}

function instanceFull(limit: number, reason?: string): PenstockError {
  return new PenstockError('pipeline.execution.concurrency_limit', {
    message: 'This server runs as many executions as it may.',
    details: { scope: 'global', limit, ...(reason === undefined ? {} : { reason }), retry_after_seconds: 1 },
  });
}

function idempotencyLost(): PenstockError {
  return new PenstockError('pipeline.execution.aborted', {
    message: 'The idempotency key could not be confirmed after the run was recorded.',
    details: { reason: 'idempotency_lost' },
  });
}
