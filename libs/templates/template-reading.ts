import { Injectable } from '@nestjs/common';
import { PenstockError, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { isBrowsePrefix, type BrowsedLevel, type BrowseOrder, type EntityStatus, type Folder } from '#libs/lifecycle';
import { authorise } from '#libs/identity';
import { reflected } from './reflected.js';
import { TemplateBrowseRepository, type TemplateFilter } from './template-browse.repository.js';
import { TemplatePins, type WorkingPin } from './template-pins.js';
import { TemplateRepository } from './template.repository.js';
import {
  templateSummary,
  templateVersionSummary,
  templateView,
  type TemplateSummary,
  type TemplateVersionSummary,
  type TemplateView,
} from './template-views.js';

/** One level of the tree: `total` and `has_more` are about `templates`; a folder counts its whole subtree. */
export interface TemplateLevel {
  prefix: string;
  folders: (Omit<Folder, 'count'> & { template_count: number })[];
  templates: TemplateSummary[];
  total: number;
  has_more: boolean;
}

/** Which pipelines use a version in what their readers see now (contract 05 §12). */
export interface TemplateUse {
  template: { id: string; version: number };
  scan: 'working_version';
  /** Pipelines, each counted once however many of its nodes pin the version. */
  pipeline_count: number;
  references: WorkingPin[];
}

/** The 404 of a template that does not exist, or not in this workspace: one answer for both. */
export function templateNotFound(name: string, version?: number): PenstockError {
  return new PenstockError('template.not_found', {
    message: 'There is no such template version in this workspace.',
    details: { template_id: reflected(name), ...(version === undefined ? {} : { template_version: version }) },
  });
}

@Injectable()
export class TemplateReading {
  constructor(
    private readonly repository: TemplateRepository,
    private readonly browse: TemplateBrowseRepository,
    private readonly pins: TemplatePins,
  ) {}

  /** The working version; of a template that is discarded whole, its highest. */
  async read(principal: Principal, name: string, version?: number): Promise<TemplateView> {
    const { id } = authorise(principal, 'template.read');
    const row = await this.repository.version(id, name, version);
    if (!row) throw templateNotFound(name, version);
    return templateView(row);
  }

  /** Who uses a version; without a number, the working one. */
  async usedBy(principal: Principal, name: string, version?: number): Promise<TemplateUse> {
    const { id } = authorise(principal, 'template.read');
    const row = await this.repository.version(id, name, version);
    if (!row) throw templateNotFound(name, version);
    const references = await this.pins.usedBy(id, name, row.version);
    return {
      template: { id: row.name, version: row.version },
      scan: 'working_version',
      pipeline_count: new Set(references.map(({ pipeline_id }) => pipeline_id)).size,
      references,
    };
  }

  /** Highest first, without bodies. */
  async versions(principal: Principal, name: string): Promise<TemplateVersionSummary[]> {
    const { id } = authorise(principal, 'template.read');
    const rows = await this.repository.versions(id, name);
    if (rows.length === 0) throw templateNotFound(name);
    return rows.map(templateVersionSummary);
  }

  /** By name: `after` and `before` are template names. */
  async list(principal: Principal, filter: TemplateFilter, page: KeysetPage): Promise<KeysetListing<TemplateSummary>> {
    const { id } = authorise(principal, 'template.read');
    const { items, ...more } = await this.browse.keyset(id, filter, page);
    return { items: items.map((row) => templateSummary(row, filter.status ?? 'ACTIVE')), ...more };
  }

  /** As `list`, in an order; each entry with its place, which `after` and `before` are. */
  async listOrdered(
    principal: Principal,
    filter: TemplateFilter,
    order: BrowseOrder,
    page: KeysetPage,
  ): Promise<KeysetListing<{ summary: TemplateSummary; cursor: string }>> {
    const { id } = authorise(principal, 'template.read');
    const { items, ...more } = await this.browse.ordered(id, filter, order, page);
    const status = filter.status ?? 'ACTIVE';
    return { items: items.map(({ row, cursor }) => ({ summary: templateSummary(row, status), cursor })), ...more };
  }

  async count(principal: Principal, filter: TemplateFilter): Promise<number> {
    const { id } = authorise(principal, 'template.read');
    return this.browse.count(id, filter);
  }

  /** One level of the tree, by key: `after` and `before` are names. An unknown or illegal prefix is an empty level. */
  async treeKeyset(
    principal: Principal,
    prefix: string,
    page: KeysetPage,
    status: EntityStatus = 'ACTIVE',
  ): Promise<BrowsedLevel<TemplateSummary>> {
    const { id } = authorise(principal, 'template.read');
    const { items, ...more } = await this.browse.level(id, prefix, status, page);
    return { items: items.map((row) => templateSummary(row, status)), ...more };
  }

  /** As `treeKeyset`, all of it. */
  async tree(
    principal: Principal,
    prefix: string,
    page: KeysetPage,
    status: EntityStatus = 'ACTIVE',
  ): Promise<TemplateLevel> {
    const { items, hasNext, folders, count } = await this.treeKeyset(principal, prefix, page, status);
    const [below, total] = await Promise.all([folders(), count()]);
    return {
      prefix: isBrowsePrefix(prefix) ? prefix : reflected(prefix),
      folders: below.map(({ path, segment, count: entries }) => ({ path, segment, template_count: entries })),
      templates: items,
      total,
      has_more: hasNext,
    };
  }
}
