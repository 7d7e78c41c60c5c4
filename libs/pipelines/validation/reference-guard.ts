import { Injectable } from '@nestjs/common';
import { validationError, type Failure } from '#libs/kernel';
import { DatasourceAccess } from '#libs/datasources';
import type { Transaction } from '#libs/persistence';
import { refKey, TemplateCatalog } from '#libs/templates';
import { pipelineKey, PinnedPipelines } from '../composition/pinned-pipelines.js';
import { datasourceUses } from '../document/datasource-uses.js';
import {
  isChildNode,
  isSqlNode,
  pipelinePins,
  templatePins,
  type PipelineDocument,
} from '../document/pipeline-document.js';

/**
 * Holds what a body refers to until the writing transaction ends, so that no delete, revoke, discard or purge slips
 * between validation and commit (contract 01 §1.3, §10.1). Pipelines before datasources before templates, each in one
 * order.
 */
@Injectable()
export class ReferenceGuard {
  constructor(
    private readonly datasources: DatasourceAccess,
    private readonly templates: TemplateCatalog,
    private readonly pipelines: PinnedPipelines,
  ) {}

  /** @throws PenstockError the code validation would have given, had it looked now. */
  async hold(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<void> {
    const failures = await this.#allButTemplates(tx, workspaceId, document);
    const held = await this.templates.hold(tx, workspaceId, templatePins(document));
    for (const [index, node] of document.nodes.entries()) {
      if (!isSqlNode(node)) continue;
      const { template } = node;
      const version = held.get(refKey(template));
      if (version && version.status !== 'DISCARDED' && !version.isLibrary) continue;
      failures.push({
        code: 'pipeline.validation.template_version_not_found',
        path: `nodes[${index}].template.version`,
        message: 'The pinned template version was discarded or purged in the meantime.',
        details: { template_id: template.id, template_version: template.version },
      });
    }
    if (failures.length > 0) throw validationError(failures);
  }

  /** For a release, which settles the templates itself. */
  async holdAllButTemplates(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<void> {
    const failures = await this.#allButTemplates(tx, workspaceId, document);
    if (failures.length > 0) throw validationError(failures);
  }

  async #allButTemplates(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<Failure[]> {
    return [
      ...(await this.#children(tx, workspaceId, document)),
      ...(await this.#datasources(tx, workspaceId, document)),
    ];
  }

  async #children(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<Failure[]> {
    const held = await this.pipelines.hold(tx, workspaceId, pipelinePins(document));
    return [...document.nodes.entries()].flatMap(([index, node]): Failure[] => {
      if (!isChildNode(node)) return [];
      const { pipeline } = node;
      const status = held.get(pipelineKey(pipeline));
      if (status === 'RELEASED') return [];
      return [
        {
          code:
            status === undefined
              ? 'pipeline.validation.pipeline_version_not_found'
              : 'pipeline.validation.pipeline_reference_not_released',
          path: `nodes[${index}].pipeline.version`,
          message: 'The pinned version of the child was discarded or purged in the meantime.',
          details: { pipeline: pipeline.name, pipeline_version: pipeline.version, ...(status ? { status } : {}) },
        },
      ];
    });
  }

  async #datasources(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<Failure[]> {
    const external = datasourceUses(document);
    if (external.length === 0) return [];
    const names = [...new Set(external.map(({ name }) => name))].sort();
    const visible = await this.datasources.visibleForShare(tx, workspaceId, names);
    return external
      .filter(({ name }) => !visible.has(name))
      .map(({ name, path }) => ({
        code: 'pipeline.validation.unknown_datasource',
        path,
        message: 'The datasource was deleted or taken from this workspace in the meantime.',
        details: { datasource: name },
      }));
  }
}
