import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Configuration, PenstockError } from '#libs/kernel';
import type { VersionStatus } from '#libs/lifecycle';
import { PipelineCatalog, ReadOnlyPipelines, type RunnableVersion } from '#libs/pipelines';
import { requireReadOnly } from './endpoint.service.js';
import type { PublishedEndpoint } from './published-endpoint.js';

/** Versions are kept with their documents, which the catalog bounds by their size. */
const MOST_KEPT = 1000;

/** What an endpoint serves: the version `pipelines.current_version` names, servable and free of side effects. */
export interface ServedVersion {
  runnable: RunnableVersion;
  /** Read for an earlier call: whoever launches it must ask whether it still stands. */
  remembered: boolean;
}

/**
 * The versions served lately. A released body and the bodies it pins never change, so what was judged once is true for
 * good; which body is served is asked of the pointer at each call, by the statement that records the run. A draft, which
 * may change with the next keystroke, is read and judged at each call.
 */
@Injectable()
export class ServedVersions {
  readonly #kept = new LRUCache<string, RunnableVersion>({ max: MOST_KEPT });

  constructor(
    private readonly pipelines: PipelineCatalog,
    private readonly readOnly: ReadOnlyPipelines,
    private readonly configuration: Configuration,
  ) {}

  /** 503 `endpoint.pipeline_not_released`, 503 `endpoint.pipeline_not_readonly`. */
  async of(endpoint: PublishedEndpoint): Promise<ServedVersion> {
    const kept = this.#kept.get(keyOf(endpoint));
    return kept ? { runnable: kept, remembered: true } : this.read(endpoint);
  }

  /** As the database has it now. */
  async read(endpoint: PublishedEndpoint): Promise<ServedVersion> {
    this.#kept.delete(keyOf(endpoint));
    const runnable = await this.pipelines.released(endpoint.workspaceId, endpoint.pipelineId);
    if (!runnable || !isServable(runnable, this.configuration))
      throw new PenstockError('endpoint.pipeline_not_released');
    requireReadOnly(await this.readOnly.judge(endpoint.workspaceId, runnable.document), 503);
    if (runnable.status === 'RELEASED') this.#kept.set(keyOf(endpoint), runnable);
    return { runnable, remembered: false };
  }
}

/** A released version; where pipelines are developed, also a draft that somebody made the current one (03 §7). */
export function isServable({ status }: { status: VersionStatus }, configuration: Configuration): boolean {
  if (status !== 'DRAFT') return status === 'RELEASED';
  const isDeveloped = configuration.get('datapipelines.posture') !== 'hardened';
  return isDeveloped && configuration.get('datapipelines.deployment.authoring-enabled');
}

function keyOf({ workspaceId, pipelineId }: PublishedEndpoint): string {
  return `${workspaceId} ${pipelineId}`;
}
