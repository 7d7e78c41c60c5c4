import type { JsonObject, Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import type { PipelineDocument } from './document/pipeline-document.js';

/**
 * What a purge asks of executions, inside its own transaction (contract 05 §10): RUNNING ones are marked ABORTED and
 * told to stop, children of other pipelines are detached, events and rows deleted. A port: executions stand above.
 */
export abstract class ExecutionPurge {
  /** Of one version, or of the whole pipeline. The number of executions deleted. */
  abstract purge(tx: Transaction, pipelineId: string, version?: number): Promise<number>;
}

/** Which published endpoints name a pipeline; while any does, it cannot be purged. A port: endpoints stand above. */
export abstract class PublishedEndpointReferences {
  /** Their paths. */
  abstract namesFor(tx: Transaction, pipelineId: string): Promise<string[]>;
}

/** A check that did not pass, as a refused release names it. */
export interface FailedCheck {
  id: string;
  name: string;
  expected: JsonObject;
  /** The value or the number of rows, as text; null when no verdict could be formed. */
  observed: string | null;
  verdict: 'fail' | 'error';
  message: string | null;
}

/** What is about to become RELEASED. */
export interface GateSubject {
  workspaceId: string;
  document: PipelineDocument;
  /** The stored version whose history keeps the runs; absent for a document that is not stored yet: nothing is kept. */
  stored?: { pipelineId: string; version: number };
}

/** Runs the checks of what is about to become RELEASED (contract 01 §9). A port: checks stand above. */
export abstract class ReleaseGate {
  /** Fresh runs, outside any metadata transaction. Empty when all passed or there are none. */
  abstract judge(principal: Principal, subject: GateSubject): Promise<FailedCheck[]>;
}
