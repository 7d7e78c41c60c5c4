import type { DatasourceAccess } from '#libs/datasources';
import type { Logger } from '#libs/kernel';
import type { ChildNode } from '#libs/pipelines';
import type { TypedValue } from '#libs/typesystem';
import type { StartedChild } from '../family/child-launcher.js';
import type { ExecutionMetrics } from '../execution-metrics.js';
import type { EventHub } from '../events/event-hub.js';
import type { TerminalWrites } from '../records/terminal-writes.js';
import type { ResultStore } from '../results/result-store.js';
import type { Cancellations } from '../instance/cancellations.js';
import type { NodeBoard } from '../scheduling/permit-board.js';
import type { StagingFactory } from '../staging/staging-factory.js';
import type { NodeTimeSettings } from './node-limits.js';
import type { NodeRunner } from './node-runner.js';
import type { Ownership } from './ownership.js';
import type { ProgressWriter } from './progress-writer.js';
import type { RunPlan } from './run-plan.js';

export interface RunSettings extends NodeTimeSettings {
  executionTimeoutSeconds: number;
  cancelGraceMs: number;
  /** Least time between two progress samples of a node that stays in its state. */
  progressSampleMs: number;
  errorDetail: 'full' | 'structured';
  /** Origin of absolute links; empty = relative. Never taken from a request. */
  baseUrl: string;
}

/** What every run of an instance uses. */
export interface RunServices {
  readonly settings: RunSettings;
  readonly board: NodeBoard;
  readonly runner: NodeRunner;
  /** Starts the child of a PIPELINE node on this instance. */
  readonly startChild: (
    parent: RunPlan,
    node: ChildNode,
    context: ReadonlyMap<string, TypedValue>,
    signal: AbortSignal,
  ) => Promise<StartedChild>;
  readonly datasources: DatasourceAccess;
  readonly staging: StagingFactory;
  readonly results: ResultStore;
  readonly hub: EventHub;
  readonly terminal: TerminalWrites;
  readonly progress: ProgressWriter;
  readonly ownership: Ownership;
  readonly cancellations: Cancellations;
  readonly metrics: ExecutionMetrics;
  readonly logger: Logger;
}
