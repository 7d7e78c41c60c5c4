import { Injectable } from '@nestjs/common';
import type { KeysetListing, KeysetPage, Listing, OffsetPage, Principal } from '#libs/kernel';
import type { EntityStatus } from '#libs/lifecycle';
import { TemplateAuthoring } from './template-authoring.js';
import type { TemplateFilter } from './template-browse.repository.js';
import type { TemplateBody } from './template-fields.js';
import { TemplateLifecycle } from './template-lifecycle.js';
import { TemplatePreview, type PreviewRequest, type PreviewResult } from './template-preview.js';
import { TemplateReading, type TemplateLevel } from './template-reading.js';
import type { TemplateSummary, TemplateVersionSummary, TemplateView } from './template-views.js';

/** Every operation on templates, by name inside the principal's workspace. What each promises stands at its own class. */
@Injectable()
export class TemplateService {
  constructor(
    private readonly authoring: TemplateAuthoring,
    private readonly reading: TemplateReading,
    private readonly lifecycle: TemplateLifecycle,
    private readonly preview: TemplatePreview,
  ) {}

  create(principal: Principal, body: TemplateBody): Promise<TemplateView> {
    return this.authoring.create(principal, body);
  }

  update(principal: Principal, body: TemplateBody, ifMatch: string | undefined): Promise<TemplateView> {
    return this.authoring.update(principal, body, ifMatch);
  }

  read(principal: Principal, name: string): Promise<TemplateView> {
    return this.reading.read(principal, name);
  }

  version(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.reading.read(principal, name, version);
  }

  versions(principal: Principal, name: string): Promise<TemplateVersionSummary[]> {
    return this.reading.versions(principal, name);
  }

  list(principal: Principal, filter: TemplateFilter, page: OffsetPage): Promise<Listing<TemplateSummary>> {
    return this.reading.list(principal, filter, page);
  }

  listKeyset(principal: Principal, filter: TemplateFilter, page: KeysetPage): Promise<KeysetListing<TemplateSummary>> {
    return this.reading.listKeyset(principal, filter, page);
  }

  count(principal: Principal, filter: TemplateFilter): Promise<number> {
    return this.reading.count(principal, filter);
  }

  tree(principal: Principal, prefix: string, page: OffsetPage, status?: EntityStatus): Promise<TemplateLevel> {
    return this.reading.tree(principal, prefix, page, status);
  }

  release(principal: Principal, name: string, ifMatch: string | undefined): Promise<TemplateView> {
    return this.lifecycle.release(principal, name, ifMatch);
  }

  purgeDraft(principal: Principal, name: string, ifMatch: string | undefined): Promise<void> {
    return this.lifecycle.purgeDraft(principal, name, ifMatch);
  }

  discard(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.lifecycle.discard(principal, name, version);
  }

  restore(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.lifecycle.restore(principal, name, version);
  }

  switchCurrent(principal: Principal, name: string, version: number): Promise<TemplateView> {
    return this.lifecycle.switchCurrent(principal, name, version);
  }

  purgeVersion(principal: Principal, name: string, version: number, ifMatch?: string): Promise<void> {
    return this.lifecycle.purgeVersion(principal, name, version, ifMatch);
  }

  purge(principal: Principal, name: string, ifMatch?: string): Promise<void> {
    return this.lifecycle.purge(principal, name, ifMatch);
  }

  render(principal: Principal, request: PreviewRequest): Promise<PreviewResult> {
    return this.preview.render(principal, request);
  }
}
