import { PenstockError, validationError, type JsonObject } from '#libs/kernel';
import { bindParameters, declaredType, sampleValue, type PipelineDocument, type SqlNode } from '#libs/pipelines';
import type { TypedValue } from '#libs/typesystem';

/** What one node is tried with. */
export interface TrialValues {
  values: Map<string, TypedValue>;
  calculated: ReadonlyMap<string, TypedValue>;
  /** Required parameters that were given no value: a stand-in of their type was taken. */
  sampled: string[];
}

/**
 * The values of a trial: what was supplied, defaults, and for a reading node a stand-in for each required parameter that
 * is missing. What writes is never tried with made-up values.
 *
 * @throws as the binding of a run
 */
export function trialValues(document: PipelineDocument, node: SqlNode, supplied: JsonObject): TrialValues {
  const given = (name: string): boolean => Object.hasOwn(supplied, name) && supplied[name] !== null;
  const missing = [...document.parameters].filter(
    ([name, { required, default: fallback }]) => required && fallback === undefined && !given(name),
  );
  const sampled = node.type === 'DQL' ? missing.map(([name]) => name) : [];
  const relaxed = new Map(document.parameters);
  for (const name of sampled) relaxed.set(name, { ...relaxed.get(name)!, required: false });
  const bound = bindParameters({ parameters: relaxed, nodes: document.nodes }, supplied);
  if (!bound.ok) throw validationError(bound.failures);
  for (const name of sampled) bound.values.set(name, sampleValue(declaredType(relaxed.get(name)!)));
  return { values: bound.values, calculated: bound.calculated, sampled };
}

/** The node of a document, if it can run by itself. @throws 404 `pipeline.node.not_found`, 400 with `reason` */
export function trialNode(document: PipelineDocument, nodeId: string): SqlNode {
  const node = document.nodes.find(({ id }) => id === nodeId);
  if (!node) {
    throw new PenstockError('pipeline.node.not_found', {
      message: 'The version has no such node.',
      details: { nodes: document.nodes.map(({ id }) => id).slice(0, 100) },
    });
  }
  if (node.type === 'CALCULATOR') {
    throw refused(nodeId, 'calculator_node', 'A CALCULATOR node runs no SQL; run the pipeline to see its value.');
  }
  if (node.type === 'PIPELINE') {
    throw refused(nodeId, 'pipeline_node', `A PIPELINE node runs no SQL; run "${node.pipeline.name}" itself.`);
  }
  if (node.source === 'tempdb') {
    throw refused(
      nodeId,
      'tempdb_source',
      'The node reads staged tables, which exist only inside an execution; run the whole pipeline instead.',
    );
  }
  return node;
}

function refused(nodeId: string, reason: string, message: string): PenstockError {
  return new PenstockError('pipeline.node.standalone_execution_refused', {
    message,
    details: { node_id: nodeId, reason },
  });
}
