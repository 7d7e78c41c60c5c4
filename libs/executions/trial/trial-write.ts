import { Injectable } from '@nestjs/common';
import { AuthorAct, DatasourceAccess, DriverFailure, type DatasourceRecord, type Lease } from '#libs/datasources';
import { Configuration, Logger, PenstockError, type Principal } from '#libs/kernel';
import { bindStatement } from '#libs/typesystem';
import { instanceSettings } from '../instance/instance-settings.js';
import { LeaseHolder } from '../run/lease-holder.js';
import type { NodeStatement } from '../run/node-statement.js';
import { withinGrace } from '../run/within-grace.js';

/** What bounds one statement that writes. */
export interface TrialBounds {
  seconds: number;
  gaveUp: AbortSignal;
}

/** A DML or DDL node by itself: it really runs (contract 06 §12), counted and audited as every act of a person on data. */
@Injectable()
export class TrialWrite {
  readonly #graceMs: number;
  readonly #logger: Logger;

  constructor(
    private readonly datasources: DatasourceAccess,
    private readonly acts: AuthorAct,
    configuration: Configuration,
    logger: Logger,
  ) {
    this.#graceMs = instanceSettings(configuration).run.cancelGraceMs;
    this.#logger = logger.child('executions.trial');
  }

  /**
   * The number of rows the statement changed.
   *
   * @throws 409 `pipeline.node.datasource_readonly`; 429 `rate_limit.exceeded`; 504 `pipeline.node.query_timeout`; 502
   *   `pipeline.node.datasource_connection_failed`, `pipeline.node.query_execution_failed`
   */
  async run(
    principal: Principal,
    source: DatasourceRecord,
    statement: NodeStatement,
    bounds: TrialBounds,
  ): Promise<number> {
    if (source.isReadonly) throw readonly(source.name);
    const longestSeconds = Math.ceil(bounds.seconds + this.#graceMs / 1000);
    const facts = { datasource: source.name, tool: 'execute_node' as const, sql: statement.sql, longestSeconds };
    const { done } = await this.acts.run(principal, facts, () => this.#write(source, statement, bounds));
    return done;
  }

  /** A driver that does not hear of the stop holds nobody up for longer than the grace; its connection goes. */
  async #write(source: DatasourceRecord, statement: NodeStatement, { seconds, gaveUp }: TrialBounds): Promise<number> {
    const budget = AbortSignal.timeout(seconds * 1000);
    const signal = AbortSignal.any([budget, gaveUp]);
    const leases = new LeaseHolder((error) => this.#logger.warn('A connection did not go back.', { error }));
    const connected: { lease?: Lease } = {};
    const work = this.#execute(source, statement, seconds, signal, leases, connected);
    try {
      const affected = await withinGrace(work, signal, this.#graceMs, () => void leases.cut());
      await leases.release('ok');
      return affected;
    } catch (error) {
      await leases.release('destroy');
      if (budget.aborted) {
        throw new PenstockError('pipeline.node.query_timeout', { details: { timeout_seconds: seconds }, cause: error });
      }
      if (!(error instanceof DriverFailure)) throw error;
      const code = connected.lease
        ? 'pipeline.node.query_execution_failed'
        : 'pipeline.node.datasource_connection_failed';
      throw new PenstockError(code, { message: error.message, details: { reason: error.kind }, cause: error });
    }
  }

  async #execute(
    { name, dialect }: DatasourceRecord,
    { sql, binds }: NodeStatement,
    seconds: number,
    signal: AbortSignal,
    leases: LeaseHolder,
    connected: { lease?: Lease },
  ): Promise<number> {
    const until = performance.now() + seconds * 1000 + this.#graceMs;
    connected.lease = await leases.hold(this.datasources.lease(name, { signal, access: 'write' }));
    const backstopMs = until - performance.now();
    return connected.lease.execute(bindStatement(dialect, sql, binds), { signal, backstopMs });
  }
}

function readonly(datasource: string): PenstockError {
  return new PenstockError('pipeline.node.datasource_readonly', {
    message: `The datasource "${datasource}" is read-only; nothing may be written to it.`,
    details: { datasource },
  });
}
