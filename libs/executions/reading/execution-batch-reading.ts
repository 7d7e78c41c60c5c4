import { Injectable } from '@nestjs/common';
import { Configuration, Logger, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { ResultReader } from '../results/result-reader.js';
import { executionView, type ExecutionView } from './execution-view.js';
import { ExecutionRepository, type ExecutionFilter, type ExecutionParent } from './execution.repository.js';
import type { ListedExecution } from './execution.service.js';
import { listableWorkspace } from './visible-executions.js';

/** Lookups for many parents at once: one statement each, absent and foreign ones left out (03 §12). */
@Injectable()
export class ExecutionBatchReading {
  readonly #detail: 'full' | 'structured';

  constructor(
    private readonly executions: ExecutionRepository,
    private readonly results: ResultReader,
    private readonly log: Logger,
    configuration: Configuration,
  ) {
    this.#detail = configuration.get('datapipelines.executions.error-detail');
  }

  /** By id; without the link to the result, which only a single read looks for. */
  async executionsOf(principal: Principal, ids: readonly string[]): Promise<Map<string, ExecutionView>> {
    const id = listableWorkspace(principal);
    const rows = await this.executions.among(id, ids);
    return new Map(rows.map((row) => [row.execution_id, executionView(row, this.#detail)]));
  }

  /** Until when the results of these runs live, for those that have one; a store that is down hides it. */
  async expiries(principal: Principal, ids: readonly string[]): Promise<Map<string, string>> {
    const id = listableWorkspace(principal);
    const withResult = (await this.executions.among(id, ids)).filter(
      ({ status, result_row_count }) => status === 'SUCCESS' && result_row_count !== null,
    );
    const found = await Promise.all(withResult.map((row) => this.#expiryOf(row.execution_id)));
    return new Map(found.flatMap((expiry) => (expiry ? [expiry] : [])));
  }

  async #expiryOf(executionId: string): Promise<[string, string] | undefined> {
    try {
      const info = await this.results.info(executionId);
      return info && [executionId, info.expiresAt];
    } catch (error) {
      this.log.debug('A result could not be looked for.', { execution_id: executionId, error });
      return undefined;
    }
  }

  /** A page of each parent's runs, newest first. 400 `graphql.cursor_invalid` for a cursor of another list. */
  async pages(
    principal: Principal,
    by: ExecutionParent,
    parents: readonly string[],
    filter: ExecutionFilter,
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<ListedExecution>>> {
    const id = listableWorkspace(principal);
    const found = await this.executions.pages(id, by, parents, filter, page);
    return new Map(
      [...found].map(([parent, { items, ...more }]) => [
        parent,
        { items: items.map(({ row, cursor }) => ({ execution: executionView(row, this.#detail), cursor })), ...more },
      ]),
    );
  }

  async counts(
    principal: Principal,
    by: ExecutionParent,
    parents: readonly string[],
    filter: ExecutionFilter,
  ): Promise<Map<string, number>> {
    return this.executions.counts(listableWorkspace(principal), by, parents, filter);
  }
}
