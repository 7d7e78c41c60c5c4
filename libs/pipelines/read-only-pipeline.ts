import { isSqlNode, type PipelineDocument } from './document/pipeline-document.js';

export type ReadOnlyVerdict = { ok: true } | { ok: false; nodeId: string; datasource?: string };

/** Whether running the pipeline changes nothing outside its own staging, so that it may be served by GET (contract 03 §7). */
export function isReadOnlyPipeline({ nodes }: PipelineDocument): ReadOnlyVerdict {
  for (const { id, type, source, output } of nodes.filter(isSqlNode)) {
    if (type !== 'DQL') return { ok: false, nodeId: id, datasource: source };
    if (output?.target === 'datasource') return { ok: false, nodeId: id, datasource: output.datasource };
  }
  return { ok: true };
}
