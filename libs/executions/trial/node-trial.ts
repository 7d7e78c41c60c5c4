import { Injectable } from '@nestjs/common';
import {
  AuthorRead,
  DatasourceAccess,
  statementSecondsOf,
  type DatasourceRecord,
  type PreviewView,
} from '#libs/datasources';
import { authorise } from '#libs/identity';
import { Clock, Configuration, newId, PenstockError, RawJson, type JsonObject, type Principal } from '#libs/kernel';
import {
  CalculatorScope,
  ContextBuilder,
  PipelineCatalog,
  pipelineNotFound,
  type PipelineDocument,
  type RunnableVersion,
  type SqlNode,
} from '#libs/pipelines';
import { TemplateCatalog, TemplateRenderer } from '#libs/templates';
import { Calculation } from '../run/calculate-node.js';
import { statementSeconds, wallClockSeconds } from '../run/node-limits.js';
import { refuseOtherClass, renderNode, type NodeStatement } from '../run/node-statement.js';
import { wireColumn } from '../run/run-events.js';
import { instanceSettings } from '../instance/instance-settings.js';
import { DependencyGraph } from '../scheduling/dependency-graph.js';
import { trialNode, trialValues, type TrialValues } from './trial-values.js';
import { TrialWrite } from './trial-write.js';

/** Most rows that a trial shows. */
const MAX_ROWS = 50;

export interface TrialRequest {
  pipelineId: string;
  nodeId: string;
  /** Absent: the working version. */
  version?: number | undefined;
  parameters?: JsonObject | undefined;
}

/** What one node did by itself. */
export interface TrialView extends Omit<PreviewView, 'row_count'> {
  version: number;
  status: string;
  /** Parameters that stood in for values nobody gave. */
  sampled_parameters: string[];
  /** Of a DML or DDL node. */
  rows_affected?: number;
}

/**
 * Runs one SQL node of a version on its datasource, outside any execution: nothing is staged, written back or kept. A
 * reading node runs read-only and bounded; a DML or DDL node really runs (contract 06 §12).
 */
@Injectable()
export class NodeTrial {
  readonly #limits: ReturnType<typeof instanceSettings>['nodes'];

  constructor(
    private readonly pipelines: PipelineCatalog,
    private readonly templates: TemplateCatalog,
    private readonly renderer: TemplateRenderer,
    private readonly contexts: ContextBuilder,
    private readonly datasources: DatasourceAccess,
    private readonly reads: AuthorRead,
    private readonly writes: TrialWrite,
    private readonly clock: Clock,
    configuration: Configuration,
  ) {
    this.#limits = instanceSettings(configuration).nodes;
  }

  /**
   * @throws 404 `pipeline.execution.not_found`, `pipeline.node.not_found`; 400
   *   `pipeline.node.standalone_execution_refused` for what needs an execution; else as the node of a run
   */
  async run(principal: Principal, request: TrialRequest, gaveUp: AbortSignal): Promise<TrialView> {
    const workspace = authorise(principal, 'pipeline.execute_node');
    const found = await this.pipelines.forRun(workspace.id, request.pipelineId, request.version);
    if (!found) throw pipelineNotFound(request.pipelineId, request.version);
    const node = trialNode(found.document, request.nodeId);
    const source = await this.datasources.live(workspace.id, node.source);
    if (!source) throw noDatasource(node.source);
    const trial = trialValues(found.document, node, request.parameters ?? {});
    const statement = await this.#rendered(found, node, source, trial, gaveUp);
    const common = { version: found.version, status: found.status, sampled_parameters: trial.sampled };
    const seconds = Math.min(
      statementSeconds(node, found.document, statementSecondsOf(source), this.#limits),
      wallClockSeconds(node, this.#limits),
    );
    if (node.type !== 'DQL') {
      const affected = await this.writes.run(principal, source, statement, { seconds, gaveUp });
      return { ...common, schema: [], rows: [], truncated: false, rows_affected: affected };
    }
    const asked = { ...statement, maxRows: MAX_ROWS, timeoutMs: seconds * 1000, explain: false };
    const read = await this.reads.run(principal, source, 'execute_node', asked, gaveUp);
    const rows = read.rows.map((row) => new RawJson(row));
    return { ...common, schema: read.columns.map(wireColumn), rows, truncated: read.truncated };
  }

  async #rendered(
    { workspaceId, document }: RunnableVersion,
    node: SqlNode,
    { dialect }: DatasourceRecord,
    trial: TrialValues,
    signal: AbortSignal,
  ): Promise<NodeStatement> {
    const templates = await this.templates.load(workspaceId, [node.template]);
    const now = this.clock.now().toISOString().replace('Z', '000Z');
    const context = this.#context(document, node, trial, now);
    const statement = await renderNode(this.renderer, node, templates, { dialect, context, now }, signal);
    refuseOtherClass(dialect, statement.sql, node);
    return statement;
  }

  /** As a run gives it to the node: with the calculators that come before it. */
  #context(document: PipelineDocument, node: SqlNode, { values, calculated }: TrialValues, startedAt: string) {
    const base = this.contexts.build(values, { executionId: newId(), startedAt });
    const scope = new CalculatorScope(document, base);
    const calculation = new Calculation(scope, calculated);
    const graph = DependencyGraph.of(document.nodes);
    const before = precedingNodes(document, node);
    const ready = graph.roots();
    for (let at = 0; at < ready.length; at++) {
      const each = document.nodes[ready[at]!]!;
      if (each.type === 'CALCULATOR' && before.has(each.id)) calculation.run(each);
      ready.push(...graph.finish(ready[at]!));
    }
    return scope.of(node.id);
  }
}

/** Ids of the nodes that a node waits for, directly or not. */
function precedingNodes({ nodes }: PipelineDocument, node: SqlNode): Set<string> {
  const dependsOn = new Map(nodes.map((each) => [each.id, each.dependsOn]));
  const found = new Set<string>();
  const open = [...node.dependsOn];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(dependsOn.get(id) ?? []));
  }
  return found;
}

function noDatasource(name: string): PenstockError {
  return new PenstockError('pipeline.node.datasource_not_found', {
    message: `The workspace has no datasource "${name}".`,
    details: { datasource: name },
  });
}
