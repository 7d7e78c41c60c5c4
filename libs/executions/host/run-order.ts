import { readStoredDocument, type RunnableVersion } from '#libs/pipelines';
import type { TemplateClosure } from '#libs/templates';
import type { TypedValue } from '#libs/typesystem';
import type { Lineage } from '../family/lineage.js';
import type { RunFacts } from '../instance/run-facts.js';
import type { EndTrail } from '../records/run-trail.js';
import { DependencyGraph } from '../scheduling/dependency-graph.js';

/** What a launch knows, in a form that crosses to another thread: plain values, and the pipeline as its stored text. */
export interface RunOrder {
  executionId: string;
  correlationId: string;
  userId: string;
  pipeline: Omit<RunnableVersion, 'document'>;
  templates: ReadonlyMap<string, TemplateClosure>;
  values: ReadonlyMap<string, TypedValue>;
  calculated: ReadonlyMap<string, TypedValue>;
  parametersJson: string;
  startedAt: string;
  lineage: Lineage;
  /** Megabytes lent to its engine. They are given back by who lent them. */
  memoryMb: number | undefined;
  resultTtlSeconds: number | undefined;
  resultPageRows: number | undefined;
  /** The datasources the workspace saw at launch, each with the stamp of its row. */
  sources: ReadonlyMap<string, string>;
  /** The audit trail says how it ends: who ordered it is asked what. */
  trailed: boolean;
}

export function orderOf(facts: RunFacts): RunOrder {
  const { document: _document, ...pipeline } = facts.pipeline;
  return {
    executionId: facts.executionId,
    correlationId: facts.correlationId,
    userId: facts.userId,
    pipeline,
    templates: facts.templates,
    values: facts.values,
    calculated: facts.calculated,
    parametersJson: facts.parametersJson,
    startedAt: facts.startedAt,
    lineage: facts.lineage,
    memoryMb: facts.memory?.mb,
    resultTtlSeconds: facts.resultTtlSeconds,
    resultPageRows: facts.resultPageRows,
    sources: facts.sources,
    trailed: facts.trail !== undefined,
  };
}

/** The same, where it runs. Its watchers are counted by who ordered it. */
export function factsOf(
  { pipeline, memoryMb, resultTtlSeconds, resultPageRows, trailed, ...order }: RunOrder,
  trail: EndTrail,
): RunFacts {
  const document = readStoredDocument(pipeline.body);
  if (!document) throw new TypeError(`version ${pipeline.version} of pipeline ${pipeline.pipelineId} is not readable`);
  return {
    ...order,
    pipeline: { ...pipeline, document },
    graph: DependencyGraph.of(document.nodes),
    attached: false,
    trail: trailed ? trail : undefined,
    memory: memoryMb === undefined ? undefined : { mb: memoryMb, release: () => undefined },
    ...(resultTtlSeconds === undefined ? {} : { resultTtlSeconds }),
    ...(resultPageRows === undefined ? {} : { resultPageRows }),
  };
}
