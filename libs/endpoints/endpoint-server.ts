import { Injectable } from '@nestjs/common';
import { AuditObserver } from '#libs/audit';
import { ExecutionResults, Launcher, VersionMoved, type TerminalOutcome } from '#libs/executions';
import { authorise, workspaceOf } from '#libs/identity';
import { Clock, newId, PenstockError, type Failure, type Principal } from '#libs/kernel';
import { bindTextParameters, callerNode, type RunnableVersion } from '#libs/pipelines';
import { EndpointRegistry } from './endpoint-registry.js';
import { ENDPOINT_ROOT } from './path-pattern.js';
import type { PublishedEndpoint } from './published-endpoint.js';
import { ServedTrail } from './served-trail.js';
import { ServedVersions, type ServedVersion } from './served-versions.js';

export interface ServeRequest {
  /** Raw URL path, below and with `/api/x`. */
  rawPath: string;
  /** Decoded query pairs in order, repetitions kept; undefined for bytes that are no text. */
  query: readonly (readonly [string, string | undefined])[];
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
    private readonly versions: ServedVersions,
    private readonly launcher: Launcher,
    private readonly results: ExecutionResults,
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
    const trail = new ServedTrail(principal, endpoint.id, newId(), this.observer);
    const launch = { endpoint, trail, texts: [...variables, ...request.query], request };
    return this.#answer(await this.#start(principal, launch), launch);
  }

  /**
   * With the version that is remembered, or, where it does not stand any more, with the one that is read then: the
   * pointer names another, whose parameters may be others too.
   */
  async #start(principal: Principal, launch: ServeLaunch): Promise<Started> {
    try {
      return await this.#launch(principal, launch, await this.versions.of(launch.endpoint));
    } catch (error) {
      if (!(error instanceof VersionMoved)) throw error;
      return this.#launch(principal, launch, await this.versions.read(launch.endpoint));
    }
  }

  async #launch(
    principal: Principal,
    { trail, texts, request }: ServeLaunch,
    { runnable, remembered }: ServedVersion,
  ): Promise<Started> {
    const bound = bindTextParameters(runnable.document, texts);
    if (!bound.ok) {
      throw remembered ? new VersionMoved() : invalidRequest(bound.failures);
    }
    try {
      const { finished } = await this.launcher.launch(principal, {
        executionId: trail.executionId,
        pipelineId: runnable.pipelineId,
        version: runnable.version,
        runnable,
        remembered,
        trail,
        parameters: () => bound,
        triggeredVia: 'ENDPOINT',
        detached: true,
        resultTtlSeconds: request.resultTtlSeconds,
        resultPageRows: request.resultPageRows,
      });
      return { runnable, finished };
    } catch (error) {
      if (!(error instanceof VersionMoved)) await trail.say('failed');
      throw error;
    }
  }

  async #answer({ runnable, finished }: Started, { endpoint, trail, request }: ServeLaunch): Promise<ServeOutcome> {
    const { executionId } = trail;
    const outcome = await within(finished, endpoint.timeoutSeconds * 1000);
    if (!outcome) {
      await trail.accepted();
      return { kind: 'running', executionId, expiresAt: this.#keptUntil(runnable, request.resultTtlSeconds) };
    }
    if (outcome.status !== 'SUCCESS') {
      if (outcome.unrecorded) await trail.say('failed');
      throw failureOf(outcome);
    }
    try {
      return { kind: 'data', executionId, json: await this.results.firstPageJson(outcome, request.resultPageRows) };
    } catch (error) {
      // The run has completed, its caller has got nothing of it.
      await trail.say('failed');
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
}

/** One call on its way to a run. */
interface ServeLaunch {
  endpoint: PublishedEndpoint;
  trail: ServedTrail;
  /** Path variables by name, then the query; a name given in both counts as repeated. */
  texts: readonly (readonly [string, string | undefined])[];
  request: ServeRequest;
}

interface Started {
  runnable: RunnableVersion;
  finished: Promise<TerminalOutcome>;
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
