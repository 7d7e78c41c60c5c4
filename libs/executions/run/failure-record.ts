import { isPenstockError, PenstockError, type ErrorCode } from '#libs/kernel';
import { DriverFailure } from '#libs/datasources';
import { EngineFailure } from '../staging/engine-failure.js';
import { exceptionOf, type ExceptionRecord } from './exception-record.js';
import type { NodePhase } from './node-budget.js';
import { storable } from './storable.js';

/** What is told about the node a failure happened in. */
export interface FailedNode {
  id: string;
  type: string;
  /** Of a node that runs SQL. */
  datasource?: string;
  dialect?: string;
  template?: string;
  template_version?: number;
  /** Of a PIPELINE node. */
  pipeline?: string;
  pipeline_version?: number;
  /** Of a CALCULATOR node. */
  kind?: string;
}

/**
 * The one error object of a failed run (contract 02 §5.5), the same in `node_failed`, `pipeline_failed`, `error_json` and on
 * every door. The last three members are left out with `error-detail=structured`.
 */
export interface FailureRecord {
  code: ErrorCode;
  message: string;
  user_message: string;
  details: Record<string, unknown>;
  doc_url: string;
  correlation_id: string;
  node?: FailedNode;
  /** Rendered text with `:name` markers, cut; no bound value ever. */
  sql?: string;
  exception?: ExceptionRecord;
}

export interface FailureContext {
  correlationId: string;
  baseUrl: string;
  /** `datapipelines.executions.error-detail`. */
  detail: 'full' | 'structured';
  phase?: NodePhase;
  node?: FailedNode;
  sql?: string;
  /** Texts that were bound: they are struck out of whatever a driver said. */
  boundTexts?: readonly string[];
  /** Memory facts of the staging engine, for its own failure. */
  engine?: { limitMb: number; spillLimitMb: number };
}

const SQL_CHARS = 16_384;
const CUT = '\n/* … cut … */';

/** What an unclassified failure of a phase is called; a collaborator's own code wins. */
const PHASE_CODES: Readonly<Record<NodePhase, ErrorCode>> = {
  render: 'pipeline.node.template_render_failed',
  connect: 'pipeline.node.datasource_connection_failed',
  execute: 'pipeline.node.query_execution_failed',
  stage: 'pipeline.node.staging_failed',
  materialize: 'pipeline.node.query_execution_failed',
  writeback: 'pipeline.node.writeback_failed',
};

export function failureRecord(error: unknown, context: FailureContext): FailureRecord {
  const classified = classify(error, context);
  const strike = (text: string) => strikeOut(text, context.boundTexts ?? []);
  const body = classified.toBody(context.baseUrl);
  const full = context.detail === 'full';
  return storable({
    ...body,
    message: strike(body.message),
    correlation_id: context.correlationId,
    ...(context.node ? { node: context.node } : {}),
    ...(full && context.sql !== undefined ? { sql: cutSql(context.sql) } : {}),
    ...(full ? { exception: exceptionOf(error, strike) } : {}),
  });
}

function classify(error: unknown, { phase, engine }: FailureContext): PenstockError {
  if (isPenstockError(error)) return error;
  if (error instanceof EngineFailure) return classifyEngine(error, phase ?? 'execute', engine);
  if (error instanceof DriverFailure) return classifyDriver(error, phase ?? 'execute');
  if (phase) return new PenstockError(PHASE_CODES[phase], { message: messageOf(error), cause: error });
  return new PenstockError('pipeline.execution.aborted', { details: { reason: 'unexpected' }, cause: error });
}

function classifyEngine(error: EngineFailure, phase: NodePhase, engine: FailureContext['engine']): PenstockError {
  if (error.kind === 'out_of_memory') {
    return new PenstockError('pipeline.staging.memory_limit_exceeded', {
      details: {
        limit_mb: engine?.limitMb ?? null,
        spill_limit_mb: engine?.spillLimitMb ?? null,
        used_mb: error.usedMb ?? null,
      },
      cause: error,
    });
  }
  return new PenstockError(PHASE_CODES[phase], { message: error.message, cause: error });
}

function classifyDriver(error: DriverFailure, phase: NodePhase): PenstockError {
  const code = driverCode(error, phase);
  return new PenstockError(code, {
    message: error.message,
    details: {
      ...(error.driverCode === undefined ? {} : { driver_code: error.driverCode }),
      ...(error.reason === undefined ? {} : { reason: error.reason }),
      ...(error.commitUnknown ? { commit: 'unknown' } : {}),
    },
    cause: error,
  });
}

/** A failing read while rows are written elsewhere. */
export function failureCodeOfSource(error: DriverFailure): PenstockError {
  return classifyDriver(error, 'execute');
}

function driverCode(error: DriverFailure, phase: NodePhase): ErrorCode {
  if (phase === 'writeback') {
    return error.kind === 'missing_table' ? 'pipeline.node.writeback_target_missing' : PHASE_CODES.writeback;
  }
  // A stage or materialize phase reads from the source while it writes: what the driver says is about the query.
  if (phase === 'stage' || phase === 'materialize') return PHASE_CODES.execute;
  return PHASE_CODES[phase];
}

function cutSql(sql: string): string {
  return sql.length <= SQL_CHARS ? sql : `${sql.slice(0, SQL_CHARS - CUT.length)}${CUT}`;
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

/** Short values only where a driver quotes them: striking a bare `1` would hollow out the text. */
const BARE_FROM = 4;

function strikeOut(text: string, values: readonly string[]): string {
  let result = text;
  for (const value of values) {
    if (value === '') continue;
    if (value.length >= BARE_FROM) result = result.replaceAll(value, '…');
    else for (const quote of [`'`, `"`]) result = result.replaceAll(`${quote}${value}${quote}`, `${quote}…${quote}`);
  }
  return result;
}
