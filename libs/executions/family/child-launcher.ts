import { Injectable } from '@nestjs/common';
import {
  Configuration,
  newId,
  PenstockError,
  readJson,
  validationError,
  writeJson,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import {
  bindParameters,
  calculatorNodes,
  contextReference,
  PipelineCatalog,
  templatePins,
  type ChildNode,
  type PipelineDocument,
} from '#libs/pipelines';
import { TemplateCatalog } from '#libs/templates';
import { encodeWire, type TypedValue } from '#libs/typesystem';

import type { RunFacts } from '../instance/run-facts.js';
import { ExecutionInserts } from '../records/execution-inserts.js';
import { sourcesOf } from '../run/node-limits.js';
import type { AbortReason } from '../run/outcome.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import type { RunPlan } from '../run/run-plan.js';
import { DependencyGraph } from '../scheduling/dependency-graph.js';
import { ChildStream } from './child-stream.js';
import { childLineage, type Lineage } from './lineage.js';

/** A child that runs. */
export interface StartedChild {
  readonly executionId: string;
  readonly stream: ChildStream;
  /** Never rejects. */
  readonly finished: Promise<TerminalOutcome>;
  cancel(reason: AbortReason): void;
}

/** Where children run: on the instance of their parent, so that rows need no wire and a family ends together. */
export interface ChildHost {
  beginChild(facts: RunFacts): Pick<StartedChild, 'finished' | 'cancel'>;
}

/** Starts the executions of PIPELINE nodes (contract 01 §8, 02 §2): a row of their own, but no slot and no place. */
@Injectable()
export class ChildLauncher {
  readonly #maxDepth: number;

  constructor(
    private readonly pipelines: PipelineCatalog,
    private readonly templates: TemplateCatalog,
    private readonly inserts: ExecutionInserts,
    configuration: Configuration,
  ) {
    this.#maxDepth = configuration.get('datapipelines.pipelines.max-composition-depth');
  }

  /**
   * Resolves when the child's row exists and it runs; from then on only its own end counts. A child that cannot start is
   * `pipeline.node.child_execution_failed` with the cause's code; one too deep `pipeline.node.composition_depth_exceeded`.
   */
  async start(
    parent: RunPlan,
    node: ChildNode,
    context: ReadonlyMap<string, TypedValue>,
    signal: AbortSignal,
    host: ChildHost,
  ): Promise<StartedChild> {
    const lineage = childLineage(parent, node.id);
    if (lineage.depth > this.#maxDepth) throw this.#tooDeep(node, lineage.depth);
    try {
      const facts = await this.#facts(parent, node, context, lineage, signal);
      const stream = new ChildStream();
      return { executionId: facts.executionId, stream, ...host.beginChild({ ...facts, stream }) };
    } catch (error) {
      signal.throwIfAborted();
      throw notStarted(node, error);
    }
  }

  async #facts(
    parent: RunPlan,
    node: ChildNode,
    context: ReadonlyMap<string, TypedValue>,
    lineage: Lineage,
    signal: AbortSignal,
  ): Promise<Omit<RunFacts, 'stream'>> {
    const { workspaceId } = parent.pipeline;
    const pipeline = await this.pipelines.pinned(workspaceId, node.pipeline);
    if (!pipeline) throw new PenstockError('pipeline.execution.not_found');
    const { document } = pipeline;
    const supplied = suppliedValues(node, context);
    const bound = bindParameters(document, supplied);
    if (!bound.ok) throw validationError(bound.failures);
    const templates = await this.templates.load(workspaceId, templatePins(document));
    signal.throwIfAborted();
    const executionId = newId();
    const parametersJson = writeJson(supplied);
    const recorded = await this.inserts.insert({
      executionId,
      pipelineId: pipeline.pipelineId,
      pipelineVersion: pipeline.version,
      parametersJson,
      triggeredBy: parent.userId,
      triggeredVia: 'PIPELINE',
      correlationId: parent.correlationId,
      lineage,
      datasources: sourcesOf(document),
    });
    if (!recorded) throw new PenstockError('pipeline.execution.not_found');
    return {
      executionId,
      correlationId: parent.correlationId,
      userId: parent.userId,
      pipeline,
      graph: DependencyGraph.of(document.nodes),
      templates,
      values: bound.values,
      calculated: new Map([...bound.calculated, ...anyScalars(node, document, context)]),
      parametersJson,
      ...recorded,
      attached: false,
      lineage,
      permits: parent.permits,
      memory: undefined,
    };
  }

  #tooDeep(node: ChildNode, depth: number): PenstockError {
    return new PenstockError('pipeline.node.composition_depth_exceeded', {
      message: `"${node.pipeline.name}" would be pipeline ${depth} of its family; at most ${this.#maxDepth} may call each other.`,
      details: {
        max_depth: this.#maxDepth,
        depth,
        pipeline: node.pipeline.name,
        pipeline_version: node.pipeline.version,
      },
    });
  }
}

/** References become the wire form of their value, so that the child binds them as a caller's: exact, and within its bounds. */
function suppliedValues({ parameters }: ChildNode, context: ReadonlyMap<string, TypedValue>): JsonObject {
  const supplied = Object.create(null) as JsonObject;
  for (const [key, value] of parameters) supplied[key] = resolve(value, context);
  return supplied;
}

function resolve(value: JsonValue, context: ReadonlyMap<string, TypedValue>): JsonValue {
  const reference = contextReference(value);
  if (reference.kind !== 'reference') return value;
  const found = context.get(reference.name);
  if (!found) {
    throw new PenstockError('pipeline.execution.aborted', {
      message: `The Context of the run has no key "${reference.name}".`,
      details: { reason: 'context_key_missing', key: reference.name },
    });
  }
  return readJson(encodeWire(found.type, found.value));
}

/** Keys that take any scalar keep the type of what they are given: the wire form of a number may be a text. */
function anyScalars(
  { parameters }: ChildNode,
  document: PipelineDocument,
  context: ReadonlyMap<string, TypedValue>,
): [string, TypedValue][] {
  const untyped = calculatorNodes(document).flatMap(({ outputs }) => outputs.filter(({ type }) => type === undefined));
  return untyped.flatMap(({ key }): [string, TypedValue][] => {
    const reference = contextReference(parameters.get(key) ?? null);
    const given = reference.kind === 'reference' ? context.get(reference.name) : undefined;
    return given && given.value !== null ? [[key, { type: given.type, value: given.value }]] : [];
  });
}

function notStarted({ pipeline }: ChildNode, error: unknown): PenstockError {
  const cause =
    error instanceof PenstockError
      ? error
      : new PenstockError('pipeline.execution.aborted', {
          message: 'The child execution could not be recorded, so it was not started.',
          details: { reason: 'record_unavailable' },
          cause: error,
        });
  return new PenstockError('pipeline.node.child_execution_failed', {
    message: `The child "${pipeline.name}" version ${pipeline.version} did not start: ${cause.message}`,
    details: {
      child_code: cause.code,
      child_execution_id: null,
      pipeline: pipeline.name,
      pipeline_version: pipeline.version,
      child_details: cause.details,
    },
    cause,
  });
}
