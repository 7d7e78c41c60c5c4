import { Injectable } from '@nestjs/common';
import { isPenstockError, PenstockError } from '#libs/kernel';
import { bindStatement, type TypedValue } from '#libs/typesystem';
import type { DatasourceRecord } from '../datasource.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import { DatasourcePools } from '../pool/datasource-pools.js';
import { readBounded, readTimedOut, type BoundedRows, type ReadBounds } from './bounded-read.js';
import { classifyProbe } from './classify-probe.js';

/** Runs one reading statement of an author on a datasource, read-only and within bounds (contract 06 §9). */
@Injectable()
export class BoundedProbe {
  constructor(private readonly pools: DatasourcePools) {}

  /**
   * Classify, bind, lease for reading, read, give back. The caller has seen to it that the workspace sees `source`.
   * The budget covers the wait for a connection too.
   * @throws PenstockError `pipeline.node.query_execution_failed` for a refused statement or the database's own refusal,
   * `pipeline.node.query_timeout`, and what a lease may be refused with.
   */
  async read(
    source: Pick<DatasourceRecord, 'name' | 'dialect'>,
    statement: { sql: string; binds: ReadonlyMap<string, TypedValue> },
    bounds: ReadBounds,
  ): Promise<BoundedRows> {
    const verdict = classifyProbe(source.dialect, statement.sql);
    if (!verdict.ok) throw refused(verdict.reason, verdict.word);
    const bound = bindStatement(source.dialect, statement.sql, statement.binds);
    const started = performance.now();
    const budget = AbortSignal.timeout(bounds.timeoutMs);
    try {
      const lease = await this.pools.lease(source.name, 'read', AbortSignal.any([bounds.signal, budget]));
      let outcome: 'ok' | 'destroy' = 'destroy';
      try {
        const left = Math.round(bounds.timeoutMs - (performance.now() - started));
        const rows = await readBounded(lease, bound, { ...bounds, timeoutMs: Math.max(1, left) });
        outcome = 'ok';
        return rows;
      } finally {
        await lease.release(outcome);
      }
    } catch (error) {
      if (isPenstockError(error) || bounds.signal.aborted) throw error;
      if (budget.aborted) throw readTimedOut(bounds.timeoutMs, started, error);
      if (error instanceof DriverFailure) throw failed(error);
      throw error;
    }
  }
}

function refused(reason: string, word: string | undefined): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: `Only one SELECT that reads is run here; this statement is refused: ${reason}${word === undefined ? '' : ` (${word})`}.`,
    details: { reason },
  });
}

function failed(failure: DriverFailure): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: failure.message,
    details: { reason: failure.kind },
    cause: failure,
  });
}
