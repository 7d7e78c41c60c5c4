import { Injectable } from '@nestjs/common';
import { authorise, holdsCapability } from '#libs/identity';
import { Configuration, PenstockError, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { TransientStore } from '#libs/transient';
import { ExecutionInstance } from '../instance/execution-instance.js';
import { ResultReader } from '../results/result-reader.js';
import { executionView, type ExecutionView } from './execution-view.js';
import { ExecutionRepository, type ExecutionFilter, type PlacedRow } from './execution.repository.js';
import { listableWorkspace, VisibleExecutions } from './visible-executions.js';

/** An execution and its place in the list, for `after` and `before`. */
export interface ListedExecution {
  execution: ExecutionView;
  cursor: string;
}

/** History and cancellation of executions (03 §5.1, §5.6). */
@Injectable()
export class ExecutionService {
  readonly #detail: 'full' | 'structured';
  readonly #baseUrl: string;
  readonly #flagTtlSeconds: number;

  constructor(
    private readonly executions: ExecutionRepository,
    private readonly visible: VisibleExecutions,
    private readonly results: ResultReader,
    private readonly store: TransientStore,
    private readonly instance: ExecutionInstance,
    configuration: Configuration,
  ) {
    this.#detail = configuration.get('datapipelines.executions.error-detail');
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
    this.#flagTtlSeconds = configuration.get('datapipelines.executor.execution-timeout-seconds');
  }

  /** Runs of the workspace, newest first. 400 `graphql.cursor_invalid` for a cursor that is not of this list. */
  async list(principal: Principal, filter: ExecutionFilter, page: KeysetPage): Promise<KeysetListing<ListedExecution>> {
    const found = await this.executions.keyset(listableWorkspace(principal), filter, page);
    return { ...found, items: this.#listed(found.items) };
  }

  async count(principal: Principal, filter: ExecutionFilter): Promise<number> {
    return this.executions.count(listableWorkspace(principal), filter);
  }

  /** With `result_url` and `result_expires_at` while the result lives. */
  async read(principal: Principal, executionId: string): Promise<ExecutionView> {
    const view = executionView(await this.visible.get(principal, 'execution.read', executionId), this.#detail);
    if (view.status !== 'SUCCESS' || view.result_row_count === null) return view;
    const expiresAt = await this.#expiryOf(view.execution_id);
    if (expiresAt === undefined) return view;
    const result_url = `${this.#baseUrl}/api/v1/executions/${view.execution_id}/result`;
    return { ...view, result_url, result_expires_at: expiresAt };
  }

  /**
   * Asks for the end of a run; `execution_aborted` tells that it came. Own runs, or any for a workspace admin. 409
   * `pipeline.execution.not_running`; 503 `pipeline.execution.cancel_unavailable` when the owner is elsewhere and cannot
   * be told.
   */
  async cancel(principal: Principal, executionId: string): Promise<void> {
    const row = await this.visible.get(principal, 'execution.cancel', executionId);
    const workspace = authorise(principal, 'execution.cancel');
    if (row.triggered_by !== principal.userId && !holdsCapability(workspace, 'ws_admin')) {
      throw new PenstockError('auth.role_required', {
        message: 'Only who started a run, or an administrator of the workspace, may cancel it.',
        details: { operation: 'execution.cancel', required: 'ws_admin' },
      });
    }
    if (row.status !== 'RUNNING')
      throw new PenstockError('pipeline.execution.not_running', { details: { status: row.status } });
    const local = this.instance.runs.get(row.execution_id);
    local?.cancel('cancelled');
    try {
      await this.store.requestCancel(row.execution_id, 'cancelled', this.#flagTtlSeconds);
    } catch (error) {
      if (!local) throw new PenstockError('pipeline.execution.cancel_unavailable', { cause: error });
    }
  }

  #listed(rows: readonly PlacedRow[]): ListedExecution[] {
    return rows.map(({ row, cursor }) => ({ execution: executionView(row, this.#detail), cursor }));
  }

  /** A store that is down hides the link, never the row. */
  async #expiryOf(executionId: string): Promise<string | undefined> {
    try {
      return (await this.results.info(executionId))?.expiresAt;
    } catch (error) {
      this.instance.logger.debug('A result could not be looked for.', { execution_id: executionId, error });
      return undefined;
    }
  }
}
