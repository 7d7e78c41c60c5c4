import { Injectable } from '@nestjs/common';
import { Configuration, isPenstockError, PenstockError, RawJson, writeJson, type Principal } from '#libs/kernel';
import { csvHeader, csvLine } from '#libs/typesystem';
import { ExecutionMetrics } from '../execution-metrics.js';
import { linesOf } from '../results/result-chunk.js';
import { ResultReader, type StoredResultInfo } from '../results/result-reader.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import { wireColumn, type WireColumn } from '../run/run-events.js';
import type { ExecutionRow } from './execution-view.js';
import { VisibleExecutions } from './visible-executions.js';

/** A page of the result cursor (03 §6). `rows`: JSON array texts, never parsed on the way. */
export interface ResultPage {
  execution_id: string;
  schema: WireColumn[];
  rows: RawJson[];
  row_count: number;
  offset: number;
  limit: number;
  total_rows: number;
  has_more: boolean;
  expires_at: string | null;
}

/** Clamped to what there is and to the operator's bounds. */
interface AskedPage {
  offset?: number;
  limit?: number;
}

/** Serves stored results (03 §6). */
@Injectable()
export class ExecutionResults {
  readonly #pageRows: number;
  readonly #pageMaxRows: number;

  constructor(
    private readonly visible: VisibleExecutions,
    private readonly reader: ResultReader,
    private readonly metrics: ExecutionMetrics,
    configuration: Configuration,
  ) {
    this.#pageRows = configuration.get('datapipelines.result.page-size-rows');
    this.#pageMaxRows = configuration.get('datapipelines.result.page-max-rows');
  }

  /**
   * Rows `offset …`; past the end is an empty page. Codes in the order of 03 §6: `result.execution_not_found`,
   * `result.execution_incomplete`, `result.execution_failed`, `result.expired`, `result.storage_unavailable`.
   */
  async page(principal: Principal, executionId: string, asked: AskedPage): Promise<ResultPage> {
    return this.#pageOf(await this.visible.get(principal, 'execution.result.read', executionId), asked);
  }

  /** As `page`, of many executions, whose rows are read in one statement; what cannot be read is its refusal. */
  async pages(
    principal: Principal,
    executionIds: readonly string[],
    asked: AskedPage,
  ): Promise<Map<string, ResultPage | PenstockError>> {
    const rows = await this.visible.among(principal, 'execution.result.read', executionIds);
    const pages = await Promise.all(
      rows.map((row) =>
        this.#pageOf(row, asked).catch((error: unknown) => {
          if (isPenstockError(error)) return error;
          throw error;
        }),
      ),
    );
    return new Map(rows.map(({ execution_id: id }, at) => [id, pages[at]!]));
  }

  async #pageOf(row: ExecutionRow, asked: AskedPage): Promise<ResultPage> {
    const offset = Math.max(asked.offset ?? 0, 0);
    const limit = Math.min(Math.max(asked.limit ?? this.#pageRows, 1), this.#pageMaxRows);
    const { id, info } = await this.#stored(row, 'json');
    if (!info) return emptyPage(id, offset, limit);
    const rows = await this.reader.rows(id, info, offset, limit);
    if (!rows) throw this.#expired('json');
    this.metrics.cursorRead('json', 'hit');
    return {
      execution_id: id,
      schema: info.columns.map(wireColumn),
      rows: rows.map((each) => new RawJson(each)),
      row_count: rows.length,
      offset,
      limit,
      total_rows: info.totalRows,
      has_more: offset + rows.length < info.totalRows,
      expires_at: info.expiresAt,
    };
  }

  /**
   * The whole result as CSV, in pieces. Resolves when the result is known to be there; an expiry midway rejects the
   * iteration, and the door then breaks the connection instead of ending a short file cleanly.
   */
  async csv(principal: Principal, executionId: string, signal?: AbortSignal): Promise<AsyncIterable<string>> {
    const row = await this.visible.get(principal, 'execution.result.read', executionId);
    const { id, info } = await this.#stored(row, 'csv');
    if (!info) return nothing();
    this.metrics.cursorRead('csv', 'hit');
    return this.#csvPieces(id, info, signal);
  }

  /**
   * The `data_ready` fields with the rows of the first page, as JSON text: the body of a published endpoint, for the door
   * that has just waited for this run. `result.expired` when the result is gone already.
   */
  async firstPageJson({ executionId, dataReady, rows: kept }: TerminalOutcome, pageRows?: number): Promise<string> {
    if (!dataReady) return noRows(executionId);
    const limit = Math.min(Math.max(pageRows ?? this.#pageRows, 1), this.#pageMaxRows);
    const rows = kept ? linesOf(kept).slice(0, limit) : await this.reader.firstRows(executionId, limit);
    if (!rows) throw this.#expired('json');
    return writeJson({
      execution_id: executionId,
      ...dataReady,
      rows: rows.map((row) => new RawJson(row)),
      row_count: rows.length,
      has_more: rows.length < dataReady.total_rows,
    });
  }

  async *#csvPieces(
    executionId: string,
    info: StoredResultInfo,
    signal?: AbortSignal,
  ): AsyncGenerator<string, void, void> {
    const { columns, totalRows } = info;
    yield csvHeader(columns);
    let written = 0;
    for await (const lines of this.reader.lines(executionId, info, 0, totalRows, signal)) {
      yield lines.map((line) => csvLine(columns, line)).join('');
      written += lines.length;
    }
    if (written < totalRows) throw this.#expired('csv');
  }

  /** By the row's own id, whichever way the caller wrote it. No `info`: the run had no caller node. */
  async #stored(row: ExecutionRow, format: 'json' | 'csv'): Promise<{ id: string; info?: StoredResultInfo }> {
    if (row.status === 'RUNNING') throw new PenstockError('result.execution_incomplete');
    if (row.status !== 'SUCCESS') {
      throw new PenstockError('result.execution_failed', { details: { status: row.status } });
    }
    const id = row.execution_id;
    if (row.result_row_count === null) return { id };
    const info = await this.reader.info(id);
    if (!info) throw this.#expired(format);
    return { id, info };
  }

  #expired(format: 'json' | 'csv'): PenstockError {
    this.metrics.cursorRead(format, 'expired');
    return new PenstockError('result.expired');
  }
}

function emptyPage(executionId: string, offset: number, limit: number): ResultPage {
  return {
    execution_id: executionId,
    schema: [],
    rows: [],
    row_count: 0,
    offset,
    limit,
    total_rows: 0,
    has_more: false,
    expires_at: null,
  };
}

/** The run had no caller node: nothing to fetch, so no `result_url` either. */
function noRows(executionId: string): string {
  const nothing = { schema: [], rows: [], row_count: 0, total_rows: 0, has_more: false, warnings: [] };
  return writeJson({ execution_id: executionId, ...nothing });
}

async function* nothing(): AsyncGenerator<string, void, void> {
  // No caller node: a file without header and rows.
}
