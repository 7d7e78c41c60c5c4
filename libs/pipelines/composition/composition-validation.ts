import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import type { PipelineRef } from '../document/pipeline-document.js';
import type { ReadBody } from '../document/read-document.js';
import type { ContextKeys } from '../validation/context-keys.js';
import { judgeComposition } from './composition-rules.js';
import { judgeTree, MAX_TREE_NODES, type DirectChild, type TreeDefect } from './composition-tree.js';
import { pipelineKey, PinnedPipelines, type PinnedPipeline } from './pinned-pipelines.js';

/** Judges the PIPELINE nodes of a body and the tree below them (contract 01 §8, §10). */
@Injectable()
export class CompositionValidation {
  readonly #maxDepth: number;

  constructor(
    private readonly pinned: PinnedPipelines,
    configuration: Configuration,
  ) {
    this.#maxDepth = configuration.get('datapipelines.pipelines.max-composition-depth');
  }

  /**
   * One statement for each level of the tree; none for a body without PIPELINE nodes. `offered` are children that come
   * with the body and are stored together with it, by `pipelineKey`.
   */
  async judge(
    workspaceId: string,
    body: ReadBody,
    keys: ContextKeys,
    offered: ReadonlyMap<string, PinnedPipeline> = new Map(),
  ): Promise<void> {
    const { nodes, notes } = body;
    if (!nodes.some(({ child }) => child)) return;
    const direct = directChildren(body);
    const lookup = async (refs: readonly PipelineRef[]): Promise<Map<string, PinnedPipeline>> => {
      const stored = refs.filter((ref) => !offered.has(pipelineKey(ref)));
      return new Map([...(await this.pinned.lookup(workspaceId, stored)), ...offered]);
    };
    const pinned = await lookup(distinct(direct));
    judgeComposition(nodes, { ownName: body.name, pinned, keys }, notes);
    const bounds = { maxDepth: this.#maxDepth, maxNodes: MAX_TREE_NODES };
    const defect = await judgeTree(nodes.length, direct, bounds, async (refs) => {
      const missing = refs.filter((ref) => !pinned.has(pipelineKey(ref)));
      return missing.length === 0 ? pinned : lookup(missing);
    });
    if (defect) this.#refuse(defect, body);
  }

  #refuse(defect: TreeDefect, { notes }: ReadBody): void {
    if (defect.reason === 'depth') {
      notes.fail(
        'pipeline.validation.composition_too_deep',
        defect.path,
        `Pipelines may call each other ${this.#maxDepth} deep, this one included: ${defect.chain.join(' → ')} goes deeper.`,
        { reason: defect.reason, max_depth: this.#maxDepth, depth: defect.depth, chain: defect.chain },
      );
    } else {
      notes.fail(
        'pipeline.validation.composition_too_deep',
        defect.path,
        `With every child counted as often as it is called the tree has more than ${MAX_TREE_NODES} nodes: call fewer children, or smaller ones.`,
        { reason: defect.reason, max_nodes: MAX_TREE_NODES, found: defect.nodes },
      );
    }
  }
}

function directChildren({ nodes, name: ownName }: ReadBody): DirectChild[] {
  return nodes.flatMap(({ child, path }) => {
    const { name, version } = child ?? {};
    if (name === undefined || version === undefined || name === ownName) return [];
    return [{ path: `${path}.pipeline`, ref: { name, version } }];
  });
}

function distinct(children: readonly DirectChild[]): PipelineRef[] {
  return [...new Map(children.map(({ ref }) => [pipelineKey(ref), ref])).values()];
}
