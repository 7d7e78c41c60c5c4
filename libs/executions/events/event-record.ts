/** The names of contract 02 §10.1 that are emitted. Clients must ignore others. */
export type EventType =
  | 'execution_started'
  | 'node_started'
  | 'node_progress'
  | 'node_completed'
  | 'node_failed'
  | 'pipeline_completed'
  | 'pipeline_failed'
  | 'execution_aborted'
  | 'data_ready';

/** One event of one execution, as every stream and both logs hold it. */
export interface EventRecord {
  /** 1, 2, 3 … per execution, without gaps, in the order of emission. */
  readonly eventId: number;
  readonly type: EventType;
  /** Time of emission, `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly timestamp: string;
  /** One line of JSON. Result rows are never in it: `data_ready` carries `rows_omitted`. */
  readonly data: string;
}

/**
 * Whether nothing follows this event. `pipeline_completed` is not among them: `data_ready` follows it if a caller node
 * ran, in the same append, so that a reader who finds nothing behind it has seen the end.
 */
export function isLastEvent({ type }: EventRecord): boolean {
  return type === 'pipeline_failed' || type === 'execution_aborted' || type === 'data_ready';
}

/** The part of `records` that follows `after` without a gap. */
export function continuing(records: readonly EventRecord[], after: number): EventRecord[] {
  let next = after + 1;
  const run: EventRecord[] = [];
  for (const record of records) {
    if (record.eventId < next) continue;
    if (record.eventId > next) break;
    run.push(record);
    next++;
  }
  return run;
}
