import { pipelineKey, type PinnedPipeline } from './pinned-pipelines.js';
import type { PipelineRef } from '../document/pipeline-document.js';

/** Nodes of the whole tree, every repeat of a child counted: depth times width is no bound (contract 01 §8). */
export const MAX_TREE_NODES = 10_000;

/** A direct child and where it stands in the document. */
export interface DirectChild {
  path: string;
  ref: PipelineRef;
}

export interface CompositionBounds {
  /** `datapipelines.pipelines.max-composition-depth`; a pipeline without children is 1 deep. */
  maxDepth: number;
  maxNodes: number;
}

/** Why a composition is refused. */
export type TreeDefect =
  | { reason: 'depth'; path: string; depth: number; chain: readonly string[] }
  | { reason: 'tree_size'; path: string; nodes: number };

type Loader = (refs: readonly PipelineRef[]) => Promise<ReadonlyMap<string, PinnedPipeline>>;

/** A version on one level of the tree, as often as it stands there. */
interface Place {
  ref: PipelineRef;
  times: number;
  above: Place | undefined;
  path: string;
}

/**
 * Walks the pinned bodies level by level, each distinct version read once, one `load` per level, and stops at the first
 * bound that is exceeded. Without recursion: pins may form any shape, a circle of imported versions included.
 */
export async function judgeTree(
  ownNodes: number,
  direct: readonly DirectChild[],
  bounds: CompositionBounds,
  load: Loader,
): Promise<TreeDefect | undefined> {
  const known = new Map<string, PinnedPipeline>();
  let nodes = ownNodes;
  let level = new Map<string, Place>();
  for (const { ref, path } of direct) add(level, ref, 1, undefined, path);
  for (let depth = 2; level.size > 0; depth++) {
    const [first] = level.values();
    if (depth > bounds.maxDepth) return { reason: 'depth', path: first!.path, depth, chain: chainOf(first!) };
    const missing = [...level].filter(([key]) => !known.has(key)).map(([, { ref }]) => ref);
    if (missing.length > 0) for (const [key, found] of await load(missing)) known.set(key, found);
    const next = new Map<string, Place>();
    for (const [key, place] of level) {
      const found = known.get(key);
      nodes += (found?.nodeCount ?? 0) * place.times;
      if (nodes > bounds.maxNodes) return { reason: 'tree_size', path: place.path, nodes };
      for (const ref of found?.children ?? []) add(next, ref, place.times, place, place.path);
    }
    level = next;
  }
  return undefined;
}

function add(level: Map<string, Place>, ref: PipelineRef, times: number, above: Place | undefined, path: string): void {
  const key = pipelineKey(ref);
  const place = level.get(key);
  if (place) place.times += times;
  else level.set(key, { ref, times, above, path });
}

function chainOf(place: Place): string[] {
  const chain: string[] = [];
  for (let at: Place | undefined = place; at; at = at.above) chain.unshift(pipelineKey(at.ref));
  return chain;
}
