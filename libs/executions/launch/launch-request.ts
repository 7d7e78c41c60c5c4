import type { JsonObject } from '#libs/kernel';
import type { BoundParameters, PipelineDocument, RunnableVersion } from '#libs/pipelines';
import type { ExecutionTrigger } from '../records/execution-inserts.js';
import type { RunTrail } from '../records/run-trail.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import type { UserLease } from '../instance/user-leases.js';

export interface LaunchRequest {
  pipelineId: string;
  /** Exactly this version; absent = the working one. */
  version?: number;
  /** The version itself, where the door has read and judged it already; it is not read again. */
  runnable?: RunnableVersion;
  /** `runnable` was read a while ago: it is launched only while it is the pipeline's released version (`VersionMoved`). */
  remembered?: boolean;
  /** What the audit trail says of the run, committed with its rows. */
  trail?: RunTrail;
  /** The JSON object of an execute request, or a binding of the door's own (endpoints bind texts). */
  parameters: JsonObject | ((document: PipelineDocument) => BoundParameters);
  triggeredVia: ExecutionTrigger;
  /** Not on the disconnect clock, and without a stream of its own. */
  detached: boolean;
  /** Chosen by a door that must name the run before it starts. */
  executionId?: string;
  idempotencyKey?: string;
  /** Clamped to the operator's bounds. */
  resultTtlSeconds?: number;
  resultPageRows?: number;
}

export interface Launched {
  readonly executionId: string;
  /** An earlier request with the same key started it: its events are replayed, nothing new runs. */
  readonly replayed: boolean;
  /** Rejects only for a run of another instance, whose end is in a database that does not answer. */
  readonly finished: Promise<TerminalOutcome>;
  /** Held for the stream an attached caller opens; the door gives it back when that closes. */
  readonly stream: UserLease | undefined;
}
