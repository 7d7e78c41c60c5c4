import { Injectable } from '@nestjs/common';
import { validationError, type Failure } from '#libs/kernel';
import { DatasourceAccess } from '#libs/datasources';
import type { Transaction } from '#libs/persistence';
import { refKey, TemplateCatalog } from '#libs/templates';
import { isSqlNode, TEMPDB, templatePins, type PipelineDocument } from '../document/pipeline-document.js';

/**
 * Holds what a body refers to until the writing transaction ends, so that no delete, revoke, discard or purge slips
 * between validation and commit (contract 01 §1.3, §10.1). Datasources before templates, each in one order.
 */
@Injectable()
export class ReferenceGuard {
  constructor(
    private readonly datasources: DatasourceAccess,
    private readonly templates: TemplateCatalog,
  ) {}

  /** @throws PenstockError the code validation would have given, had it looked now. */
  async hold(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<void> {
    const failures = await this.#datasources(tx, workspaceId, document);
    const pins = templatePins(document);
    const held = await this.templates.hold(tx, workspaceId, pins);
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

  async holdDatasources(tx: Transaction, workspaceId: string, document: PipelineDocument): Promise<void> {
    const failures = await this.#datasources(tx, workspaceId, document);
    if (failures.length > 0) throw validationError(failures);
  }

  async #datasources(tx: Transaction, workspaceId: string, { nodes, checks }: PipelineDocument): Promise<Failure[]> {
    const ofNodes = nodes.flatMap((node, index) => {
      if (!isSqlNode(node)) return [];
      const { source, output } = node;
      return [
        { name: source, path: `nodes[${index}].source` },
        ...(output?.target === 'datasource'
          ? [{ name: output.datasource, path: `nodes[${index}].output.datasource` }]
          : []),
      ];
    });
    const ofChecks = checks.map(({ datasource }, index) => ({ name: datasource, path: `checks[${index}].datasource` }));
    const external = [...ofNodes, ...ofChecks].filter(({ name }) => name !== TEMPDB);
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
