import { Injectable } from '@nestjs/common';

import { DriverFailure, ProbeSlots, SourceFactory, type DatasourceRecord } from '#libs/datasources';
import { PenstockError, type Principal } from '#libs/kernel';

import { LakeSource, type TableFinding } from './engine/lake-source.js';
import { dottedName, type LakeTableFields } from './registry/lake-table.js';

/** A table that was looked at and cannot be read. */
export interface UnreadableTable extends TableFinding {
  index: number;
  table: string;
}

/** Engines are made for it, which is work: all of one call end after this. */
const LONGEST_SECONDS = 300;

/**
 * Reads a row of tables before they are registered, with the datasource's own credentials and limits (06 §10). It counts
 * as a probe of whoever asks: an engine takes memory.
 */
@Injectable()
export class Preflight {
  constructor(
    private readonly sources: SourceFactory,
    private readonly slots: ProbeSlots,
  ) {}

  /**
   * @returns the tables that cannot be read
   * @throws 502 `pipeline.execution.datasource_unreachable` when no engine could be made at all; 504
   *   `pipeline.node.query_timeout` when all of them take too long, or nobody waits any more; 429 `rate_limit.exceeded`
   */
  unreadable(
    principal: Principal,
    record: DatasourceRecord,
    tables: readonly LakeTableFields[],
    gaveUp?: AbortSignal,
  ): Promise<UnreadableTable[]> {
    return this.slots.within(
      principal.userId,
      () => {
        const limit = AbortSignal.timeout(LONGEST_SECONDS * 1000);
        return this.#look(record, tables, gaveUp ? AbortSignal.any([gaveUp, limit]) : limit);
      },
      LONGEST_SECONDS,
    );
  }

  async #look(
    record: DatasourceRecord,
    tables: readonly LakeTableFields[],
    signal: AbortSignal,
  ): Promise<UnreadableTable[]> {
    const { source, scrubber } = await this.sources.sourceOf(record);
    try {
      if (!(source instanceof LakeSource)) throw new TypeError('a lake datasource has a lake source');
      const findings = await source.preflight(tables, signal);
      return findings.flatMap((finding, index) => {
        const table = tables[index];
        if (finding === null || !table) return [];
        return [{ ...finding, index, table: dottedName(table), reason: scrubber.text(finding.reason) }];
      });
    } catch (error) {
      if (signal.aborted)
        throw new PenstockError('pipeline.node.query_timeout', {
          message: `The tables could not all be read within ${LONGEST_SECONDS} s; register fewer at a time.`,
          details: { datasource: record.name, timeout_seconds: LONGEST_SECONDS },
          cause: error,
        });
      if (!(error instanceof DriverFailure)) throw error;
      const { message } = scrubber.failure(error) as DriverFailure;
      throw new PenstockError('pipeline.execution.datasource_unreachable', {
        details: { datasource: record.name, reason: error.driverCode ?? error.kind, message },
        cause: error,
      });
    } finally {
      await source.close();
    }
  }
}
