import { z } from 'zod';
import type { EventPage, ExecutionView, ResultPage, WireColumn } from '#libs/executions';
import type { RawJson } from '#libs/kernel';
import { moment, named, uuid, whole } from './envelope.js';

const rawJson = z.custom<RawJson>();
export const executionStatus = z.enum(['RUNNING', 'SUCCESS', 'FAILED', 'ABORTED']);

export const executionView = named<ExecutionView>(
  'Execution',
  z.object({
    execution_id: uuid,
    pipeline_id: uuid,
    pipeline_version: whole,
    status: executionStatus,
    parameters: rawJson,
    triggered_by: uuid,
    triggered_via: z.enum(['UI', 'REST', 'MCP', 'PIPELINE', 'ENDPOINT']),
    correlation_id: uuid.nullable(),
    started_at: moment,
    completed_at: moment.nullable(),
    duration_ms: whole.nullable(),
    failed_node_id: z.string().nullable(),
    error: rawJson.nullable().describe('The error object of a run that failed.'),
    node_stats: rawJson.nullable().describe('By node, live while RUNNING.'),
    result_row_count: whole.nullable(),
    result_size_bytes: whole.nullable(),
    parent_execution_id: uuid.nullable(),
    parent_node_id: z.string().nullable(),
    root_execution_id: uuid,
    draft_run: z.boolean(),
    result_url: z.string().optional().describe('While the result lives.'),
    result_expires_at: moment.optional(),
  }),
);

export const wireColumn = named<WireColumn>(
  'Column',
  z.object({
    name: z.string(),
    type: z.string(),
    precision: whole.optional(),
    scale: whole.optional(),
    nullable: z.boolean().optional(),
  }),
);

const row = z.array(z.unknown()).meta({ description: 'Cells in column order; NULL is null.' });

export const resultPage = named<Omit<ResultPage, 'rows'>>(
  'ResultPage',
  z.object({
    execution_id: uuid,
    schema: z.array(wireColumn),
    rows: z.array(row),
    row_count: whole,
    offset: whole,
    limit: whole,
    total_rows: whole,
    has_more: z.boolean(),
    expires_at: moment.nullable(),
  }),
);

export const eventPage = named<Omit<EventPage, 'events'>>(
  'EventPage',
  z.object({
    execution_id: uuid,
    events: z.array(z.object({ event_id: whole, event: z.string(), timestamp: moment, data: z.unknown() })),
    next_after: whole,
    has_more: z.boolean(),
  }),
);

export const accepted = z
  .object({ execution_id: uuid, status_url: z.string(), events_url: z.string(), result_url: z.string() })
  .meta({ id: 'AcceptedRun' });

/** The bare body of a published endpoint (03 §7). */
export const endpointRows = z
  .object({
    execution_id: uuid,
    correlation_id: uuid,
    pipeline_id: uuid,
    schema: z.array(wireColumn),
    rows: z.array(row),
    row_count: whole,
    total_rows: whole,
    has_more: z.boolean(),
    result_url: z.string().optional(),
    expires_at: moment.nullable().optional(),
    ttl_seconds: whole.optional(),
    warnings: z.array(z.unknown()).optional(),
  })
  .meta({ id: 'EndpointRows' });

export const endpointAccepted = z
  .object({
    execution_id: uuid,
    result_url: z.string(),
    status_url: z.string(),
    expires_at: moment.nullable().describe('The rows are kept until then at least; null when none go to the caller.'),
  })
  .meta({ id: 'EndpointAccepted' });
