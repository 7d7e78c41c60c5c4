import { Injectable } from '@nestjs/common';
import type { Queryable } from '#libs/persistence';
import { isChildNode, isSqlNode, type PipelineDocument, type PipelineRef } from './document/pipeline-document.js';
import { PinnedPipelines, pipelineKey } from './composition/pinned-pipelines.js';

export type ReadOnlyVerdict = { ok: true } | { ok: false; nodeId: string; datasource?: string };

/** Whether running a pipeline changes nothing outside its own staging, so that it may be served by GET (contract 03 §7). */
@Injectable()
export class ReadOnlyPipelines {
  constructor(private readonly pinned: PinnedPipelines) {}

  /** Children are judged by their pinned bodies, one statement per level; the node named is the document's own. */
  async judge(workspaceId: string, document: Pick<PipelineDocument, 'nodes'>, q?: Queryable): Promise<ReadOnlyVerdict> {
    const own = ownVerdict(document);
    if (!own.ok) return own;
    const seen = new Set<string>();
    let level: { nodeId: string; ref: PipelineRef }[] = document.nodes
      .filter(isChildNode)
      .map(({ id, pipeline }) => ({ nodeId: id, ref: pipeline }));
    while (level.length > 0) {
      const found = await this.pinned.lookup(
        workspaceId,
        level.map(({ ref }) => ref),
        q,
      );
      const next: typeof level = [];
      for (const { nodeId, ref } of level) {
        const child = found.get(pipelineKey(ref));
        // One that is gone by now fails its node at run and changes nothing.
        if (typeof child?.writesTo === 'string') return { ok: false, nodeId, datasource: child.writesTo };
        for (const below of child?.children ?? []) {
          if (seen.has(pipelineKey(below))) continue;
          seen.add(pipelineKey(below));
          next.push({ nodeId, ref: below });
        }
      }
      level = next;
    }
    return { ok: true };
  }
}

/** The document's own nodes; what its children do is not looked at. */
export function ownVerdict({ nodes }: Pick<PipelineDocument, 'nodes'>): ReadOnlyVerdict {
  for (const node of nodes) {
    if (node.type === 'CALCULATOR') continue;
    const { id, type, output } = node;
    if (isSqlNode(node) && type !== 'DQL') return { ok: false, nodeId: id, datasource: node.source };
    if (output?.target === 'datasource') return { ok: false, nodeId: id, datasource: output.datasource };
  }
  return { ok: true };
}
