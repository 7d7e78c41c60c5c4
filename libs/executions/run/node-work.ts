import type { CalculatorScope, ChildNode, PipelineDocument, WorkNode } from '#libs/pipelines';
import type { TemplateClosure } from '#libs/templates';
import type { Column } from '#libs/typesystem';
import type { MappingWarning } from '#libs/datasources';
import type { StartedChild } from '../family/child-launcher.js';
import type { ChildStream } from '../family/child-stream.js';
import type { ResultWriter, StoredResult } from '../results/result-writer.js';
import type { StagingEngine } from '../staging/staging-engine.js';
import type { LaunchSources } from './launch-sources.js';
import type { NodeProgress } from './node-progress.js';

/** What the nodes of one run share. */
export interface RunScope {
  readonly executionId: string;
  readonly workspaceId: string;
  /** What each node sees: parameters, platform and organisation keys, and the calculators before it (contract 01 §3.3). */
  readonly context: CalculatorScope;
  readonly document: PipelineDocument;
  /** `.now` of templates: start of the run, microseconds. */
  readonly now: string;
  /** Every pinned template, read once at launch; by `refKey`. */
  readonly templates: ReadonlyMap<string, TemplateClosure>;
  readonly sources: LaunchSources;
  /** Present when a node reads or writes tempdb. */
  readonly staging: StagingEngine | undefined;
  /** Whether every other node has succeeded: the run is over with this one. */
  isLast(nodeId: string): boolean;
  /** Where the caller node's rows go, unless the run is a child. */
  readonly result: ResultWriter;
  /** Of a child: its parent's node, which takes the caller node's rows. */
  readonly stream: ChildStream | undefined;
  /** Starts the child of a PIPELINE node and records it in the node's entry. */
  startChild(node: ChildNode, signal: AbortSignal): Promise<StartedChild>;
  /** Rejects when the run is, or may be, no longer this instance's; asked right before a foreign commit. */
  confirmOwnership(): Promise<void>;
}

/** What a node achieved. */
export interface NodeYield {
  rowsOut: number;
  bytesOut: number;
  /** Of the caller node. */
  delivered?: DeliveredResult;
}

export interface DeliveredResult {
  columns: readonly Column[];
  warnings: readonly MappingWarning[];
  stored: StoredResult;
}

/** Facts gathered on the way, for the failure record: the node may fail at any of them. */
export interface NodeTrace {
  dialect?: string;
  /** Rendered text with `:name` markers. */
  sql?: string;
  boundTexts?: readonly string[];
}

export interface NodeTask<N extends WorkNode = WorkNode> {
  readonly node: N;
  readonly scope: RunScope;
  readonly progress: NodeProgress;
  readonly trace: NodeTrace;
}
