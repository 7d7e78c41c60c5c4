import { Injectable } from '@nestjs/common';
import { AuditJournal, AuditObserver } from '#libs/audit';
import { ExecutionResults, Launcher, type TerminalOutcome } from '#libs/executions';
import { authorise, workspaceOf } from '#libs/identity';
import { Clock, newId, PenstockError, type Failure, type Principal } from '#libs/kernel';
import {
  bindTextParameters,
  callerNode,
  PipelineCatalog,
  ReadOnlyPipelines,
  type BoundParameters,
  type RunnableVersion,
} from '#libs/pipelines';
import { EndpointRegistry } from './endpoint-registry.js';
import { requireReadOnly } from './endpoint.service.js';
import { ENDPOINT_ROOT } from './path-pattern.js';
import type { PublishedEndpoint } from './published-endpoint.js';

export interface ServeRequest {
  /** Raw URL path, below and with `/api/x`. */
  rawPath: string;
  /** Decoded query pairs in order, repetitions kept. */
  query: readonly (readonly [string, string])[];
  resultTtlSeconds?: number;
  resultPageRows?: number;
}

/** `data`: the body's JSON text. `running`: the timeout passed, the run goes on; its rows are kept until `expiresAt` at least. */
export type ServeOutcome =
  | { kind: 'data'; executionId: string; json: string }
  | { kind: 'running'; executionId: string; expiresAt: string | null };

/** Serves published endpoints, step by step in the order of 03 §7. */
@Injectable()
export class EndpointServer {
  constructor(
    private readonly registry: EndpointRegistry,
    private readonly pipelines: PipelineCatalog,
    private readonly readOnly: ReadOnlyPipelines,
    private readonly launcher: Launcher,
    private readonly results: ExecutionResults,
    private readonly journal: AuditJournal,
    private readonly observer: AuditObserver,
    private readonly clock: Clock,
  ) {}

  /** The endpoint a key may call at this path, with the path's variables. One 404 for unknown, disabled and foreign. */
  async resolve(
    principal: Principal,
    rawPath: string,
  ): Promise<{ endpoint: PublishedEndpoint; variables: ReadonlyMap<string, string> }> {
    const match = await this.registry.match(rawPath.slice(ENDPOINT_ROOT.length));
    if (!match || match.target.workspaceId !== workspaceOf(principal).id) throw new PenstockError('endpoint.not_found');
    await this.#requireBinding(principal, match.target);
    authorise(principal, 'endpoint.serve');
    return { endpoint: match.target, variables: match.variables };
  }

  async serve(principal: Principal, request: ServeRequest): Promise<ServeOutcome> {
    const { endpoint, variables } = await this.resolve(principal, request.rawPath);
    const pipeline = await this.#servable(endpoint);
    const bound = bindRequest(pipeline, variables, request.query);
    if (!bound.ok) throw invalidRequest(bound.failures);

    const executionId = newId();
    await this.#recordServed(principal, endpoint, executionId);
    const ended = (outcome: 'completed' | 'accepted' | 'failed') =>
      this.observer.observe(principal, 'endpoint.served', {
        endpoint_id: endpoint.id,
        execution_id: executionId,
        outcome,
      });
    try {
      const launched = await this.launcher.launch(principal, {
        executionId,
        pipelineId: pipeline.pipelineId,
        version: pipeline.version,
        runnable: pipeline,
        parameters: () => bound,
        triggeredVia: 'ENDPOINT',
        detached: true,
        resultTtlSeconds: request.resultTtlSeconds,
        resultPageRows: request.resultPageRows,
      });
      const outcome = await within(launched.finished, endpoint.timeoutSeconds * 1000);
      if (!outcome) {
        await ended('accepted');
        return { kind: 'running', executionId, expiresAt: this.#keptUntil(pipeline, request.resultTtlSeconds) };
      }
      if (outcome.status !== 'SUCCESS') throw failureOf(outcome);
      const json = await this.results.firstPageJson(outcome, request.resultPageRows);
      await ended('completed');
      return { kind: 'data', executionId, json };
    } catch (error) {
      await ended('failed');
      throw error;
    }
  }

  /** The result is kept from its publication on, which is later than now: until then at least. */
  #keptUntil({ document }: RunnableVersion, asked: number | undefined): string | null {
    if (!callerNode(document)) return null;
    return new Date(this.clock.now().getTime() + this.launcher.resultTtlSeconds(asked) * 1000).toISOString();
  }

  /** The deepest node with a binding decides; with none, user keys pass and endpoint keys do not (04 §6.3). */
  async #requireBinding(principal: Principal, endpoint: PublishedEndpoint): Promise<void> {
    const deciding = await this.registry.decidingBindings(endpoint);
    if (deciding.length === 0) {
      if (principal.keyKind === 'endpoint') {
        throw new PenstockError('endpoint.key_kind_refused', { details: { reason: 'endpoint_key_unbound' } });
      }
      return;
    }
    if (!deciding.some(({ apiKeyId }) => apiKeyId === principal.keyId))
      throw new PenstockError('endpoint.key_not_bound');
  }

  async #servable(endpoint: PublishedEndpoint): Promise<RunnableVersion> {
    const pipeline = await this.pipelines.released(endpoint.workspaceId, endpoint.pipelineId);
    if (!pipeline || pipeline.status !== 'RELEASED') throw new PenstockError('endpoint.pipeline_not_released');
    requireReadOnly(await this.readOnly.judge(endpoint.workspaceId, pipeline.document), 503);
    return pipeline;
  }

  /** Committed before the run: later reads of the run by this key are proved by this row. No row, no run. */
  async #recordServed(principal: Principal, endpoint: PublishedEndpoint, executionId: string): Promise<void> {
    await this.journal.append(principal, 'endpoint.served', {
      endpoint_id: endpoint.id,
      execution_id: executionId,
      outcome: 'started',
    });
  }
}

/** Path variables by name, the rest from the query; a name given in both counts as repeated. */
function bindRequest(
  pipeline: RunnableVersion,
  variables: ReadonlyMap<string, string>,
  query: ServeRequest['query'],
): BoundParameters {
  return bindTextParameters(pipeline.document, [...variables, ...query]);
}

function invalidRequest(failures: readonly Failure[]): PenstockError {
  return new PenstockError('endpoint.request.invalid', {
    message: failures.map(({ message }) => message).join(' '),
    details: {
      errors: failures.map(({ code, message, details }) => ({
        parameter: details?.['parameter'] ?? null,
        code,
        message,
      })),
    },
  });
}

function failureOf(outcome: TerminalOutcome): PenstockError {
  const { failure } = outcome;
  if (!failure) return new PenstockError('pipeline.execution.aborted');
  return new PenstockError(failure.code, { message: failure.message, details: failure.details });
}

async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
