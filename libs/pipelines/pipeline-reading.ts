import { Injectable } from '@nestjs/common';
import { PenstockError, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { authorise } from '#libs/identity';
import {
  isBrowsePrefix,
  type BrowsedLevel,
  type BrowseOrder,
  type EntityStatus,
  type Folder,
  versionSummary,
  type VersionSummary,
} from '#libs/lifecycle';
import { reflected } from '#libs/templates';
import { PipelineBrowseRepository, type PipelineFilter } from './pipeline-browse.repository.js';
import { PipelineCatalog } from './pipeline-catalog.js';
import { PipelineRepository } from './pipeline.repository.js';
import { pipelineSummary, pipelineView, type PipelineSummary, type PipelineView } from './pipeline-views.js';

/** One level of the tree: `total` and `has_more` are about `pipelines`; a folder counts its whole subtree. */
export interface PipelineLevel {
  prefix: string;
  folders: (Omit<Folder, 'count'> & { pipeline_count: number })[];
  pipelines: PipelineSummary[];
  total: number;
  has_more: boolean;
}

/** The 404 of a pipeline that does not exist, or not in this workspace: one answer for both. */
export function pipelineNotFound(id: string, version?: number): PenstockError {
  return new PenstockError('pipeline.execution.not_found', {
    message: 'There is no such pipeline version in this workspace.',
    details: { pipeline_id: reflected(id), ...(version === undefined ? {} : { pipeline_version: version }) },
  });
}

@Injectable()
export class PipelineReading {
  constructor(
    private readonly repository: PipelineRepository,
    private readonly browse: PipelineBrowseRepository,
    private readonly catalog: PipelineCatalog,
  ) {}

  /** The working version; of a pipeline that is discarded whole, its highest. */
  async read(principal: Principal, pipelineId: string, version?: number): Promise<PipelineView> {
    const { id } = authorise(principal, 'pipeline.read');
    const row = await this.repository.version(id, pipelineId, version);
    if (!row) throw pipelineNotFound(pipelineId, version);
    return { ...pipelineView(row), upgrade_available: await this.repository.upgrades(row) };
  }

  /** As `read`, by name. */
  async readByName(principal: Principal, name: string): Promise<PipelineView> {
    const workspace = authorise(principal, 'pipeline.read');
    const id = await this.catalog.idOf(workspace.id, name);
    if (id === undefined) throw pipelineNotFound(name);
    return this.read(principal, id);
  }

  /** Highest first, without bodies. */
  async versions(principal: Principal, pipelineId: string): Promise<VersionSummary[]> {
    const { id } = authorise(principal, 'pipeline.read');
    const rows = await this.repository.versions(id, pipelineId);
    if (rows.length === 0) throw pipelineNotFound(pipelineId);
    return rows.map(versionSummary);
  }

  /** By name: `after` and `before` are pipeline names. */
  async list(principal: Principal, filter: PipelineFilter, page: KeysetPage): Promise<KeysetListing<PipelineSummary>> {
    const { id } = authorise(principal, 'pipeline.read');
    const { items, ...more } = await this.browse.keyset(id, filter, page);
    return { items: items.map((row) => pipelineSummary(row, filter.status ?? 'ACTIVE')), ...more };
  }

  /** As `list`, in an order; each entry with its place, which `after` and `before` are. */
  async listOrdered(
    principal: Principal,
    filter: PipelineFilter,
    order: BrowseOrder,
    page: KeysetPage,
  ): Promise<KeysetListing<{ summary: PipelineSummary; cursor: string }>> {
    const { id } = authorise(principal, 'pipeline.read');
    const { items, ...more } = await this.browse.ordered(id, filter, order, page);
    const status = filter.status ?? 'ACTIVE';
    return { items: items.map(({ row, cursor }) => ({ summary: pipelineSummary(row, status), cursor })), ...more };
  }

  async count(principal: Principal, filter: PipelineFilter): Promise<number> {
    const { id } = authorise(principal, 'pipeline.read');
    return this.browse.count(id, filter);
  }

  /** One level of the tree, by key: `after` and `before` are names. An unknown or illegal prefix is an empty level. */
  async treeKeyset(
    principal: Principal,
    prefix: string,
    page: KeysetPage,
    status: EntityStatus = 'ACTIVE',
  ): Promise<BrowsedLevel<PipelineSummary>> {
    const { id } = authorise(principal, 'pipeline.read');
    const { items, ...more } = await this.browse.level(id, prefix, status, page);
    return { items: items.map((row) => pipelineSummary(row, status)), ...more };
  }

  /** As `treeKeyset`, all of it. */
  async tree(
    principal: Principal,
    prefix: string,
    page: KeysetPage,
    status: EntityStatus = 'ACTIVE',
  ): Promise<PipelineLevel> {
    const { items, hasNext, folders, count } = await this.treeKeyset(principal, prefix, page, status);
    const [below, total] = await Promise.all([folders(), count()]);
    return {
      prefix: isBrowsePrefix(prefix) ? prefix : reflected(prefix),
      folders: below.map(({ path, segment, count: entries }) => ({ path, segment, pipeline_count: entries })),
      pipelines: items,
      total,
      has_more: hasNext,
    };
  }
}
