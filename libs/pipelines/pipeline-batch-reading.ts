import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import { keysetPages, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { versionSummary, type VersionSummary } from '#libs/lifecycle';
import { PipelineBrowseRepository } from './pipeline-browse.repository.js';
import { PipelineRepository } from './pipeline.repository.js';
import { pipelineSummary, pipelineView, type PipelineSummary, type PipelineView } from './pipeline-views.js';

export interface PipelineVersionRef {
  pipelineId: string;
  version: number;
}

/** Key of a version in maps. */
export function pipelineVersionKey({ pipelineId, version }: PipelineVersionRef): string {
  return `${pipelineId}@${version}`;
}

/** Lookups for many parents at once: one statement each, absent and foreign ones left out. */
@Injectable()
export class PipelineBatchReading {
  constructor(
    private readonly repository: PipelineRepository,
    private readonly browse: PipelineBrowseRepository,
  ) {}

  /** By id. */
  async summaries(principal: Principal, ids: readonly string[]): Promise<Map<string, PipelineSummary>> {
    const { id } = authorise(principal, 'pipeline.read');
    const rows = await this.browse.among(id, ids);
    return new Map(rows.map((row) => [row.id, pipelineSummary(row, row.live ? 'ACTIVE' : 'DISCARDED')]));
  }

  /** Versions without their bodies, by `pipelineVersionKey`. */
  async versions(principal: Principal, refs: readonly PipelineVersionRef[]): Promise<Map<string, VersionSummary>> {
    const { id } = authorise(principal, 'pipeline.read');
    const rows = await this.repository.versionsAmong(id, refs, { withBody: false });
    return new Map(rows.map((row) => [pipelineVersionKey(row), versionSummary(row)]));
  }

  /** Whole versions, by `pipelineVersionKey`. */
  async bodies(principal: Principal, refs: readonly PipelineVersionRef[]): Promise<Map<string, PipelineView>> {
    const { id } = authorise(principal, 'pipeline.read');
    const rows = await this.repository.versionsAmong(id, refs, { withBody: true });
    return new Map(rows.map((row) => [pipelineVersionKey(row), pipelineView(row)]));
  }

  /** A page of each pipeline's versions, highest first; `after` and `before` are version numbers. */
  async versionPages(
    principal: Principal,
    pipelineIds: readonly string[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<VersionSummary>>> {
    const { id } = authorise(principal, 'pipeline.read');
    const pages = keysetPages(await this.repository.versionPages(id, pipelineIds, page), (row) => row.pipelineId, page);
    return new Map(
      [...pages].map(([parent, { items, ...more }]) => [parent, { items: items.map(versionSummary), ...more }]),
    );
  }

  /** How many versions each has. */
  async versionCounts(principal: Principal, pipelineIds: readonly string[]): Promise<Map<string, number>> {
    const { id } = authorise(principal, 'pipeline.read');
    return this.repository.versionCounts(id, pipelineIds);
  }
}
