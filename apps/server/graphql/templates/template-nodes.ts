import { Injectable } from '@nestjs/common';
import type { KeysetListing } from '#libs/kernel';
import {
  refKey,
  TemplateBatchReading,
  type TemplateRef,
  type TemplateSummary,
  type TemplateView,
} from '#libs/templates';
import { Batch } from '../engine/batch.js';
import type { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import { pagesOfParents } from '../schema/page-of-parent.js';
import { versionFields } from '../schema/version.interface.js';
import type { TemplateType, TemplateVersionType } from './template.types.js';

/** Makes templates and their versions of what the services give. */
@Injectable()
export class TemplateNodes {
  readonly #summaries: Batch<string, TemplateSummary>;
  readonly #versions: Batch<TemplateRef, TemplateView>;
  /** Pages of versions of many templates at once. */
  readonly versionPages;
  readonly versionCounts: Batch<string, number>;

  constructor(
    private readonly actors: Actors,
    reading: TemplateBatchReading,
  ) {
    this.#summaries = new Batch((principal, names) => reading.summaries(principal, names));
    this.#versions = new Batch((principal, refs) => reading.versions(principal, refs), refKey);
    this.versionPages = pagesOfParents<undefined, KeysetListing<TemplateView>>((principal, names, page) =>
      reading.versionPages(principal, names, page),
    );
    this.versionCounts = new Batch((principal, names) => reading.versionCounts(principal, names));
  }

  async load(context: OperationContext, name: string): Promise<TemplateType | undefined> {
    const summary = await context.load(this.#summaries, name);
    return summary && this.template(summary);
  }

  async version(
    context: OperationContext,
    name: string,
    number: number | null,
  ): Promise<TemplateVersionType | undefined> {
    const view = number === null ? undefined : await context.load(this.#versions, { id: name, version: number });
    return view && this.versionOf(view);
  }

  template(summary: TemplateSummary): TemplateType {
    const { id: name, version, status, current_version } = summary;
    const draft = status === 'DRAFT' ? version : null;
    return {
      id: name,
      name,
      folder: summary.folder,
      displayName: summary.display_name,
      description: summary.description,
      status: summary.entity_status,
      currentVersion: current_version,
      createdBy: this.actors.of(summary.created_by),
      createdAt: summary.created_at,
      updatedAt: summary.updated_at,
      working: (_args, context) => this.version(context, name, version),
      draft: (_args, context) => this.version(context, name, draft),
      current: (_args, context) => this.version(context, name, current_version),
    };
  }

  versionOf(view: TemplateView): TemplateVersionType {
    const { id: name, version, current_version } = view;
    const facts = { ...view, ...view.version_stamps, is_current: version === current_version };
    return {
      ...versionFields(refKey({ id: name, version }), facts, this.actors),
      template: (_args, context) => this.load(context, name),
      engine: view.engine,
      dialect: view.dialect,
      isLibrary: view.is_library,
      imports: view.imports.map(({ id, ...pin }) => ({ name: id, ...pin })),
      body: view.body,
    };
  }
}
