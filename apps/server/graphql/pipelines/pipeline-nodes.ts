import { Injectable } from '@nestjs/common';
import { writeJson, type JsonObject, type KeysetListing } from '#libs/kernel';
import type { VersionSummary } from '#libs/lifecycle';
import {
  definitionOf,
  PipelineBatchReading,
  PipelineLineage,
  pipelineVersionKey,
  type PipelineSummary,
  type PipelineVersionRef,
  type PipelineView,
  type TemplateUpgrade,
  type TemplateUser,
} from '#libs/pipelines';
import { Batch } from '../engine/batch.js';
import type { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import { pagesOfParents } from '../schema/page-of-parent.js';
import { versionFields } from '../schema/version.interface.js';
import { TemplateNodes } from '../templates/template-nodes.js';
import type { TemplateVersionType } from '../templates/template.types.js';
import { CheckNodes } from './check-nodes.js';
import { nodesOf, parametersOf } from './document-views.js';
import type { PipelineType, PipelineVersionType } from './pipeline.types.js';

/** Makes pipelines and their versions of what the services give; bodies are read only where a field needs one. */
@Injectable()
export class PipelineNodes {
  readonly #summaries: Batch<string, PipelineSummary>;
  readonly #versions: Batch<PipelineVersionRef, VersionSummary>;
  readonly #bodies: Batch<PipelineVersionRef, PipelineView>;
  /** Pages of versions of many pipelines at once. */
  readonly versionPages;
  readonly versionCounts: Batch<string, number>;

  readonly #upgrades: Batch<PipelineVersionRef, readonly TemplateUpgrade[]>;
  /** Pages of the pipelines that use each of many templates. */
  readonly templateUsers;
  readonly templateUserCounts: Batch<string, number>;

  constructor(
    private readonly actors: Actors,
    private readonly templates: TemplateNodes,
    private readonly checks: CheckNodes,
    reading: PipelineBatchReading,
    lineage: PipelineLineage,
  ) {
    this.#summaries = new Batch((principal, ids) => reading.summaries(principal, ids));
    this.#versions = new Batch((principal, refs) => reading.versions(principal, refs), pipelineVersionKey);
    this.#bodies = new Batch((principal, refs) => reading.bodies(principal, refs), pipelineVersionKey);
    this.versionPages = pagesOfParents<undefined, KeysetListing<VersionSummary>>((principal, ids, page) =>
      reading.versionPages(principal, ids, page),
    );
    this.versionCounts = new Batch((principal, ids) => reading.versionCounts(principal, ids));
    this.#upgrades = new Batch((principal, refs) => lineage.upgrades(principal, refs), pipelineVersionKey);
    this.templateUsers = pagesOfParents<undefined, KeysetListing<TemplateUser>>((principal, names, page) =>
      lineage.templateUsers(principal, names, page),
    );
    this.templateUserCounts = new Batch((principal, names) => lineage.templateUserCounts(principal, names));
  }

  async load(context: OperationContext, id: string): Promise<PipelineType | undefined> {
    const summary = await context.load(this.#summaries, id);
    return summary && this.pipeline(summary);
  }

  async version(
    context: OperationContext,
    pipelineId: string,
    version: number | null,
  ): Promise<PipelineVersionType | undefined> {
    const found = version === null ? undefined : await context.load(this.#versions, { pipelineId, version });
    return found && this.versionOf(pipelineId, found);
  }

  pipeline(summary: PipelineSummary): PipelineType {
    const { id, version, status, current_version } = summary;
    const draft = status === 'DRAFT' ? version : null;
    return {
      id,
      name: summary.name,
      folder: summary.folder,
      displayName: summary.display_name,
      description: summary.description,
      owner: this.actors.of(summary.owner),
      status: summary.entity_status,
      currentVersion: current_version,
      createdAt: summary.created_at,
      updatedAt: summary.updated_at,
      working: (_args, context) => this.version(context, id, version),
      draft: (_args, context) => this.version(context, id, draft),
      current: (_args, context) => this.version(context, id, current_version),
    };
  }

  versionOf(pipelineId: string, summary: VersionSummary): PipelineVersionType {
    const ref = { pipelineId, version: summary.version };
    const document = async (context: OperationContext): Promise<JsonObject> => {
      const view = await context.load(this.#bodies, ref);
      return view ? definitionOf(view) : {};
    };
    return {
      ...versionFields(pipelineVersionKey(ref), summary, this.actors),
      pipeline: (_args, context) => this.load(context, pipelineId),
      definitionJson: async (_args, context) => writeJson(await document(context)),
      parameters: async (_args, context) => parametersOf(await document(context)),
      nodes: async (_args, context) => nodesOf(await document(context)),
      checks: async (_args, context) => this.checks.checksOf(ref, await document(context)),
      upgradeAvailable: async (_args, context) => (await context.load(this.#upgrades, ref)) ?? [],
      pinnedTemplates: async (_args, context) => this.#pinned(context, await document(context)),
    };
  }

  async #pinned(context: OperationContext, document: JsonObject): Promise<TemplateVersionType[]> {
    const refs = new Map(
      nodesOf(document).flatMap(({ template }) =>
        template ? [[`${template.name}@${template.version}`, template]] : [],
      ),
    );
    const found = await Promise.all(
      [...refs.values()].map(({ name, version }) => this.templates.version(context, name, version)),
    );
    return found.filter((version) => version !== undefined);
  }
}
