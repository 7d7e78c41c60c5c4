import { Injectable } from '@nestjs/common';
import { ExecutionResults, ExecutionService, McpLaunches, NodeTrial, type ExecutionView } from '#libs/executions';
import { Configuration, PenstockError, type Principal } from '#libs/kernel';
import type { ArgumentsOf } from '../arguments.js';
import { INLINE_CHARS } from '../inline-cap.js';
import { ListedEntries } from '../listed-entries.js';
import { pageLimit } from '../page-limit.js';
import { serve, type ToolFamily } from '../tool.js';
import { EXECUTION_TOOLS, TRIAL_TOOLS } from './execution-declarations.js';

/** Rows of one page unless asked otherwise; the contract's own figure, not the operator's (06 §12). */
const PAGE_ROWS = 1000;

/** Runs that were: their records, rows and end. And single nodes, tried outside of any run. */
@Injectable()
export class ExecutionTools implements ToolFamily {
  readonly tools = [
    serve(TRIAL_TOOLS.node, ({ principal, signal }, { pipeline_id, node_id, version, parameters }) =>
      this.trials.run(principal, { pipelineId: pipeline_id, nodeId: node_id, version, parameters }, signal),
    ),
    serve(EXECUTION_TOOLS.list, async ({ principal }, { pipeline_id, status, limit }) => {
      const filter = { pipelineId: pipeline_id, status };
      const [{ items }, total] = await Promise.all([
        this.executions.list(principal, filter, { first: this.#limit(limit) }),
        this.executions.count(principal, filter),
      ]);
      const entries = items.map(({ execution }) => metadata(execution));
      return new ListedEntries(entries, total, 'name a “pipeline_id” or a “status”, or raise “limit”');
    }),
    serve(EXECUTION_TOOLS.get, ({ principal }, { execution_id }) => this.executions.read(principal, execution_id)),
    serve(EXECUTION_TOOLS.result, ({ principal }, given) => this.#result(principal, given)),
    serve(EXECUTION_TOOLS.cancel, async ({ principal }, { execution_id }) => {
      await this.launches.cancel(principal, execution_id);
      return { execution_id, cancel_requested: true };
    }),
  ];
  readonly #limit: (asked: number | undefined) => number;
  readonly #baseUrl: string;

  constructor(
    private readonly executions: ExecutionService,
    private readonly results: ExecutionResults,
    private readonly launches: McpLaunches,
    private readonly trials: NodeTrial,
    configuration: Configuration,
  ) {
    this.#limit = pageLimit(configuration);
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  async #result(principal: Principal, given: ArgumentsOf<typeof EXECUTION_TOOLS.result.arguments>): Promise<unknown> {
    const { execution_id, offset, limit = PAGE_ROWS, format = 'json' } = given;
    if (format === 'arrow') {
      await this.executions.read(principal, execution_id);
      throw new PenstockError('result.format_unsupported', { details: { supported: ['json', 'csv'] } });
    }
    const page = await this.results.page(principal, execution_id, { offset, limit: format === 'json' ? limit : 1 });
    const chars = page.rows.reduce((sum, row) => sum + row.text.length, 0);
    if (format === 'json' && chars <= INLINE_CHARS) return page;
    const address = `${this.#baseUrl}/api/v1/executions/${page.execution_id}/result`;
    return {
      result_url: format === 'json' ? `${address}?offset=${page.offset}&limit=${page.limit}` : `${address}?format=csv`,
      expires_at: page.expires_at,
      format,
      total_rows: page.total_rows,
      reason: 'payload_exceeds_inline_cap',
    };
  }
}

function metadata(view: ExecutionView) {
  const { parameters: _parameters, error: _error, node_stats: _stats, ...told } = view;
  return told;
}
