import { isSqlNode, TEMPDB, type PipelineDocument, type PipelineNode } from './pipeline-document.js';

/** A place in a document that names a datasource. */
export interface DatasourceUse {
  name: string;
  path: string;
}

/** Every place that names a datasource of the deployment: sources, write-back targets and checks. */
export function datasourceUses({ nodes, checks }: PipelineDocument): DatasourceUse[] {
  const ofChecks = checks.map(({ datasource }, index) => ({ name: datasource, path: `checks[${index}].datasource` }));
  return [...nodes.flatMap(usesOfNode), ...ofChecks].filter(({ name }) => name !== TEMPDB);
}

function usesOfNode(node: PipelineNode, index: number): DatasourceUse[] {
  if (node.type === 'CALCULATOR') return [];
  const { output } = node;
  return [
    ...(isSqlNode(node) ? [{ name: node.source, path: `nodes[${index}].source` }] : []),
    ...(output?.target === 'datasource'
      ? [{ name: output.datasource, path: `nodes[${index}].output.datasource` }]
      : []),
  ];
}
