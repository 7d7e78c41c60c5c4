import { Injectable } from '@nestjs/common';

import { DriverFailure, SourceFactory, type DatasourceRecord } from '#libs/datasources';
import { PenstockError } from '#libs/kernel';

import { LakeSource } from './engine/lake-source.js';
import { dottedName, type LakeTableFields } from './registry/lake-table.js';

/** A table that was looked at and cannot be read. */
export interface UnreadableTable {
  index: number;
  table: string;
  reason: string;
}

/** Reads a row of tables before they are registered, with the datasource's own credentials and limits (06 §10). */
@Injectable()
export class Preflight {
  constructor(private readonly sources: SourceFactory) {}

  /**
   * @returns the tables that cannot be read
   * @throws 502 `pipeline.execution.datasource_unreachable` when no engine could be made at all
   */
  async unreadable(
    record: DatasourceRecord,
    tables: readonly LakeTableFields[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<UnreadableTable[]> {
    const { source, scrubber } = await this.sources.sourceOf(record);
    try {
      if (!(source instanceof LakeSource)) throw new TypeError('a lake datasource has a lake source');
      const problems = await source.preflight(tables, signal);
      return problems.flatMap((problem, index) => {
        const table = tables[index];
        return problem === null || !table ? [] : [{ index, table: dottedName(table), reason: scrubber.text(problem) }];
      });
    } catch (error) {
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
