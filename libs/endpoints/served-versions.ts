import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { PenstockError } from '#libs/kernel';
import { PipelineCatalog, ReadOnlyPipelines, type RunnableVersion } from '#libs/pipelines';
import { requireReadOnly } from './endpoint.service.js';
import type { PublishedEndpoint } from './published-endpoint.js';

/** Versions are kept with their documents, which the catalog bounds by their size. */
const MOST_KEPT = 1000;

/** What an endpoint serves: the version `pipelines.current_version` names, released and free of side effects. */
export interface ServedVersion {
  runnable: RunnableVersion;
  /** Read for an earlier call: whoever launches it must ask whether it still stands. */
  remembered: boolean;
}

/**
 * The versions served lately. A released body and the bodies it pins never change, so what was judged once is true for
 * good; which body is served is asked of the pointer at each call, by the statement that records the run.
 */
@Injectable()
export class ServedVersions {
  readonly #kept = new LRUCache<string, RunnableVersion>({ max: MOST_KEPT });

  constructor(
    private readonly pipelines: PipelineCatalog,
    private readonly readOnly: ReadOnlyPipelines,
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
    if (runnable?.status !== 'RELEASED') throw new PenstockError('endpoint.pipeline_not_released');
    requireReadOnly(await this.readOnly.judge(endpoint.workspaceId, runnable.document), 503);
    this.#kept.set(keyOf(endpoint), runnable);
    return { runnable, remembered: false };
  }
}

function keyOf({ workspaceId, pipelineId }: PublishedEndpoint): string {
  return `${workspaceId} ${pipelineId}`;
}
