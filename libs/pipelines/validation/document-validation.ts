import { Injectable } from '@nestjs/common';
import {
  Clock,
  Configuration,
  isJsonObject,
  validationError,
  type Failure,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import { DatasourceAccess } from '#libs/datasources';
import { refKey, TemplateCatalog, type PinnedTemplate, type TemplateRef } from '#libs/templates';
import { CompositionValidation } from '../composition/composition-validation.js';
import type { PinnedPipeline } from '../composition/pinned-pipelines.js';
import { ContextBuilder } from '../binding/context-builder.js';
import { Ancestry } from '../document/ancestry.js';
import type { DocumentWarning } from '../document/notes.js';
import { TEMPDB, type PipelineDocument, type ReadDocument } from '../document/pipeline-document.js';
import { completeDocument, readBody, type ReadBody } from '../document/read-document.js';
import type { DocumentLimits } from '../document/read-settings.js';
import { judgeCalculators } from './calculator-rules.js';
import { judgeChecks } from './check-rules.js';
import { ContextKeys, keyWriters } from './context-keys.js';
import { dryContexts } from './dry-context.js';
import { DryRender } from './dry-render.js';
import { DryScope } from './dry-scope.js';
import { judgeEnvironmentValues } from './environment-values.js';
import { judgeGraph } from './graph-rules.js';
import type { Registry } from './registry.js';
import { judgeRegistries } from './registry-rules.js';
import { judgeStagingOrder } from './staging-order.js';
import { judgeCallers, judgeNodeIds, judgeOutputTables } from './structure-rules.js';

/** A body that passed every rule, ready to be stored. */
export interface AcceptedDocument extends ReadDocument {
  warnings: readonly DocumentWarning[];
}

export interface ValidationOptions {
  /** The name the pipeline has: it is never renamed. */
  immutableName?: string;
  /** Template versions that come with the body and are stored together with it, by `refKey`. */
  offered?: ReadonlyMap<string, PinnedTemplate>;
  /** Children that come with the body and are stored together with it, by `pipelineKey`. */
  children?: ReadonlyMap<string, PinnedPipeline>;
}

/** What was found: no failures means that `document` and `stored` are there. */
export interface Judgement {
  failures: readonly Failure[];
  warnings: readonly DocumentWarning[];
  document: PipelineDocument | undefined;
  stored: JsonObject;
}

/** All dry renders of one save share this budget (contract 01 §10). */
const DRY_RENDER_MS = 10_000;

/** Stands for the execution that a save does not have; every platform key needs a value. */
const DRY_EXECUTION_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Validates a pipeline body by every rule at once (contract 01 §10). Opens no customer connection and holds no
 * metadata transaction while it renders. What it saw may change before the write: `ReferenceGuard` looks again.
 */
@Injectable()
export class DocumentValidation {
  readonly #limits: DocumentLimits;

  constructor(
    private readonly configuration: Configuration,
    private readonly clock: Clock,
    private readonly datasources: DatasourceAccess,
    private readonly templates: TemplateCatalog,
    private readonly contexts: ContextBuilder,
    private readonly dryRender: DryRender,
    private readonly composition: CompositionValidation,
  ) {
    this.#limits = {
      nodeTimeoutSeconds: configuration.get('datapipelines.executor.node-timeout-seconds'),
      nodeTimeoutMaxSeconds: configuration.get('datapipelines.executor.node-timeout-max-seconds'),
      nodeQueryTimeoutMaxSeconds: configuration.get('datapipelines.executor.node-query-timeout-max-seconds'),
      stagingMaxMemoryMb: configuration.get('datapipelines.staging.max-memory-mb'),
    };
  }

  /** @throws PenstockError with all failures; a body that is no document at all is refused as malformed. */
  async accept(workspaceId: string, body: JsonValue, options: ValidationOptions = {}): Promise<AcceptedDocument> {
    const { failures, warnings, document, stored } = await this.judge(workspaceId, body, options);
    if (failures.length > 0) throw validationError(failures);
    if (!document) throw new TypeError('a body without failures has a document');
    return { document, stored, warnings };
  }

  async judge(workspaceId: string, body: JsonValue, options: ValidationOptions = {}): Promise<Judgement> {
    const read = readBody(body, this.#limits);
    const { nodes, notes } = read;
    const registry = await this.#registry(workspaceId, read, options.offered);
    judgeNameKept(read, options.immutableName);
    judgeNodeIds(nodes, notes);
    judgeOutputTables(nodes, notes);
    if (isJsonObject(body)) judgeEnvironmentValues(body, new Set(registry.datasources.keys()), notes);
    judgeGraph(nodes, notes);
    judgeCallers(nodes, notes);
    judgeChecks(read.checks, read.parameters, registry.datasources, notes);
    const ancestry = once(() => Ancestry.of(nodes));
    const writers = keyWriters(read);
    const keys = new ContextKeys(read, writers, ancestry);
    judgeCalculators(read, keys);
    const renderable = judgeRegistries(nodes, read.settings, registry, notes);
    await this.composition.judge(workspaceId, read, keys, options.children);
    const tables = await this.#dryRender(read, renderable, writers, ancestry);
    judgeStagingOrder(nodes, tables, ancestry, notes);
    return {
      failures: notes.sorted(read.parameterNames),
      warnings: notes.warnings,
      document: notes.hasFailures ? undefined : completeDocument(read),
      stored: read.stored,
    };
  }

  async #registry(
    workspaceId: string,
    { nodes, checks }: ReadBody,
    offered: ValidationOptions['offered'],
  ): Promise<Registry> {
    const names = new Set<string>();
    const refs = new Map<string, TemplateRef>();
    for (const { datasource } of checks) if (datasource !== undefined) names.add(datasource);
    for (const { source, output, template } of nodes) {
      if (source !== undefined && source !== TEMPDB) names.add(source);
      if (output?.datasource !== undefined) names.add(output.datasource);
      const { id, version } = template ?? {};
      if (id !== undefined && version !== undefined) refs.set(refKey({ id, version }), { id, version });
    }
    const [datasources, templates] = await Promise.all([
      names.size === 0 ? new Map<string, never>() : this.datasources.visible(workspaceId, [...names]),
      this.templates.lookup(workspaceId, [...refs.values()], offered),
    ]);
    return { datasources, templates };
  }

  async #dryRender(
    read: ReadBody,
    renderable: ReturnType<typeof judgeRegistries>,
    writers: ReturnType<typeof keyWriters>,
    ancestry: () => Ancestry,
  ): ReturnType<DryRender['judge']> {
    if (renderable.length === 0) return new Map();
    const now = this.clock.now().toISOString().replace('Z', '000Z');
    const surroundings = this.contexts.surroundings({ executionId: DRY_EXECUTION_ID, startedAt: now });
    const undeclarable = read.parameterNames.filter((name) => !read.parameters.has(name));
    const variants = this.configuration.get('datapipelines.templates.dry-render-variants');
    const scope = new DryScope(
      (computed) => dryContexts(surroundings, read.parameters, undeclarable, variants, computed),
      writers,
      ancestry,
    );
    const budget = AbortSignal.timeout(DRY_RENDER_MS);
    return this.dryRender.judge(renderable, new Set(read.parameterNames), scope, now, budget, read.notes);
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function judgeNameKept({ name, notes }: ReadBody, kept: string | undefined): void {
  if (kept === undefined || name === undefined || name === kept) return;
  notes.fail(
    'pipeline.validation.name_invalid',
    'name',
    `A pipeline is never renamed: keep "${kept}", or create another pipeline.`,
    { reason: 'immutable', name: kept },
  );
}
