import { isSqlNode, TEMPDB, type PipelineDocument, type PipelineNode, type SqlNode } from '#libs/pipelines';

/** Time limits of the operator, in seconds (contract 02 §5.1). */
export interface NodeTimeSettings {
  nodeTimeoutSeconds: number;
  nodeTimeoutMaxSeconds: number;
  /** Application default for one statement. */
  queryTimeoutSeconds: number;
  /** Default for a statement on staged tables. */
  stagingQueryTimeoutSeconds: number;
}

/** Wall clock of a node. A stored body may be older than today's ceiling, so its wish is clamped again here. */
export function wallClockSeconds(node: PipelineNode, settings: NodeTimeSettings): number {
  return Math.min(node.settings.timeoutSeconds ?? settings.nodeTimeoutSeconds, settings.nodeTimeoutMaxSeconds);
}

/** Bound of a node's statement: node, pipeline, datasource or its dialect, then the default; the first one set wins. */
export function statementSeconds(
  node: SqlNode,
  document: Pick<PipelineDocument, 'settings'>,
  datasourceTimeoutSeconds: number | null,
  settings: NodeTimeSettings,
): number {
  const fallback = node.source === TEMPDB ? settings.stagingQueryTimeoutSeconds : settings.queryTimeoutSeconds;
  return (
    node.settings.queryTimeoutSeconds ?? document.settings.queryTimeoutSeconds ?? datasourceTimeoutSeconds ?? fallback
  );
}

/** Datasources a node uses itself: its source, and the target of a write-back. */
export function datasourcesOf(node: PipelineNode): string[] {
  if (node.type === 'CALCULATOR') return [];
  const names = isSqlNode(node) && node.source !== TEMPDB ? [node.source] : [];
  if (node.output?.target === 'datasource') names.push(node.output.datasource);
  return names;
}

/** Datasources of all its nodes, each once. */
export function sourcesOf({ nodes }: Pick<PipelineDocument, 'nodes'>): string[] {
  return [...new Set(nodes.flatMap(datasourcesOf))];
}

/**
 * Datasources a node needs a permit of before it starts. A PIPELINE node needs none (contract 02 §4): it would hold its
 * target's while its child's nodes wait for theirs.
 */
export function permitsOf(node: PipelineNode): string[] {
  return isSqlNode(node) ? datasourcesOf(node) : [];
}

/** Whether the run needs a staging engine. */
export function usesTempdb(document: Pick<PipelineDocument, 'nodes'>): boolean {
  return document.nodes.some(
    (node) =>
      node.type !== 'CALCULATOR' && ((isSqlNode(node) && node.source === TEMPDB) || node.output?.target === 'tempdb'),
  );
}
