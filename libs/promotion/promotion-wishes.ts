import { Injectable } from '@nestjs/common';
import { EndpointTransfer, type EndpointFile } from '#libs/endpoints';
import { PipelineClosure, type ClosedRelease, type CurrentVersion } from '#libs/pipelines';
import type { TemplateFile } from '#libs/templates';
import type { Wish } from './promotion-rules.js';

/** Pipelines with everything they need, each on its own and all together. */
export interface Wishes {
  each: readonly Wish[];
  /** Children before parents. */
  pipelines: readonly ClosedRelease[];
  /** Libraries before templates. */
  templates: readonly TemplateFile[];
  endpoints: readonly EndpointFile[];
}

/** Gathers what would have to be sent of some pipelines. Authorises nothing: its callers did. */
@Injectable()
export class PromotionWishes {
  constructor(
    private readonly closure: PipelineClosure,
    private readonly endpoints: EndpointTransfer,
  ) {}

  async of(workspaceId: string, current: readonly CurrentVersion[]): Promise<Wishes> {
    const [{ pipelines, templates }, endpoints] = await Promise.all([
      this.closure.of(workspaceId, current),
      this.endpoints.files(
        workspaceId,
        current.map(({ pipelineId }) => pipelineId),
      ),
    ]);
    const byKey = new Map(pipelines.map((release) => [keyOf(release), release]));
    const each = current.map((version) => ({
      current: version,
      releases: reached(version, byKey),
      endpoints: endpoints.filter(({ pipeline }) => pipeline === version.name),
    }));
    return { each, pipelines, templates, endpoints };
  }
}

function keyOf({ name, version }: { name: string; version: number }): string {
  return `${name}@${version}`;
}

function reached(root: { name: string; version: number }, byKey: ReadonlyMap<string, ClosedRelease>): ClosedRelease[] {
  const found = new Map<string, ClosedRelease>();
  const open = [keyOf(root)];
  while (open.length > 0) {
    const key = open.pop() as string;
    const release = byKey.get(key);
    if (!release || found.has(key)) continue;
    found.set(key, release);
    open.push(...release.children.map(keyOf));
  }
  return [...found.values()];
}
