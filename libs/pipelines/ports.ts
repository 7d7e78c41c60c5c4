import type { Transaction } from '#libs/persistence';

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
