import { Injectable } from '@nestjs/common';

import { isPenstockError, PenstockError, type Principal } from '#libs/kernel';
import type { TypedValue } from '#libs/typesystem';

import type { DatasourceRecord } from '../datasource.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import { unreachable } from '../introspection/catalog-reader.js';
import { AuthorAct, type AuthorTool } from './author-act.js';
import { BoundedProbe, type ProbeRead } from './bounded-probe.js';

/** Most bytes of rows in one answer. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What a database may need to hear of the stop, and its connection to go. */
const STOPPING_SECONDS = 10;

export interface AuthorStatement {
  sql: string;
  binds: ReadonlyMap<string, TypedValue>;
  maxRows: number;
  timeoutMs: number;
  explain: boolean;
}

/** One read by a person on a datasource's data: an {@link AuthorAct}, judged and bounded by {@link BoundedProbe}. */
@Injectable()
export class AuthorRead {
  constructor(
    private readonly probe: BoundedProbe,
    private readonly acts: AuthorAct,
  ) {}

  /**
   * @throws 429 `rate_limit.exceeded`; 504 `pipeline.node.query_timeout`; 502 `pipeline.node.query_execution_failed` with
   *   the database's own words, 502 `pipeline.execution.datasource_unreachable` without
   */
  async run(
    principal: Principal,
    source: DatasourceRecord,
    tool: AuthorTool,
    statement: AuthorStatement,
    gaveUp?: AbortSignal,
  ): Promise<ProbeRead & { wallMs: number }> {
    const { maxRows, explain } = statement;
    const own = source.queryTimeoutSeconds;
    const timeoutMs = own === null ? statement.timeoutMs : Math.min(statement.timeoutMs, own * 1000);
    const bounds = { maxRows, maxBytes: MAX_BYTES, timeoutMs, signal: gaveUp ?? new AbortController().signal };
    const { done, wallMs } = await this.acts.run(
      principal,
      {
        ...{ datasource: source.name, tool, sql: statement.sql },
        longestSeconds: Math.ceil(timeoutMs / 1000) + STOPPING_SECONDS,
      },
      () => this.probe.read(source, statement, bounds, { explain }),
      (error) => answerOf(error, source.name),
    );
    return { ...done, wallMs };
  }
}

/** A lost database gives no driver text; a datasource that went meanwhile was never seen. */
function answerOf(error: unknown, datasource: string): unknown {
  const failure = error instanceof DriverFailure ? error : isPenstockError(error) ? error.cause : undefined;
  if (failure instanceof DriverFailure) {
    if (failure.kind === 'connection') return unreachable(datasource, failure.driverCode ?? 'connection');
    if (failure.kind === 'cancelled' && error instanceof DriverFailure)
      return new PenstockError('pipeline.node.query_timeout', {
        details: { datasource, reason: 'given_up' },
        cause: error,
      });
    return error;
  }
  if (!isPenstockError(error)) return error;
  if (error.code === 'pipeline.node.datasource_connection_failed') return unreachable(datasource, 'pool_exhausted');
  if (error.code === 'pipeline.node.datasource_not_found')
    return new PenstockError('datasource.not_found', { details: { datasource }, cause: error });
  return error;
}
