import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import { keysetPages, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { refKey, type TemplateRef } from './pinned-template.js';
import { TemplateBrowseRepository } from './template-browse.repository.js';
import { TemplateRepository } from './template.repository.js';
import { templateSummary, templateView, type TemplateSummary, type TemplateView } from './template-views.js';

/** Lookups for many parents at once: one statement each, absent and foreign ones left out. */
@Injectable()
export class TemplateBatchReading {
  constructor(
    private readonly repository: TemplateRepository,
    private readonly browse: TemplateBrowseRepository,
  ) {}

  /** By name. */
  async summaries(principal: Principal, names: readonly string[]): Promise<Map<string, TemplateSummary>> {
    const { id } = authorise(principal, 'template.read');
    const rows = await this.browse.among(id, names);
    return new Map(rows.map((row) => [row.name, templateSummary(row, row.live ? 'ACTIVE' : 'DISCARDED')]));
  }

  /** Versions by `refKey`. */
  async versions(principal: Principal, refs: readonly TemplateRef[]): Promise<Map<string, TemplateView>> {
    const { id } = authorise(principal, 'template.read');
    const rows = await this.repository.versionsAmong(id, refs);
    return new Map(rows.map((row) => [refKey({ id: row.name, version: row.version }), templateView(row)]));
  }

  /** A page of each template's versions, highest first; `after` and `before` are version numbers. */
  async versionPages(
    principal: Principal,
    names: readonly string[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<TemplateView>>> {
    const { id } = authorise(principal, 'template.read');
    const pages = keysetPages(await this.repository.versionPages(id, names, page), (row) => row.name, page);
    return new Map([...pages].map(([name, { items, ...more }]) => [name, { items: items.map(templateView), ...more }]));
  }

  /** How many versions each has. */
  async versionCounts(principal: Principal, names: readonly string[]): Promise<Map<string, number>> {
    const { id } = authorise(principal, 'template.read');
    return this.repository.versionCounts(id, names);
  }
}
