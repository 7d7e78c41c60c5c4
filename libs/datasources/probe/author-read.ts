import { createHash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import { AuditObserver } from '#libs/audit';
import { isPenstockError, PenstockError, type Principal } from '#libs/kernel';
import type { TypedValue } from '#libs/typesystem';

import type { DatasourceRecord } from '../datasource.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import { unreachable } from '../introspection/catalog-reader.js';
import { BoundedProbe, type ProbeRead } from './bounded-probe.js';
import { ProbeSlots } from './probe-slots.js';

/** Most bytes of rows in one answer. */
const MAX_BYTES = 4 * 1024 * 1024;

/** What asked for the read, as the audit row names it. */
export type AuthorTool = 'sql_probe' | 'preview_rows' | 'evidence' | 'execute_node';

export interface AuthorStatement {
  sql: string;
  binds: ReadonlyMap<string, TypedValue>;
  maxRows: number;
  timeoutMs: number;
  explain: boolean;
}

/** All that an audit row holds of a statement (06 §9). */
export function sqlFacts(sql: string): { sql_sha256: string; sql_length: number } {
  return { sql_sha256: createHash('sha256').update(sql).digest('hex'), sql_length: sql.length };
}

/**
 * One read by a person on a datasource's data: at most two at a time each, judged and bounded by {@link BoundedProbe},
 * with an audit row of its outcome that holds neither SQL nor values.
 */
@Injectable()
export class AuthorRead {
  constructor(
    private readonly probe: BoundedProbe,
    private readonly slots: ProbeSlots,
    private readonly observer: AuditObserver,
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
    const started = performance.now();
    const elapsed = (): number => Math.round(performance.now() - started);
    const facts = { datasource: source.name, tool, ...sqlFacts(statement.sql) };
    try {
      const read = await this.slots.within(principal.userId, () =>
        this.probe.read(source, statement, bounds, { explain }),
      );
      await this.observer.observe(principal, 'datasource.probed', {
        ...facts,
        outcome: 'ok',
        elapsed_ms: elapsed(),
      });
      return { ...read, wallMs: elapsed() };
    } catch (error) {
      const answer = answerOf(error, source.name);
      const code = isPenstockError(answer) ? answer.code : 'internal';
      await this.observer.observe(principal, 'datasource.probed', {
        ...facts,
        outcome: 'failed',
        code,
        elapsed_ms: elapsed(),
      });
      throw answer;
    }
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
