import { Injectable } from '@nestjs/common';
import {
  ExecutionBatchReading,
  type ExecutionFilter,
  type ExecutionParent,
  type ExecutionView,
  type EventFrame,
  type ListedExecution,
  type ResultPage,
} from '#libs/executions';
import { RawJson, type KeysetListing } from '#libs/kernel';
import { Batch } from '../engine/batch.js';
import type { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { PipelineNodes } from '../pipelines/pipeline-nodes.js';
import { EMPTY_PAGE, pagesOfParents } from '../schema/page-of-parent.js';
import { errorOf, nodeStatsOf } from './execution-records.js';
import type { ExecutionEventType, ExecutionType, ResultPageType } from './execution.types.js';

/** Makes executions, their events and results of what the services give. */
@Injectable()
export class ExecutionNodes {
  readonly #byId: Batch<string, ExecutionView>;
  readonly #expiries: Batch<string, string>;
  readonly #pages;
  readonly #counts;

  constructor(
    private readonly actors: Actors,
    private readonly pipelines: PipelineNodes,
    reading: ExecutionBatchReading,
  ) {
    this.#byId = new Batch((principal, ids) => reading.executionsOf(principal, ids));
    this.#expiries = new Batch((principal, ids) => reading.expiries(principal, ids));
    const pagesBy = (by: ExecutionParent) =>
      pagesOfParents<ExecutionFilter, KeysetListing<ListedExecution>>((principal, parents, page, filter) =>
        reading.pages(principal, by, parents, filter, page),
      );
    const countsBy = (by: ExecutionParent) =>
      pagesOfParents<ExecutionFilter, number>((principal, parents, _page, filter) =>
        reading.counts(principal, by, parents, filter),
      );
    this.#pages = { pipeline: pagesBy('pipeline'), parent: pagesBy('parent') };
    this.#counts = { pipeline: countsBy('pipeline'), parent: countsBy('parent') };
  }

  async load(context: OperationContext, id: string): Promise<ExecutionType | undefined> {
    const view = await context.load(this.#byId, id);
    return view && this.execution(view);
  }

  execution(view: ExecutionView): ExecutionType {
    const { execution_id: id, pipeline_id: pipelineId, parent_execution_id: parentId } = view;
    return {
      id,
      pipeline: (_args, context) => this.pipelines.load(context, pipelineId),
      pipelineVersion: view.pipeline_version,
      version: (_args, context) => this.pipelines.version(context, pipelineId, view.pipeline_version),
      status: view.status,
      isDraftRun: view.draft_run,
      parametersJson: view.parameters.text,
      triggeredBy: this.actors.of(view.triggered_by),
      triggeredVia: view.triggered_via,
      correlationId: view.correlation_id,
      startedAt: view.started_at,
      completedAt: view.completed_at,
      durationMs: view.duration_ms,
      failedNodeId: view.failed_node_id,
      error: errorOf(view.error),
      nodeStats: nodeStatsOf(view.node_stats),
      resultRowCount: view.result_row_count,
      resultSizeBytes: view.result_size_bytes,
      resultExpiresAt: async (_args, context) => (await context.load(this.#expiries, id)) ?? null,
      parent: (_args, context) => (parentId === null ? undefined : this.load(context, parentId)),
      parentNodeId: view.parent_node_id,
      root: (_args, context) => this.load(context, view.root_execution_id),
    };
  }

  event(executionId: string, frame: Pick<EventFrame, 'eventId' | 'type' | 'timestamp' | 'data'>): ExecutionEventType {
    const { eventId, type, timestamp, data } = frame;
    return { id: `${executionId}:${eventId}`, eventId, type, timestamp, payload: new RawJson(data) };
  }

  result(page: ResultPage): ResultPageType {
    return {
      schema: page.schema,
      rows: page.rows,
      rowCount: page.row_count,
      offset: page.offset,
      limit: page.limit,
      totalRows: page.total_rows,
      hasMore: page.has_more,
      expiresAt: page.expires_at,
    };
  }

  /** The newest run of a pipeline. */
  async latest(context: OperationContext, pipelineId: string): Promise<ExecutionType | undefined> {
    const listing = await context.load(this.#pages.pipeline, { parent: pipelineId, page: { first: 1 }, filter: {} });
    const [newest] = listing?.items ?? [];
    return newest && this.execution(newest.execution);
  }

  /** A page of the runs of one of many parents, newest first. */
  async pageOf(
    context: OperationContext,
    by: ExecutionParent,
    parent: string,
    filter: ExecutionFilter,
    asked: PageArgs,
  ): Promise<Connection<ExecutionType>> {
    const cursors = new Cursors(`executions/${by}`, { parent, filter });
    const page = cursors.page(asked);
    return this.connection((await context.load(this.#pages[by], { parent, page, filter })) ?? EMPTY_PAGE, cursors, {
      count: async () => (await context.load(this.#counts[by], { parent, page: {}, filter })) ?? 0,
    });
  }

  connection(
    listing: KeysetListing<ListedExecution>,
    cursors: Cursors,
    { count }: { count: () => Promise<number> },
  ): Connection<ExecutionType> {
    return toConnection(listing, {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: ({ execution }) => this.execution(execution),
      count,
    });
  }
}
