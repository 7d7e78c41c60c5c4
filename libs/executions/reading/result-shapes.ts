import { Injectable } from '@nestjs/common';
import { readJson } from '#libs/kernel';
import { Database } from '#libs/persistence';
import type { WireColumn } from '../run/run-events.js';

/** Newest runs looked through for one whose events are still there. */
const RUNS = 20;

/** What results of a pipeline look like, from what was seen. Authorises nothing: its callers did. */
@Injectable()
export class ResultShapes {
  constructor(private readonly database: Database) {}

  /** The columns of the newest run of this version that delivered rows and is still on record; else undefined. */
  async newest(pipelineId: string, version: number): Promise<WireColumn[] | undefined> {
    const [row] = await this.database.query<{ columns: string }>(
      `SELECT (v.payload_json -> 'schema')::text AS columns
         FROM (SELECT execution_id, started_at FROM pipeline_executions
                WHERE pipeline_id = $1 AND pipeline_version = $2 AND status = 'SUCCESS'
                ORDER BY started_at DESC LIMIT ${RUNS}) e
         JOIN execution_events v ON v.execution_id = e.execution_id AND v.event_type = 'data_ready'
        ORDER BY e.started_at DESC LIMIT 1`,
      [pipelineId, version],
    );
    if (!row) return undefined;
    const columns = readJson(row.columns) as unknown as (Omit<WireColumn, 'precision' | 'scale'> & Sizes)[];
    return columns.map(({ precision, scale, ...column }) => ({
      ...column,
      ...(precision === undefined ? {} : { precision: Number(precision) }),
      ...(scale === undefined ? {} : { scale: Number(scale) }),
    }));
  }
}

interface Sizes {
  precision?: unknown;
  scale?: unknown;
}
