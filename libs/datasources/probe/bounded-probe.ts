import { Injectable } from '@nestjs/common';
import { isPenstockError, PenstockError } from '#libs/kernel';
import { bindStatement, type TypedValue } from '#libs/typesystem';
import type { DatasourceRecord } from '../datasource.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import type { BoundStatement } from '../drivers/driver.js';
import { DriverRegistry } from '../drivers/registry.js';
import { DatasourcePools } from '../pool/datasource-pools.js';
import { readBounded, readTimedOut, type BoundedRows, type ReadBounds } from './bounded-read.js';
import { classifyProbe } from './classify-probe.js';
import { queryPlan, type QueryPlan } from './query-plan.js';
import { refusalSentence } from './refusal-sentence.js';

export interface ProbeRead extends BoundedRows {
  /** Null when it was not asked for, or the engine gave none. */
  plan: QueryPlan | null;
}

/** Runs one reading statement of an author on a datasource, read-only and within bounds (contract 06 §9). */
@Injectable()
export class BoundedProbe {
  constructor(
    private readonly pools: DatasourcePools,
    private readonly drivers: DriverRegistry,
  ) {}

  /**
   * Classify, bind, lease for reading, read, give back. The caller has seen to it that the workspace sees `source`.
   * The budget covers the wait for a connection too. With `explain` the engine is asked for its plan first; one that
   * gives none does not stop the query.
   * @throws PenstockError `pipeline.node.query_execution_failed` for a refused statement or the database's own refusal
   * (`cause` is the DriverFailure), `pipeline.node.query_timeout` (with the plan), and what a lease may be refused with.
   */
  async read(
    source: Pick<DatasourceRecord, 'name' | 'dialect'>,
    statement: { sql: string; binds: ReadonlyMap<string, TypedValue> },
    bounds: ReadBounds,
    { explain = false }: { explain?: boolean } = {},
  ): Promise<ProbeRead> {
    const verdict = classifyProbe(source.dialect, statement.sql);
    if (!verdict.ok) throw refused(refusalSentence(verdict), verdict.reason);
    const bound = bindStatement(source.dialect, statement.sql, statement.binds);
    const started = performance.now();
    const budget = AbortSignal.timeout(bounds.timeoutMs);
    const signal = AbortSignal.any([bounds.signal, budget]);
    let plan: QueryPlan | null = null;
    try {
      if (explain) plan = await this.#plan(source.name, bound, signal);
      const lease = await this.pools.lease(source.name, 'read', signal);
      let outcome: 'ok' | 'destroy' = 'destroy';
      try {
        const left = Math.round(bounds.timeoutMs - (performance.now() - started));
        const rows = await readBounded(lease, bound, { ...bounds, timeoutMs: Math.max(1, left) });
        outcome = 'ok';
        return { ...rows, plan };
      } finally {
        await lease.release(outcome);
      }
    } catch (error) {
      if (bounds.signal.aborted) throw error;
      if (budget.aborted) throw readTimedOut(bounds.timeoutMs, started, error, explain ? { plan } : {});
      if (error instanceof DriverFailure) throw failed(error);
      throw error;
    }
  }

  /** On a lease of its own: some engines end a session that explained what it could not. */
  async #plan(name: string, { sql, values }: BoundStatement, signal: AbortSignal): Promise<QueryPlan | null> {
    const lease = await this.pools.lease(name, 'read', signal);
    let outcome: 'ok' | 'destroy' = 'destroy';
    try {
      const reading = this.drivers.get(lease.dialect).plan;
      const plan = reading
        ? queryPlan(reading, await lease.catalog({ sql: reading.statement(sql), values }, signal))
        : null;
      outcome = 'ok';
      return plan;
    } catch (error) {
      // What the engine will not explain it may still run; a text that is no plan is none.
      if (signal.aborted || !(error instanceof DriverFailure || isPenstockError(error))) throw error;
      return null;
    } finally {
      await lease.release(outcome);
    }
  }
}

function refused(message: string, reason: string): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', { message, details: { reason } });
}

function failed(failure: DriverFailure): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: failure.message,
    details: { reason: failure.kind },
    cause: failure,
  });
}
